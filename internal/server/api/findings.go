package api

import (
	"bytes"
	"context"

	"google.golang.org/genproto/googleapis/api/httpbody"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report/sarif"
	"github.com/prwarden/prwarden/internal/review"
)

// SARIF is what SARIF logs say beside the findings.
type SARIF struct {
	Rules   sarif.Catalog // what is known of rules; nil for nothing
	Version string        // prwarden's own
}

// ListFindings implements ReviewService.
func (h *Reviews) ListFindings(
	ctx context.Context, req *prwardenv1.ListFindingsRequest,
) (*prwardenv1.ListFindingsResponse, error) {
	if err := checkReviewID(req.GetReviewId()); err != nil {
		return nil, err
	}
	findings, next, err := h.service.Findings(ctx, auth.FromContext(ctx).Organization, review.FindingsInput{
		ReviewID: req.GetReviewId(), Kind: finding.Kind(word(req.GetKind())), MinSeverity: fromSeverity(req.GetMinSeverity()),
		RuleID: req.GetRuleId(), File: req.GetFile(), State: finding.State(word(req.GetState())),
		PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	return &prwardenv1.ListFindingsResponse{Findings: toFindings(findings), NextPageToken: next}, nil
}

// GetSarif implements ReviewService.
func (h *Reviews) GetSarif(ctx context.Context, req *prwardenv1.GetSarifRequest) (*httpbody.HttpBody, error) {
	if err := checkReviewID(req.GetReviewId()); err != nil {
		return nil, err
	}
	org := auth.FromContext(ctx).Organization
	r, err := h.service.GetComplete(ctx, org, req.GetReviewId())
	if err != nil {
		return nil, err
	}
	in := sarif.Input{
		Review: r, Rules: h.logs.Rules, Version: h.logs.Version,
		OmitSuppressed: req.GetSuppressed() == prwardenv1.GetSarifRequest_omit,
	}
	var log bytes.Buffer
	if err := sarif.Write(&log, in); err != nil {
		return nil, err
	}
	return &httpbody.HttpBody{ContentType: sarif.MediaType, Data: log.Bytes()}, nil
}
