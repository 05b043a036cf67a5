package api

import (
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/triage"
)

// TriageService is what the handlers need of decisions.
type TriageService interface {
	Set(ctx context.Context, org string, c triage.Change) (id string, changed int, err error)
	Undo(ctx context.Context, org, changeID string) (int, error)
	List(ctx context.Context, org string, in triage.ListInput) ([]triage.Decided, string, error)
}

// Triage answers TriageService.
type Triage struct {
	prwardenv1.UnimplementedTriageServiceServer
	service TriageService
}

// NewTriage makes the handlers.
func NewTriage(service TriageService) *Triage { return &Triage{service: service} }

// SetTriage implements TriageService.
func (h *Triage) SetTriage(
	ctx context.Context, req *prwardenv1.SetTriageRequest,
) (*prwardenv1.SetTriageResponse, error) {
	id, changed, err := h.service.Set(ctx, auth.FromContext(ctx).Organization, triage.Change{
		Repo: req.GetRepo(), PRNumber: req.GetPrNumber(), Fingerprints: req.GetFingerprints(),
		Decision: finding.Decision(word(req.GetDecision())), Reason: req.GetReason(), Until: req.GetUntil(),
	})
	if err != nil {
		return nil, err
	}

	return &prwardenv1.SetTriageResponse{ChangeId: given(id), Changed: clamp(changed)}, nil
}

// UndoTriage implements TriageService.
func (h *Triage) UndoTriage(
	ctx context.Context, req *prwardenv1.UndoTriageRequest,
) (*prwardenv1.UndoTriageResponse, error) {
	changed, err := h.service.Undo(ctx, auth.FromContext(ctx).Organization, req.GetChangeId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.UndoTriageResponse{Changed: clamp(changed)}, nil
}

// ListTriage implements TriageService.
func (h *Triage) ListTriage(
	ctx context.Context, req *prwardenv1.ListTriageRequest,
) (*prwardenv1.ListTriageResponse, error) {
	list, next, err := h.service.List(ctx, auth.FromContext(ctx).Organization, triage.ListInput{
		Repo: req.GetRepo(), Decision: finding.Decision(word(req.GetDecision())), RuleID: req.GetRuleId(),
		ExpiringBefore: req.GetExpiringBefore(), PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListTriageResponse{Findings: each(list, toDecided), NextPageToken: next}, nil
}

func toDecided(d triage.Decided) *prwardenv1.DecidedFinding {
	out := &prwardenv1.DecidedFinding{
		Repo: text(d.Repo), Fingerprint: text(d.Fingerprint), RuleId: text(d.RuleID), Triage: toTriage(&d.Triage),
		ChangeId: text(d.ChangeID),
	}
	if d.PRNumber > 0 {
		out.PrNumber = &d.PRNumber
	}

	return out
}

func toTriage(t *finding.Triage) *prwardenv1.Triage {
	if t == nil {
		return nil
	}

	return &prwardenv1.Triage{
		Decision: enum[prwardenv1.Decision_Kind](string(t.Decision), prwardenv1.Decision_Kind_value),
		Reason:   text(t.Reason), Until: given(t.Until), By: text(t.By), At: toTime(t.At),
		Scope: enum[prwardenv1.Triage_Scope](string(t.Scope), prwardenv1.Triage_Scope_value),
	}
}
