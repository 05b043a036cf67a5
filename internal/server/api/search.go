package api

import (
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// SearchFindings implements ReviewService.
func (h *Reviews) SearchFindings(
	ctx context.Context, req *prwardenv1.SearchFindingsRequest,
) (*prwardenv1.SearchFindingsResponse, error) {
	found, err := h.service.Search(ctx, auth.FromContext(ctx).Organization, review.SearchInput{
		Query: req.GetQuery(), Repo: req.GetRepo(), MinSeverity: fromSeverity(req.GetMinSeverity()),
		RuleID: req.GetRuleId(), File: req.GetFile(), State: finding.State(word(req.GetState())),
		Decision: finding.Decision(word(req.GetDecision())), Group: review.Group(word(req.GetGroupBy())),
		PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	out := &prwardenv1.SearchFindingsResponse{
		Findings: each(found.Findings, toFound), Groups: each(found.Groups, toGroup), NextPageToken: found.Next,
	}
	if found.Summary != nil {
		out.Summary = toSummary(found.Summary)
	}

	return out, nil
}

func toFound(f review.Found) *prwardenv1.FoundFinding {
	return &prwardenv1.FoundFinding{
		Repo: text(f.Repo), PrNumber: f.PRNumber, ReviewId: f.ReviewID, HeadTitle: given(f.HeadTitle),
		Finding: toFinding(f.Finding),
	}
}

func toGroup(g review.FoundGroup) *prwardenv1.FindingGroup {
	return &prwardenv1.FindingGroup{
		RuleId: given(g.RuleID), Repo: given(g.Repo), File: given(g.File), FileBytes: rawPath(g.File),
		Summary: toSummary(g.Summary), PullRequests: clamp(g.PullRequests),
	}
}

// ListRepositories implements ReviewService.
func (h *Reviews) ListRepositories(
	ctx context.Context, req *prwardenv1.ListRepositoriesRequest,
) (*prwardenv1.ListRepositoriesResponse, error) {
	list, next, err := h.service.Repositories(ctx, auth.FromContext(ctx).Organization, review.RepositoriesInput{
		Query: req.GetQuery(), PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListRepositoriesResponse{Repositories: each(list, toRepository), NextPageToken: next}, nil
}

func toRepository(r review.Repository) *prwardenv1.Repository {
	return &prwardenv1.Repository{
		Repo: text(r.Repo), Reviews: clamp(r.Reviews), Open: toSummary(r.Open), LastReview: toListed(r.Last),
	}
}
