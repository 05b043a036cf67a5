package review

import (
	"context"
	"strconv"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/rule"
)

// Page sizes of List and of Findings.
const (
	DefaultPageSize     = 50
	MaxPageSize         = 200
	DefaultFindingsPage = 100
	MaxFindingsPage     = 1000
)

// Filter selects reviews. Zero fields select all.
type Filter struct {
	Repo      string
	PRNumber  int32
	Status    Status
	CreatedBy string      // the actor, such as connection:con_…
	Limit     int         // at least 1
	After     page.Cursor // only reviews that come after this place in the list
}

// FindingFilter selects findings of a review. Zero fields select all of the
// kind.
type FindingFilter struct {
	Kind        finding.Kind
	MinSeverity rule.Severity
	RuleID      string // `category/name`
	File        string // as Shown shows it
	State       finding.State
	Decision    finding.Decision
	Limit       int // at least 1
	After       int // FindingPage.Next of the page before; 0 for the first
}

// FindingPage is some of a review's findings.
type FindingPage struct {
	Findings []finding.Finding
	Next     int // where the next page goes on; 0 for the last
}

// ListInput selects a page of reviews. Zero fields select all.
type ListInput struct {
	Repo      string
	PRNumber  int32
	Status    Status
	CreatedBy string // the actor, such as connection:con_…
	PageSize  int    // 1 to MaxPageSize; 0 for DefaultPageSize
	PageToken string // of the page before
}

// List returns a page of reviews, newest first, without findings, and the
// token of the next page; "" on the last.
func (s *Service) List(ctx context.Context, org string, in ListInput) ([]Review, string, error) {
	size, err := page.Size(in.PageSize, DefaultPageSize, MaxPageSize)
	if err != nil {
		return nil, "", err
	}
	f := Filter{Repo: in.Repo, PRNumber: in.PRNumber, Status: in.Status, CreatedBy: in.CreatedBy, Limit: size + 1}
	filters := []string{f.Repo, strconv.Itoa(int(f.PRNumber)), string(f.Status), f.CreatedBy}
	if f.After, err = page.After(in.PageToken, filters...); err != nil {
		return nil, "", err
	}

	reviews, err := s.store.ListReviews(ctx, org, f)
	if err != nil || len(reviews) <= size {
		return reviews, "", err
	}
	last := reviews[size-1]
	return reviews[:size], page.Cursor{At: last.CreatedAt, ID: last.ID}.Token(filters...), nil
}

// FindingsInput selects a page of a review's findings. Zero fields select all
// that the review reports.
type FindingsInput struct {
	ReviewID    string
	Kind        finding.Kind // "" for KindReported, and for KindFixed with the state Fixed
	MinSeverity rule.Severity
	RuleID      string // `name` stands for `custom/name`
	File        string // as Shown shows it
	State       finding.State
	Decision    finding.Decision
	PageSize    int    // 1 to MaxFindingsPage; 0 for DefaultFindingsPage
	PageToken   string // of the page before
}

// Findings returns a page of a review's findings, in their order, and the token
// of the next page; "" on the last. The errors are those of
// ReviewService.ListFindings in the API.
func (s *Service) Findings(ctx context.Context, org string, in FindingsInput) ([]finding.Finding, string, error) {
	f := FindingFilter{
		Kind: in.Kind, MinSeverity: in.MinSeverity, File: in.File, State: in.State,
		Decision: in.Decision,
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
	var err error
	if f.Limit, err = page.Size(in.PageSize, DefaultFindingsPage, MaxFindingsPage); err != nil {
		return nil, "", err
	}
	filters := []string{in.ReviewID, string(f.Kind), f.MinSeverity.String(), f.RuleID, f.File, string(f.State),
		string(f.Decision)}
	if in.PageToken != "" {
		place, ok := page.Place(in.PageToken, filters...)
		after, err := strconv.Atoi(place)
		if !ok || err != nil || after < 1 || after > 2*MaxFindings {
			return nil, "", errs.Invalid("page_token",
				"must be the next_page_token of a page of the same review with the same filters")
		}
		f.After = after
	}

	found, err := s.store.ListFindings(ctx, org, in.ReviewID, f)
	if err != nil || found.Next == 0 {
		return found.Findings, "", err
	}

	return found.Findings, page.Token(strconv.Itoa(found.Next), filters...), nil
}
