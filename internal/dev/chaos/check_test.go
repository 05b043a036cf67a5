package main

import (
	"slices"
	"strings"
	"testing"

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
	pulls := map[pullName]pull{}
	for number, p := range map[int]pull{
		1: {findings: []finding{one, other}}, 2: {failure: "no_merge_base"}, 3: {findings: []finding{one}},
	} {
		p.organization, p.repo, p.number = "o", "o/r", number
		pulls[pullName{"o/r", number}] = p
	}
	of := func(number int) pull { return pulls[pullName{"o/r", number}] }

	seen := shown{Status: "complete", Summary: map[string]int{"high": 2, "low": 0}}
	seen.Findings = slices.Grow(seen.Findings, 2)[:2]
	seen.Findings[0].finding, seen.Findings[0].Fingerprint = one, "f1"
	seen.Findings[1].finding, seen.Findings[1].Fingerprint = other, "f2"
	wrong := shown{Status: "failed"}
	wrong.Error.Code = "no_merge_base"

	var transitions []transition
	for id, end := range map[string]string{complete: "complete", failed: "failed", canceled: "canceled"} {
		transitions = append(transitions, transition{review: id, is: "queued"},
			transition{review: id, was: "queued", is: "in_progress", attempt: 1},
			transition{review: id, was: "in_progress", is: end, attempt: 1})
	}
	return &evidence{
		pulls: pulls,
		records: []record{
			{key: "k1", pull: of(1), id: complete, final: "complete"},
			{key: "k2", pull: of(2), id: failed, final: "failed", failure: "no_merge_base"},
			{key: "k3", pull: of(3), id: canceled, cancelAsked: true},
			{key: "k4", pull: of(1)}, // the run ended before it was answered
		},
		shown: map[string]shown{complete: seen, failed: wrong, canceled: {Status: "canceled"}},
		stored: stored{
			reviews: map[string]row{
				complete: {"o", "o/r", 1, "complete", "", ""}, failed: {"o", "o/r", 2, "failed", "no_merge_base", "No."},
				canceled: {"o", "o/r", 3, "canceled", "", ""},
			},
			keys:        map[string]string{"o k1": complete, "o k2": failed, "o k3": canceled},
			counts:      map[string]counts{"o": {}},
			transitions: transitions,
		},
		completed:   map[string]int{complete: 1},
		mostPassing: 0.5,
	}
}

// broken are the names of the invariants that do not hold.
func broken(e *evidence) (names []string) {
	for _, r := range e.check() {
		if r.broken > 0 {
			names = append(names, r.invariant)
		}
	}
	return names
}

func TestGoodEvidenceHoldsAll(t *testing.T) {
	t.Parallel()
	assert.Empty(t, broken(goodEvidence()))

	late := goodEvidence()
	late.reviews["rev_late"], late.keys["o k4"] = row{"o", "o/r", 1, "canceled", "", ""}, "rev_late"
	assert.NotContains(t, strings.Join(broken(late), " "), "none too many", "its client never learned of it")
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

// moved adds a transition.
func moved(t transition) func(*evidence) {
	return func(e *evidence) { e.transitions = append(e.transitions, t) }
}

// TestBadEvidenceBreaksItsInvariant spoils good evidence in one way after the other: the invariant whose name begins so
// must notice.
func TestBadEvidenceBreaksItsInvariant(t *testing.T) {
	t.Parallel()
	for invariant, ways := range map[string]map[string]func(*evidence){
		"none lost": {
			"gone":                    func(e *evidence) { delete(e.reviews, complete) },
			"of another pull request": edit(complete, func(r *row) { r.number = 3 }),
		},
		"none stuck": {
			"queued":      edit(complete, func(r *row) { r.status = "queued" }),
			"in progress": edit(failed, func(r *row) { r.status = "in_progress" }),
		},
		"none twice": {
			"two completions logged":     func(e *evidence) { e.completed[complete] = 2 },
			"run again after its end":    moved(transition{review: complete, was: "complete", is: "in_progress", attempt: 2}),
			"ended twice":                moved(transition{review: complete, was: "in_progress", is: "complete", attempt: 1}),
			"attempt used twice":         func(e *evidence) { e.transitions[1].attempt, e.transitions[2].attempt = 0, 0 },
			"ended with another attempt": func(e *evidence) { e.transitions[2].attempt = 7 },
			"changed from elsewhere":     func(e *evidence) { e.transitions[2].was = "queued" },
			"changed unseen":             func(e *evidence) { e.transitions = e.transitions[:8] },
			"no transitions of any":      func(e *evidence) { e.transitions = []transition{} },
		},
		"none too many": {"of nobody": func(e *evidence) { e.reviews["rev_new"] = e.reviews[complete] }},
		"a retried creation": {
			"one review for two keys": func(e *evidence) { e.records[1].id = complete },
			"two reviews for one key": func(e *evidence) { e.keys["o k1"] = "rev_other" },
			"a forgotten key":         func(e *evidence) { delete(e.keys, "o k1") },
		},
		"complete, or failed": {
			"canceled unasked":           func(e *evidence) { e.records[2].cancelAsked = false },
			"complete instead of failed": edit(failed, func(r *row) { r.status = "complete" }),
			"failed for no reason": edit(complete, func(r *row) {
				r.status, r.code, r.message = "failed", "internal", "Oops."
			}),
			"failed without a sentence": edit(failed, func(r *row) { r.message = "" }),
		},
		"few reviews fail": {"two of three": func(e *evidence) {
			for _, id := range []string{complete, failed} {
				edit(id, func(r *row) { r.status, r.code = "failed", "scanner_unavailable" })(e)
			}
		}},
		"the API shows": {
			"not readable":       func(e *evidence) { delete(e.shown, complete) },
			"another state":      func(e *evidence) { e.shown[failed] = shown{Status: "queued"} },
			"a finding missing":  show(func(r *shown) { r.Findings = r.Findings[:1] }),
			"another line":       show(func(r *shown) { r.Findings[0].Line = 4 }),
			"another order":      show(func(r *shown) { slices.Reverse(r.Findings) }),
			"fingerprints twice": show(func(r *shown) { r.Findings[1].Fingerprint = "f1" }),
			"a wrong summary":    show(func(r *shown) { r.Summary = map[string]int{"high": 3} }),
		},
		"what a client saw": {
			"complete, then failed": func(e *evidence) { e.records[1].final, e.records[1].failure = "complete", "" },
			"another reason":        func(e *evidence) { e.records[1].failure = "scanner_unavailable" },
		},
		"an organization's counts": {
			"a count that is left":      func(e *evidence) { e.counts["o"] = counts{running: 1} },
			"a row that is not counted": func(e *evidence) { e.counts["o"] = counts{rowsQueued: 1} },
		},
		"every answer":      {"a 500": func(e *evidence) { e.complaints = []string{"500"} }},
		"no process panics": {"a panic": func(e *evidence) { e.strange = []string{"panic: oh"} }},
		"nothing is left":   {"a process": func(e *evidence) { e.left = []string{"git"} }},
	} {
		for name, spoil := range ways {
			t.Run(invariant+": "+name, func(t *testing.T) {
				t.Parallel()
				e := goodEvidence()
				spoil(e)
				noticed := slices.ContainsFunc(broken(e), func(name string) bool { return strings.HasPrefix(name, invariant) })
				assert.True(t, noticed, broken(e))
			})
		}
	}
}
