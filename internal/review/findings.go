package review

import (
	"context"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// Page sizes of Findings.
const (
	DefaultFindingsPage = 100
	MaxFindingsPage     = 1000
)

// FindingsInput selects a page of a review's findings. Zero fields select all
// that the review reports.
type FindingsInput struct {
	ReviewID    string
	Kind        finding.Kind // "" for KindReported, and for KindFixed with the state Fixed
	MinSeverity rule.Severity
	RuleID      string // `name` stands for `custom/name`
	File        string // as Shown shows it
	State       finding.State
	PageSize    int    // 1 to MaxFindingsPage; 0 for DefaultFindingsPage
	PageToken   string // of the page before
}

// Findings returns a page of a review's findings, in their order, and the token
// of the next page; "" on the last. The errors are those of
// ReviewService.ListFindings in the API.
func (s *Service) Findings(ctx context.Context, org string, in FindingsInput) ([]finding.Finding, string, error) {
	f := FindingFilter{
		Kind: in.Kind, MinSeverity: in.MinSeverity, File: in.File, State: in.State, Limit: in.PageSize,
	}
	if f.Kind == "" {
		f.Kind = finding.KindReported
		if f.State == finding.StateFixed { // only what was fixed has that state
			f.Kind = finding.KindFixed
		}
	}
	if in.RuleID != "" {
		f.RuleID = rule.FullID(in.RuleID)
	}
	if f.Limit == 0 {
		f.Limit = DefaultFindingsPage
	}
	if f.Limit < 1 || f.Limit > MaxFindingsPage {
		return nil, "", errs.Invalid("page_size", "must be from 1 to %d, not %d", MaxFindingsPage, f.Limit)
	}
	if in.PageToken != "" {
		var ok bool
		if f.After, ok = decodeFindingsToken(in.PageToken, in.ReviewID, f); !ok {
			return nil, "", errs.Invalid("page_token", "must be the next_page_token of a page of the same review with the same filters")
		}
	}
	page, err := s.store.ListFindings(ctx, org, in.ReviewID, f)
	if err != nil || page.Next == 0 {
		return page.Findings, "", err
	}
	return page.Findings, encodeFindingsToken(page.Next, in.ReviewID, f), nil
}

// A token is a place and a checksum of the review and the filters that it
// belongs to. Like that of a list of reviews it grants nothing.
func encodeFindingsToken(after int, reviewID string, f FindingFilter) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%08x", after, findingsSum(reviewID, f)))
}

func decodeFindingsToken(token, reviewID string, f FindingFilter) (after int, ok bool) {
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return 0, false
	}
	place, sum, _ := strings.Cut(string(plain), ".")
	after, err = strconv.Atoi(place)
	ok = err == nil && after > 0 && after <= 2*MaxFindings && sum == fmt.Sprintf("%08x", findingsSum(reviewID, f))
	return after, ok
}

func findingsSum(reviewID string, f FindingFilter) uint32 {
	return crc32.ChecksumIEEE([]byte(strings.Join([]string{
		reviewID, string(f.Kind), f.MinSeverity.String(), f.RuleID, f.File, string(f.State),
	}, "\x00")))
}
