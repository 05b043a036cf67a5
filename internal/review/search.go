package review

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/rule"
)

// Search selects findings that the latest complete review of each pull request reports.
// Zero fields select all, but for Decision.
type Search struct {
	Words       []string // in lower case; all occur in rule, repository, file or message
	Repo        string
	MinSeverity rule.Severity
	RuleID      string // `category/name`
	File        string // its bytes
	State       finding.State
	Decision    finding.Decision // finding.Open for what counts in verdicts
	Limit       int              // at least 1
	After       FoundPlace       // only findings after it
	Skip        int              // groups
}

// AllOpen says whether all that is open is selected, of an organization or a repository.
func (f Search) AllOpen() bool {
	return f.Decision == finding.Open && len(f.Words) == 0 && f.MinSeverity == 0 && f.RuleID == "" && f.File == "" &&
		f.State == ""
}

// FoundPlace is a place in the list of Found. The zero value is before the first.
type FoundPlace struct {
	Repo     string
	PRNumber int32
	Position int // in its review
}

// Found is a finding and where it is.
type Found struct {
	FoundPlace
	ReviewID  string
	HeadTitle string
	Finding   finding.Finding
}

// Group is what findings are counted by.
type Group string

// The groups.
const (
	ByNothing Group = ""
	ByRule    Group = "rule"
	ByFile    Group = "file" // of a repository
	ByRepo    Group = "repo"
)

// FoundGroup counts findings. Keys that are not of the group are empty.
type FoundGroup struct {
	RuleID       string
	Repo         string
	File         string // its bytes
	Summary      finding.Summary
	PullRequests int
}

// SearchInput selects a page of findings or groups.
type SearchInput struct {
	Query       string
	Repo        string
	MinSeverity rule.Severity
	RuleID      string // `name` stands for `custom/name`
	File        string
	State       finding.State
	Decision    finding.Decision // "" for finding.Open
	Group       Group            // ByNothing for findings
	PageSize    int              // 1 to MaxFindingsPage; 0 for DefaultFindingsPage
	PageToken   string           // of the page before
}

// SearchPage is a page of findings, or of groups.
type SearchPage struct {
	Findings []Found
	Groups   []FoundGroup
	Summary  finding.Summary // of all, only on the first page
	Next     string          // token of the next page; "" on the last
}

// Search returns a page of findings of the latest complete review of each pull request.
// The errors are those of ReviewService.SearchFindings in the API.
func (s *Service) Search(ctx context.Context, org string, in SearchInput) (out SearchPage, err error) {
	f := Search{
		Repo: in.Repo, MinSeverity: in.MinSeverity, File: in.File, State: in.State,
		Decision: cmp.Or(in.Decision, finding.Open),
	}
	if in.RuleID != "" {
		f.RuleID = rule.FullID(in.RuleID)
	}
	if f.Words, err = Words(in.Query); err != nil {
		return out, err
	}
	size, err := page.Size(in.PageSize, DefaultFindingsPage, MaxFindingsPage)
	if err != nil {
		return out, err
	}
	f.Limit = size + 1

	filters := []string{
		in.Query, f.Repo, f.MinSeverity.String(), f.RuleID, f.File, string(f.State), string(f.Decision), string(in.Group),
	}
	if in.PageToken != "" {
		place, ok := page.Place(in.PageToken, filters...)
		if !ok || !f.continueAt(place, in.Group) {
			return out, errs.Invalid("page_token", "must be the next_page_token of a page with the same filters")
		}
	} else if out.Summary, err = s.sum(ctx, org, f); err != nil {
		return out, err
	}

	if in.Group == ByNothing {
		out.Findings, err = s.store.SearchFindings(ctx, org, f)
		if len(out.Findings) > size {
			last := out.Findings[size-1]
			out.Findings = out.Findings[:size]
			out.Next = page.Token(fmt.Sprintf("%s %d %d", last.Repo, last.PRNumber, last.Position), filters...)
		}

		return out, err
	}
	out.Groups, err = s.store.CountFindings(ctx, org, f, in.Group)
	if len(out.Groups) > size {
		out.Groups = out.Groups[:size]
		out.Next = page.Token(strconv.Itoa(f.Skip+size), filters...)
	}

	return out, err
}

// sum counts all findings of a search.
func (s *Service) sum(ctx context.Context, org string, f Search) (finding.Summary, error) {
	groups, err := s.store.CountFindings(ctx, org, f, ByNothing)
	if err != nil || len(groups) == 0 {
		return finding.NewSummary(), err
	}

	return groups[0].Summary, nil
}

// continueAt sets where a token says that the page begins.
func (f *Search) continueAt(place string, by Group) bool {
	if by != ByNothing {
		n, err := strconv.ParseInt(place, 10, 32)
		f.Skip = int(n)

		return err == nil && n > 0
	}
	n, err := fmt.Sscanf(place, "%s %d %d", &f.After.Repo, &f.After.PRNumber, &f.After.Position)

	return err == nil && n == 3
}
