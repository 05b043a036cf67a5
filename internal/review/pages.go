package review

import (
	"context"
	"strconv"
	"strings"
	"time"

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

// Lists and counts of an organization take as long with many reviews as with few.
const (
	MaxLookedAt = 2_000 // how many reviews are looked at where no index selects them
	MaxCount    = 1_000 // what is counted up to; it stands for more, too
)

// MaxWords is how many words a search may have.
const MaxWords = 5

// Filter selects reviews. Zero fields select all.
type Filter struct {
	Words     []string // in lower case; all occur in `owner/name#number`, title or author
	Repo      string
	PRNumber  int32
	Status    Status
	Standing  Standing
	Outcome   finding.Outcome
	CreatedBy string      // the actor, such as connection:con_…
	Since     time.Time   // created at or after it
	Until     time.Time   // created before it
	Limit     int         // at least 1
	After     page.Cursor // only reviews that come after this place in the list
}

// Standing is what reviews are counted by: the outcome of a complete one, else why it
// has none.
type Standing string

// The standings.
const (
	Failing    = Standing(finding.Fail)
	Passing    = Standing(finding.Pass)
	Unsure     = Standing(finding.Incomplete)
	Running    = Standing("running")     // Queued or InProgress
	NotScanned = Standing("not_scanned") // Failed or Canceled
)

// Standings returns all standings.
func Standings() []Standing { return []Standing{Failing, Passing, Unsure, Running, NotScanned} }

// Words splits a search into words in lower case. It fails with InvalidArgument of
// `query`.
func Words(query string) ([]string, error) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) > MaxWords {
		return nil, errs.Invalid("query", "must have at most %d words, not %d", MaxWords, len(words))
	}

	return words, nil
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
	Selection
	Status    Status
	Standing  Standing
	Outcome   finding.Outcome
	PageSize  int    // 1 to MaxPageSize; 0 for DefaultPageSize
	PageToken string // of the page before
}

// Selection is what reviews are listed and counted by. Zero fields select all.
type Selection struct {
	Query     string // words, all of which occur in `owner/name#number`, title or author
	Repo      string
	PRNumber  int32
	CreatedBy string // the actor, such as connection:con_…
	Since     time.Time
	Until     time.Time
}

// filter is the selection as a store has it.
func (s Selection) filter() (Filter, error) {
	words, err := Words(s.Query)

	return Filter{
		Words: words, Repo: s.Repo, PRNumber: s.PRNumber, CreatedBy: s.CreatedBy, Since: s.Since, Until: s.Until,
	}, err
}

// List returns a page of reviews, newest first, without findings, and the
// token of the next page; "" on the last. A page that is not the last may be short, or
// empty; see MaxLookedAt.
func (s *Service) List(ctx context.Context, org string, in ListInput) ([]Review, string, error) {
	size, err := page.Size(in.PageSize, DefaultPageSize, MaxPageSize)
	if err != nil {
		return nil, "", err
	}
	f, err := in.filter()
	if err != nil {
		return nil, "", err
	}
	f.Status, f.Standing, f.Outcome, f.Limit = in.Status, in.Standing, in.Outcome, size
	filters := []string{
		in.Query, f.Repo, strconv.Itoa(int(f.PRNumber)), string(f.Status), string(f.Standing), string(f.Outcome),
		f.CreatedBy, f.Since.String(), f.Until.String(),
	}
	if f.After, err = page.After(in.PageToken, filters...); err != nil {
		return nil, "", err
	}

	reviews, next, err := s.store.ListReviews(ctx, org, f)
	if err != nil || next == (page.Cursor{}) {
		return reviews, "", err
	}

	return reviews, next.Token(filters...), nil
}

// Counts are how many reviews there are, by where they stand, each up to MaxCount.
type Counts struct {
	All        int
	Failed     int // the verdict
	Passed     int
	Incomplete int
	Running    int  // or wait
	NotScanned int  // failed or canceled
	Partial    bool // older reviews were not looked at
}

// Count counts reviews.
func (s *Service) Count(ctx context.Context, org string, in Selection) (Counts, error) {
	f, err := in.filter()
	if err != nil {
		return Counts{}, err
	}
	counts, partial, err := s.store.CountReviews(ctx, org, f)
	all := 0
	for _, n := range counts {
		all += n
	}

	return Counts{
		All: min(all, MaxCount), Failed: counts[Failing], Passed: counts[Passing], Incomplete: counts[Unsure],
		Running: counts[Running], NotScanned: counts[NotScanned], Partial: partial,
	}, err
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
