package triage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/rule"
)

// check says what is wrong with a change, field by field.
func (c Change) check(today string) error {
	var bad errs.Violations
	if err := rule.CheckRepository(c.Repo); err != nil {
		bad.Add("repo", "%s", err)
	}
	if c.PRNumber < 0 {
		bad.Add("pr_number", "must be a pull request number from 1 to 2147483647, not %d", c.PRNumber)
	}
	if n := len(c.Fingerprints); n < 1 || n > MaxFindings {
		bad.Add("fingerprints", "must have 1 to %d fingerprints, not %d", MaxFindings, n)
	}
	for i, f := range c.Fingerprints {
		if f == "" || len(f) > MaxFingerprint || strings.Trim(f, "0123456789abcdef") != "" {
			bad.Add(fmt.Sprintf("fingerprints[%d]", i), "must be the fingerprint of a finding, in lower-case hexadecimal digits")
		} else if slices.Contains(c.Fingerprints[:i], f) {
			bad.Add(fmt.Sprintf("fingerprints[%d]", i), "is named twice")
		}
	}
	if !slices.Contains(finding.Decisions(), c.Decision) {
		bad.Add("decision", "must be one of open, accepted, false_positive and wont_fix")
	}
	if problem := checkReason(c.Reason, c.Decision); problem != "" {
		bad.Add("reason", "%s", problem)
	}
	if problem := checkUntil(c.Until, c.Decision, today); problem != "" {
		bad.Add("until", "%s", problem)
	}

	return bad.Err()
}

func checkReason(reason string, d finding.Decision) string {
	switch n := utf8.RuneCountInString(reason); {
	case n > MaxReason:
		return fmt.Sprintf("must have at most %d characters, not %d", MaxReason, n)
	case d != finding.Open && strings.TrimSpace(reason) == "":
		return "must say why; it is empty"
	case !utf8.ValidString(reason) || strings.ContainsFunc(reason, isControl):
		return "must be text without control characters but line breaks"
	}

	return ""
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

func checkUntil(until string, d finding.Decision, today string) string {
	if until == "" {
		return ""
	}
	if d == finding.Open {
		return "goes with a decision other than open"
	}
	if _, err := time.Parse(time.DateOnly, until); err != nil {
		return "must be a day as YYYY-MM-DD"
	}
	if until < today {
		return "is over already; today is " + today + " in UTC"
	}

	return ""
}

// Page sizes of List.
const (
	DefaultPageSize = 100
	MaxPageSize     = 1_000
)

// ListInput selects a page of decisions. Zero fields select all.
type ListInput struct {
	Repo           string
	Decision       finding.Decision
	RuleID         string // `name` stands for `custom/name`
	ExpiringBefore string // `YYYY-MM-DD`: only those that end before that day
	PageSize       int    // 1 to MaxPageSize; 0 for DefaultPageSize
	PageToken      string // of the page before
}

// List returns a page of decisions, newest first, also of those that have ended, and the
// token of the next page; "" on the last.
func (s *Service) List(ctx context.Context, org string, in ListInput) ([]Decided, string, error) {
	size, err := page.Size(in.PageSize, DefaultPageSize, MaxPageSize)
	if err != nil {
		return nil, "", err
	}
	if in.ExpiringBefore != "" {
		if _, err := time.Parse(time.DateOnly, in.ExpiringBefore); err != nil {
			return nil, "", errs.Invalid("expiring_before", "must be a day as YYYY-MM-DD")
		}
	}

	f := Filter{Repo: in.Repo, Decision: in.Decision, ExpiringBefore: in.ExpiringBefore, Limit: size + 1}
	if in.RuleID != "" {
		f.RuleID = rule.FullID(in.RuleID)
	}
	filters := []string{f.Repo, string(f.Decision), f.RuleID, f.ExpiringBefore}
	if f.After, err = page.After(in.PageToken, filters...); err != nil {
		return nil, "", err
	}

	list, err := s.store.ListTriage(ctx, org, f)
	if err != nil || len(list) <= size {
		return list, "", err
	}

	return list[:size], list[size-1].Cursor().Token(filters...), nil
}
