// Package stats has the numbers of rules: what each found, what was fixed and
// what was suppressed, by day and repository. They are counted when a review
// finishes, and stay when it is deleted.
package stats

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/rule"
)

// Keep is how many days numbers are kept, and so the longest window.
const Keep = 400

// Windows and pages of Rules.
const (
	DefaultWindow   = 30 // days
	DefaultPageSize = 100
	MaxPageSize     = 1000
)

// Store keeps the numbers. Every call is about one organization.
type Store interface {
	// RuleStats sums the numbers up by rule, or by rule and repository: those
	// that found most come first, then by rule and repository.
	RuleStats(ctx context.Context, org string, f Filter) ([]Rule, error)

	// Trend returns what happened in a window of days, and in the days after it.
	Trend(ctx context.Context, org string, f TrendFilter) (Trend, error)
}

// Filter selects numbers. Zero fields select all.
type Filter struct {
	Since, Until string // first and last day, `YYYY-MM-DD` in UTC
	Repo         string
	RuleID       string // `category/name`
	MinSeverity  rule.Severity
	ByRepository bool   // a row for each repository, instead of one for all
	After        Cursor // only what comes after it in the list
	Limit        int    // at least 1
}

// Cursor is a place in the list. The zero Cursor is before the first.
type Cursor struct {
	Found  int64
	RuleID string // "" in the zero Cursor only
	Repo   string
}

// Rule is the numbers of a rule.
type Rule struct {
	RuleID     string // `category/name`
	Repo       string // "" for all repositories together
	Found      int64
	Fixed      int64
	Suppressed int64

	// Decisions that were made about its findings, and stand.
	Accepted, FalsePositive, WontFix int64

	Work int64 // bytes
}

// Service answers from a store.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a service that has the day from a clock.
func NewService(store Store, now func() time.Time) *Service { return &Service{store: store, now: now} }

// RulesInput says which numbers of rules are wanted. Zero fields select all.
type RulesInput struct {
	Since, Until string // `YYYY-MM-DD` in UTC; "" for the last DefaultWindow days until today
	Repo         string
	RuleID       string // `name` stands for `custom/name`
	MinSeverity  rule.Severity
	ByRepository bool
	PageSize     int    // 1 to MaxPageSize; 0 for DefaultPageSize
	PageToken    string // of the page before
}

// RulesPage is a page of the numbers of rules.
type RulesPage struct {
	Since, Until string // the window
	Rules        []Rule
	Next         string // token of the next page; "" on the last
}

// Rules returns the numbers of rules. The errors are those of
// StatsService.ListRuleStats in the API.
func (s *Service) Rules(ctx context.Context, org string, in RulesInput) (RulesPage, error) {
	f := Filter{
		Repo: in.Repo, MinSeverity: in.MinSeverity, ByRepository: in.ByRepository,
	}
	if in.RuleID != "" {
		f.RuleID = rule.FullID(in.RuleID)
	}

	size, err := page.Size(in.PageSize, DefaultPageSize, MaxPageSize)
	if err != nil {
		return RulesPage{}, err
	}
	f.Limit = size + 1

	filters := []string{in.Since, in.Until, f.Repo, f.RuleID, f.MinSeverity.String(), strconv.FormatBool(f.ByRepository)}
	since, until := in.Since, in.Until
	if in.PageToken != "" {
		place, ok := page.Place(in.PageToken, filters...)
		if ok {
			since, until, ok = f.continueAt(place)
		}
		if !ok {
			return RulesPage{}, errs.Invalid("page_token",
				"must be the next_page_token of a page of the same days with the same filters")
		}
	}
	if f.Since, f.Until, err = s.window(since, until); err != nil {
		return RulesPage{}, err
	}

	rules, err := s.store.RuleStats(ctx, org, f)
	out := RulesPage{Since: f.Since, Until: f.Until, Rules: rules}
	if err == nil && len(rules) > size {
		out.Rules = rules[:size]
		last := rules[size-1]
		// The days are in it, because the day may end before the next page is read.
		out.Next = page.Token(fmt.Sprintf("%s %s %d %s %s", f.Since, f.Until, last.Found, last.RuleID, last.Repo), filters...)
	}

	return out, err
}

// window checks the days that were asked for, and completes them.
func (s *Service) window(since, until string) (from, to string, err error) {
	last := s.now().UTC()
	if until != "" {
		if last, err = time.Parse(time.DateOnly, until); err != nil {
			return "", "", errs.Invalid("until", "must be a day as YYYY-MM-DD")
		}
	}
	first := last.AddDate(0, 0, 1-DefaultWindow)
	if since != "" {
		if first, err = time.Parse(time.DateOnly, since); err != nil {
			return "", "", errs.Invalid("since", "must be a day as YYYY-MM-DD")
		}
	}

	from, to = first.Format(time.DateOnly), last.Format(time.DateOnly)
	switch {
	case from > to:
		return "", "", errs.Invalid("since", "must not be after the last day, which is %s", to)
	case from <= last.AddDate(0, 0, -Keep).Format(time.DateOnly):
		return "", "", errs.Invalid("since", "must be at most %d days before the last day, %s, which is included",
			Keep-1, to)
	}

	return from, to, nil
}

// continueAt sets the place that a token names, and returns the days of its page.
func (f *Filter) continueAt(place string) (since, until string, ok bool) {
	parts := strings.Split(place, " ")
	if len(parts) != 5 || parts[3] == "" {
		return "", "", false
	}
	found, err := strconv.ParseInt(parts[2], 10, 64)
	f.After = Cursor{Found: found, RuleID: parts[3], Repo: parts[4]}

	return parts[0], parts[1], err == nil
}
