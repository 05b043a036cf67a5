package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/triage"
)

func triageTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"Triage/a decision changes the verdict, and back":   decidedVerdict,
		"Triage/it counts in later scans until it ends":     decidedLater,
		"Triage/what the policy refuses does not count":     refusedDecision,
		"Triage/the pull request's goes first":              decidedScopes,
		"Triage/each latest review follows":                 decidedReviews,
		"Triage/what was decided since can't be undone":     undoneTooLate,
		"Triage/organizations are apart":                    decisionsApart,
		"Triage/decisions page by page":                     listedDecisions,
		"Triage/the pull request is published again":        decidedPublication,
		"Commands/each is remembered once":                  keptCommands,
		"Triage/the findings of the latest reviews":         latestFindings,
		"Retention/decisions that ended go":                 purgedDecisions,
		"Races/a decision and the end of a scan are united": triageRace,
	}
}

// decide decides about findings of the pull request 7, or with 0 of the repository.
func decide(t *testing.T, h Harness, id string, pr int32, d finding.Decision, fingerprints ...string) int {
	t.Helper()
	n, err := setTriage(t.Context(), h, id, pr, d, fingerprints...)
	require.NoError(t, err)

	return n
}

func setTriage(
	ctx context.Context, h Harness, id string, pr int32, d finding.Decision, fingerprints ...string,
) (int, error) {
	c := triage.Change{ID: id, Repo: repo, PRNumber: pr, Fingerprints: fingerprints, Decision: d}
	about := map[string]finding.Finding{}
	if d != finding.Open {
		c.Reason, c.Until = "checked", "2026-12-31"
		for _, f := range fingerprints {
			about[f] = finding.Finding{RuleID: "security/no-eval", Severity: rule.High}
		}
	}

	return h.Store.SetTriage(ctx, acme, c, about)
}

// verdictOf is the verdict of a review, and the decisions that it has, by fingerprint.
func verdictOf(t *testing.T, h Harness, id string) string {
	t.Helper()
	r := get(t, h, acme, id)
	out := string(r.Verdict.Outcome)
	for _, f := range r.Findings {
		if f.Triage != nil {
			out += fmt.Sprintf(" %s:%s@%s", f.Fingerprint, f.Triage.Decision, f.Triage.Scope)
		}
	}

	return out
}

// judged is a result with findings that fail.
func judged(names ...string) finding.Result {
	o := found(named(names...)...)
	o.Judge(review.DefaultFailOn, func(string) bool { return true })

	return o
}

func decidedVerdict(t *testing.T, h Harness) {
	r := finish(t, h, "rev_a", judged("a", "b"))
	assert.Equal(t, finding.Fail, r.Verdict.Outcome)

	ctx := audit.NewContext(t.Context(), audit.Actor{Kind: audit.Host, ID: "github/ann"})
	n, err := setTriage(ctx, h, "trg_1", 7, finding.Accepted, "a")
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Equal(t, "fail a:accepted@pull_request", verdictOf(t, h, "rev_a"))
	assert.Equal(t, &finding.Triage{
		Decision: finding.Accepted, Reason: "checked", Until: "2026-12-31", By: "host:github/ann", At: h.Clock.Stored(),
		Scope: finding.InPullRequest,
	}, get(t, h, acme, "rev_a").Findings[0].Triage)
	assert.Zero(t, decide(t, h, "trg_x", 7, finding.Accepted, "a"), "it is so already")
	assert.Zero(t, decide(t, h, "trg_x", 7, finding.Open, "b"), "nothing was decided")

	h.Clock.Advance(time.Second)
	assert.Equal(t, 2, decide(t, h, "trg_2", 7, finding.WontFix, "a", "b"))
	assert.Equal(t, "pass a:wont_fix@pull_request b:wont_fix@pull_request", verdictOf(t, h, "rev_a"))
	assert.Equal(t, r.Summary, get(t, h, acme, "rev_a").Summary, "all are counted")
	for d, want := range map[finding.Decision]int{"": 2, finding.WontFix: 2, finding.Open: 0, finding.Accepted: 0} {
		page, err := h.Store.ListFindings(t.Context(), acme, "rev_a", review.FindingFilter{
			Kind: finding.KindReported, Decision: d, Limit: 10,
		})
		require.NoError(t, err)
		assert.Len(t, page.Findings, want, d)
	}

	undone, err := h.Store.UndoTriage(t.Context(), acme, "trg_2")
	require.NoError(t, err)
	assert.Equal(t, 2, undone)
	assert.Equal(t, "fail a:accepted@pull_request", verdictOf(t, h, "rev_a"))
	h.Clock.Advance(time.Second)
	undone, err = h.Store.UndoTriage(t.Context(), acme, "trg_1")
	require.NoError(t, err)
	assert.Equal(t, 1, undone)
	assert.Equal(t, "fail", verdictOf(t, h, "rev_a"))

	list := events(t, h, acme, audit.Filter{Action: audit.FindingTriage})
	require.Len(t, list, 2, "what changed nothing has none")
	assert.Equal(t, "host:github/ann", list[1].Actor)
	assert.Equal(t, audit.Change{Action: audit.FindingTriage, Target: "trg_1", Fields: []audit.Field{
		{Name: "pr_number", After: "7"}, {Name: "reason", After: "checked"}, {Name: "repo", After: repo},
		{Name: "until", After: "2026-12-31"}, {Name: "finding a", After: "accepted"},
	}}, list[1].Change)
	undo := events(t, h, acme, audit.Filter{Action: audit.FindingTriageUndo})
	require.Len(t, undo, 2)
	assert.Contains(t, undo[1].Fields, audit.Field{Name: "finding a", Before: "wont_fix", After: "accepted"})
	assert.Contains(t, undo[1].Fields, audit.Field{Name: "finding b", Before: "wont_fix"})
}

func decidedLater(t *testing.T, h Harness) {
	finish(t, h, "rev_a", judged("a"))
	decide(t, h, "trg_1", 7, finding.FalsePositive, "a")
	h.Clock.Advance(time.Hour)
	assert.Equal(t, finding.Pass, finish(t, h, "rev_b", judged("a")).Verdict.Outcome)
	assert.Equal(t, "pass a:false_positive@pull_request", verdictOf(t, h, "rev_b"))
	o := judged("a", "new")
	o.Truncated, o.Summary[rule.High] = true, 2
	assert.Equal(t, finding.Fail, finish(t, h, "rev_c", o).Verdict.Outcome)

	// The last day is in the time zone of the store.
	h.Clock.Advance(time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC).Sub(h.Clock.Now()))
	assert.Equal(t, finding.Pass, finish(t, h, "rev_d", judged("a")).Verdict.Outcome)
	h.Clock.Advance(time.Hour)
	assert.Equal(t, "pass a:false_positive@pull_request", verdictOf(t, h, "rev_d"), "as it was decided")
	assert.Equal(t, finding.Fail, finish(t, h, "rev_e", judged("a")).Verdict.Outcome)
	assert.Equal(t, "fail", verdictOf(t, h, "rev_e"))
}

func refusedDecision(t *testing.T, h Harness) {
	finish(t, h, "rev_a", judged("a", "b"))
	decide(t, h, "trg_1", 0, finding.Accepted, "a", "b")
	o := judged("a", "b")
	o.Refuses = func(f finding.Finding, by finding.Triage, today string) error {
		assert.Equal(t, "2026-11-20", today)
		assert.Equal(t, "checked", by.Reason)
		if f.Fingerprint == "b" {
			return errors.New("it is locked by now")
		}

		return nil
	}
	h.Clock.Advance(time.Second)
	assert.Equal(t, finding.Fail, finish(t, h, "rev_b", o).Verdict.Outcome)
	assert.Equal(t, "fail a:accepted@repository", verdictOf(t, h, "rev_b"))
}

func decidedScopes(t *testing.T, h Harness) {
	finish(t, h, "rev_a", judged("a"))
	decide(t, h, "trg_1", 0, finding.WontFix, "a")
	assert.Equal(t, "pass a:wont_fix@repository", verdictOf(t, h, "rev_a"))
	decide(t, h, "trg_2", 7, finding.Accepted, "a")
	assert.Equal(t, "pass a:accepted@pull_request", verdictOf(t, h, "rev_a"))
	decide(t, h, "trg_3", 0, finding.FalsePositive, "a")
	assert.Equal(t, "pass a:accepted@pull_request", verdictOf(t, h, "rev_a"))
	decide(t, h, "trg_4", 7, finding.Open, "a")
	assert.Equal(t, "pass a:false_positive@repository", verdictOf(t, h, "rev_a"))
	decide(t, h, "trg_5", 0, finding.Open, "a")
	assert.Equal(t, "fail", verdictOf(t, h, "rev_a"))
}

// finishNamed finishes a review of another pull request or by another way.
func finishNamed(t *testing.T, h Harness, n review.NewReview, names ...string) {
	t.Helper()
	accept(t, h, n)
	require.NoError(t, h.Store.Finish(t.Context(), claim(t, h), judged(names...)))
	h.Clock.Advance(time.Second)
}

func decidedReviews(t *testing.T, h Harness) {
	for id, change := range map[string]func(*review.NewReview){
		"rev_old": func(*review.NewReview) {}, "rev_eight": func(n *review.NewReview) { n.PRNumber = 8 },
		"rev_default": func(n *review.NewReview) { n.Ruleset = rule.RulesetDefault },
		"rev_other":   func(n *review.NewReview) { n.CreatedBy = "connection:con_a" },
		"rev_repo":    func(n *review.NewReview) { n.Repo = "acme/else" },
	} {
		n := newReview(acme, id)
		change(&n)
		finishNamed(t, h, n, "a")
	}
	finishNamed(t, h, newReview(acme, "rev_last"), "a")

	decide(t, h, "trg_1", 7, finding.Accepted, "a")
	for id, want := range map[string]finding.Outcome{
		"rev_old": "fail", "rev_eight": "fail", "rev_default": "pass", "rev_other": "pass", "rev_repo": "fail",
		"rev_last": "pass",
	} {
		assert.Equal(t, want, get(t, h, acme, id).Verdict.Outcome, id)
	}
	decide(t, h, "trg_2", 0, finding.Accepted, "a")
	assert.Equal(t, "pass a:accepted@repository", verdictOf(t, h, "rev_eight"))
	assert.Equal(t, "pass a:accepted@pull_request", verdictOf(t, h, "rev_last"))
	assert.Equal(t, "fail", verdictOf(t, h, "rev_repo"))
}

func undoneTooLate(t *testing.T, h Harness) {
	finish(t, h, "rev_a", judged("a", "b"))
	undo := func(id string) error {
		_, err := h.Store.UndoTriage(t.Context(), acme, id)

		return err
	}
	decide(t, h, "trg_1", 7, finding.Accepted, "a", "b")
	decide(t, h, "trg_2", 7, finding.WontFix, "b")
	wantError(t, undo("trg_1"), errs.FailedPrecondition, errs.ReasonTriageChanged)
	assert.Equal(t, "pass a:accepted@pull_request b:wont_fix@pull_request", verdictOf(t, h, "rev_a"))
	decide(t, h, "trg_3", 7, finding.Open, "b")
	wantError(t, undo("trg_2"), errs.FailedPrecondition, errs.ReasonTriageChanged)
	require.NoError(t, undo("trg_3"))
	wantError(t, undo("trg_3"), errs.NotFound, errs.ReasonTriageNotFound)
	require.NoError(t, undo("trg_2"), "it is the last one again")

	h.Clock.Advance(triage.UndoTime + time.Microsecond)
	wantError(t, undo("trg_1"), errs.FailedPrecondition, errs.ReasonTriageChanged)
	wantError(t, undo("trg_none"), errs.NotFound, errs.ReasonTriageNotFound)
}

func decisionsApart(t *testing.T, h Harness) {
	finish(t, h, "rev_a", judged("a"))
	c := triage.Change{ID: "trg_o", Repo: repo, Fingerprints: []string{"a"}, Decision: finding.Accepted, Reason: "r"}
	about := map[string]finding.Finding{"a": {RuleID: "security/no-eval", Severity: rule.High}}
	_, err := h.Store.SetTriage(t.Context(), other, c, about)
	require.NoError(t, err)
	assert.Equal(t, "fail", verdictOf(t, h, "rev_a"))
	h.Clock.Advance(time.Second)
	assert.Equal(t, finding.Fail, finish(t, h, "rev_b", judged("a")).Verdict.Outcome)

	list, err := h.Store.ListTriage(t.Context(), acme, triage.Filter{Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, list)
	_, err = h.Store.UndoTriage(t.Context(), acme, "trg_o")
	wantError(t, err, errs.NotFound, errs.ReasonTriageNotFound)
	got, err := h.Store.Latest(t.Context(), other, repo, 0, []string{"a"})
	require.NoError(t, err)
	assert.Empty(t, got)
}

func listedDecisions(t *testing.T, h Harness) {
	finish(t, h, "rev_a", judged("a", "b", "c"))
	decide(t, h, "trg_1", 7, finding.Accepted, "a", "b")
	h.Clock.Advance(time.Second)
	decide(t, h, "trg_2", 0, finding.WontFix, "c")
	names := func(f triage.Filter) (names []string) {
		for {
			f.Limit = 1
			list, err := h.Store.ListTriage(t.Context(), acme, f)
			require.NoError(t, err)
			if len(list) == 0 {
				return names
			}
			names = append(names, list[0].Fingerprint)
			f.After = list[0].Cursor()
		}
	}
	assert.Equal(t, []string{"c", "b", "a"}, names(triage.Filter{}))
	assert.Equal(t, []string{"b", "a"}, names(triage.Filter{Decision: finding.Accepted}))
	assert.Equal(t, []string{"c", "b", "a"}, names(triage.Filter{
		Repo: repo, RuleID: "security/no-eval", ExpiringBefore: "2027-01-01",
	}))
	for _, f := range []triage.Filter{{Repo: "acme/x"}, {RuleID: "custom/x"}, {ExpiringBefore: "2026-12-31"}} {
		assert.Empty(t, names(f))
	}

	list, err := h.Store.ListTriage(t.Context(), acme, triage.Filter{Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, []triage.Decided{{
		Repo: repo, Fingerprint: "c", RuleID: "security/no-eval", ChangeID: "trg_2", Triage: finding.Triage{
			Decision: finding.WontFix, Reason: "checked", Until: "2026-12-31", By: "system", At: h.Clock.Stored(),
			Scope: finding.InRepository,
		},
	}}, list)
}

func decidedPublication(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	finish(t, h, "rev_a", judged("a"))
	endPublication(t, h, claimPublication(t, h, "me"), publish.End{Done: true})
	noPublication(t, h)

	decide(t, h, "trg_1", 0, finding.Accepted, "a")
	endPublication(t, h, claimPublication(t, h, "me"), publish.End{Done: true})
	decide(t, h, "trg_2", 8, finding.Accepted, "a")
	noPublication(t, h)
	_, err := h.Store.UndoTriage(t.Context(), acme, "trg_1")
	require.NoError(t, err)
	claimPublication(t, h, "me")
}

func latestFindings(t *testing.T, h Harness) {
	finishNamed(t, h, newReview(acme, "rev_a"), "a", "gone")
	finishNamed(t, h, newReview(acme, "rev_b"), "a")
	eight := newReview(acme, "rev_c")
	eight.PRNumber = 8
	finishNamed(t, h, eight, "eight")
	look := func(pr int32, fingerprints ...string) []finding.Finding {
		got, err := h.Store.Latest(t.Context(), acme, repo, pr, fingerprints)
		require.NoError(t, err)

		return got
	}
	want := []finding.Finding{{RuleID: "security/no-eval", Severity: rule.High, Fingerprint: "a"}}
	assert.Equal(t, want, look(7, "a", "gone", "eight"))
	assert.Len(t, look(0, "a", "gone", "eight"), 2)
	assert.Empty(t, look(9, "a"))
}

func purgedDecisions(t *testing.T, h Harness) {
	finish(t, h, "rev_a", judged("a"))
	decide(t, h, "trg_1", 7, finding.Accepted, "a")
	left := func() (n int) {
		t.Helper()
		_, _, err := h.Store.PurgeTriage(t.Context(), keep, h.Clock.Now())
		require.NoError(t, err)
		list, err := h.Store.ListTriage(t.Context(), acme, triage.Filter{Limit: 10})
		require.NoError(t, err)

		return len(list)
	}
	assert.Equal(t, 1, left())
	h.Clock.Advance(time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC).Add(keep).Sub(h.Clock.Now()))
	assert.Equal(t, 1, left())
	_, err := h.Store.UndoTriage(t.Context(), acme, "trg_1")
	wantError(t, err, errs.NotFound, errs.ReasonTriageNotFound)
	h.Clock.Advance(time.Hour)
	assert.Zero(t, left())
}

// Whichever of a decision and the end of a scan is first, the verdict knows both.
func triageRace(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	for round := range 10 {
		id := fmt.Sprintf("rev_%d", round)
		fingerprint := fmt.Sprintf("%02x", round)
		create(t, h, acme, id)
		c := claim(t, h)
		together(t, 2, func(ctx context.Context, i int) error {
			if i == 0 {
				return h.Store.Finish(ctx, c, judged(fingerprint))
			}
			_, err := setTriage(ctx, h, "trg_"+fingerprint, 7, finding.Accepted, fingerprint)

			return err
		})
		assert.Equal(t, "pass "+fingerprint+":accepted@pull_request", verdictOf(t, h, id))
		h.Clock.Advance(time.Second)
	}
}
