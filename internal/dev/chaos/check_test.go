package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The reviews of goodEvidence: one complete, one that fails as it must, one canceled.
const (
	complete = "rev_complete"
	failed   = "rev_failed"
	canceled = "rev_canceled"
)

// goodEvidence is evidence in which every promise was kept.
func goodEvidence() *evidence {
	one := finding{RuleID: "a/b", Severity: "high", File: "x.js", Line: 3, Snippet: "bad"}
	other := finding{RuleID: "a/b", Severity: "high", File: "x.js", Line: 9, Snippet: "bad too"}
	of := func(number int, failure string, findings ...finding) pull {
		return pull{organization: "o", repo: "o/r", number: number, failure: failure, findings: findings}
	}
	wrong := shown{Status: "failed"}
	wrong.Error.Code = "no_merge_base"

	var transitions []transition
	for _, id := range []string{complete, failed, canceled} {
		transitions = append(transitions, transition{Review: id, Is: "queued"},
			transition{Review: id, Was: "queued", Is: "in_progress", Attempt: 1},
			transition{Review: id, Was: "in_progress", Is: strings.TrimPrefix(id, "rev_"), Attempt: 1})
	}

	return &evidence{
		records: []*record{
			{key: "k1", pull: of(1, "", one, other), id: complete, final: "complete"},
			{key: "k2", pull: of(2, "no_merge_base"), id: failed, final: "failed", failure: "no_merge_base"},
			{key: "k3", pull: of(3, "", one), id: canceled, cancelAsked: true},
		},
		shown: map[string]shown{
			complete: {Status: "complete", Summary: map[string]int{"high": 2}, Findings: []finding{one, other}},
			failed:   wrong, canceled: {Status: "canceled"},
		},
		stored: stored{
			reviews: map[string]row{
				complete: {complete, "o", "o/r", 1, "complete", ""}, failed: {failed, "o", "o/r", 2, "failed", "no_merge_base"},
				canceled: {canceled, "o", "o/r", 3, "canceled", ""},
			},
			transitions: transitions,
		},
		mostPassing: 0.4,
	}
}

// edit changes a row of the reviews.
func edit(id string, change func(*row)) func(*evidence) {
	return func(e *evidence) {
		r := e.reviews[id]
		change(&r)
		e.reviews[id] = r
	}
}

// show changes what the API shows of the complete review.
func show(change func(*shown)) func(*evidence) {
	return func(e *evidence) {
		r := e.shown[complete]
		change(&r)
		e.shown[complete] = r
	}
}

// TestBadEvidenceIsNoticed spoils good evidence in one way after the other: a text that begins so must tell it.
func TestBadEvidenceIsNoticed(t *testing.T) {
	t.Parallel()
	assert.Empty(t, goodEvidence().check())
	again := transition{Review: complete, Was: "complete", Is: "in_progress", Attempt: 2}
	for promise, ways := range map[string]map[string]func(*evidence){
		"lost": {
			"gone":                    func(e *evidence) { delete(e.reviews, complete) },
			"never answered":          func(e *evidence) { e.records[2].id = "" },
			"of another pull request": edit(complete, func(r *row) { r.Number = 3 }),
		},
		"stuck": {"in progress": edit(failed, func(r *row) { r.Status = "in_progress" })},
		"twice": {
			"run again after its end": func(e *evidence) { e.transitions = append(e.transitions, again) },
			"attempt used twice":      func(e *evidence) { e.transitions[1].Attempt, e.transitions[2].Attempt = 0, 0 },
			"changed from elsewhere":  func(e *evidence) { e.transitions[2].Was = "queued" },
			"changed unseen":          func(e *evidence) { e.transitions = e.transitions[:8] },
			"no transitions of any":   func(e *evidence) { e.transitions = []transition{} },
			"of nobody":               func(e *evidence) { e.reviews["rev_new"] = e.reviews[complete] },
			"one review for two keys": func(e *evidence) { e.records[1].id = complete },
		},
		"ends": {
			"canceled unasked":           func(e *evidence) { e.records[2].cancelAsked = false },
			"complete instead of failed": edit(failed, func(r *row) { r.Status = "complete" }),
			"failed for no reason":       edit(complete, func(r *row) { r.Status, r.Code = "failed", "internal" }),
			"seen to end otherwise":      func(e *evidence) { e.records[1].final = "complete" },
			"two of three by faults": func(e *evidence) {
				for _, id := range []string{complete, failed} {
					edit(id, func(r *row) { r.Status, r.Code = "failed", "scanner_unavailable" })(e)
				}
			},
		},
		"shown": {
			"not readable":      func(e *evidence) { delete(e.shown, complete) },
			"another state":     func(e *evidence) { e.shown[failed] = shown{Status: "queued"} },
			"a finding missing": show(func(r *shown) { r.Findings = r.Findings[:1] }),
			"another line":      show(func(r *shown) { r.Findings[0].Line = 4 }),
			"another order":     show(func(r *shown) { slices.Reverse(r.Findings) }),
			"a wrong summary":   show(func(r *shown) { r.Summary = map[string]int{"high": 3} }),
		},
		"counts": {"a count that is left": func(e *evidence) { e.counts = []counts{{Running: 1}} }},
		"answer": {"a 500": func(e *evidence) { e.strange = []string{"answer: 500"} }},
	} {
		for name, spoil := range ways {
			e := goodEvidence()
			spoil(e)
			noticed := slices.ContainsFunc(e.check(), func(text string) bool { return strings.HasPrefix(text, promise+": ") })
			assert.True(t, noticed, "%s: %s: %q", promise, name, e.check())
		}
	}
}

func TestSlowAcceptance(t *testing.T) {
	t.Parallel()
	e := goodEvidence()
	assert.True(t, e.judge().good())
	e.records[1].took = time.Minute
	assert.False(t, e.judge().good())
}
