package verdict_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/chaos/clients"
	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
	"github.com/prwarden/prwarden/internal/dev/chaos/verdict"
)

// The reviews of good: one complete, one that fails as it must, one canceled.
const (
	complete = "rev_complete"
	failed   = "rev_failed"
	canceled = "rev_canceled"
)

// good is evidence in which every promise was kept.
func good() *verdict.Evidence {
	finding := pulls.Finding{RuleID: "a/b", Severity: "high", File: "x.js", Line: 3, Snippet: "bad"}
	other := pulls.Finding{RuleID: "a/b", Severity: "high", File: "x.js", Line: 9, Snippet: "bad too"}
	known := map[int32]pulls.Pull{
		1: {Want: pulls.Want{Findings: []pulls.Finding{finding, other}}},
		2: {Want: pulls.Want{Failure: "no_merge_base"}},
		3: {Want: pulls.Want{Findings: []pulls.Finding{finding}}},
	}
	row := func(number int32, status, code, message string) verdict.Review {
		return verdict.Review{Organization: "o", Repo: "o/r", Number: number, Status: status, FailureCode: code, Message: message, Attempt: 1}
	}
	change := func(id, was, is string, attempt int) verdict.Transition {
		return verdict.Transition{ReviewID: id, Was: was, Is: is, Attempt: attempt}
	}
	return &verdict.Evidence{
		Want: func(repo string, number int32) (pulls.Pull, bool) {
			p, ok := known[number]
			return p, ok && repo == "o/r"
		},
		Records: []clients.Record{
			{Key: "k1", Organization: "o", Repo: "o/r", Number: 1, ID: complete, Final: "complete"},
			{Key: "k2", Organization: "o", Repo: "o/r", Number: 2, ID: failed, Final: "failed", Failure: "no_merge_base"},
			{Key: "k3", Organization: "o", Repo: "o/r", Number: 3, ID: canceled, CancelAsked: true},
			{Key: "k4", Organization: "o", Repo: "o/r", Number: 1},
		},
		Shown: map[string]clients.Review{
			complete: {Status: "complete", Findings: []pulls.Finding{finding, other}, Total: 2},
			failed:   {Status: "failed", Failure: "no_merge_base"},
			canceled: {Status: "canceled"},
		},
		Stored: verdict.Stored{
			Reviews: map[string]verdict.Review{
				complete: row(1, "complete", "", ""), failed: row(2, "failed", "no_merge_base", "No."), canceled: row(3, "canceled", "", ""),
			},
			Findings: map[string][]verdict.Finding{
				complete: {{Finding: finding, Position: 0, Fingerprint: "f1"}, {Finding: other, Position: 1, Fingerprint: "f2"}},
			},
			Keys:          map[verdict.Key]string{{"o", "k1"}: complete, {"o", "k2"}: failed, {"o", "k3"}: canceled},
			Organizations: map[string]verdict.Counts{"o": {}},
			Transitions: []verdict.Transition{
				change(complete, "", "queued", 0), change(complete, "queued", "in_progress", 1), change(complete, "in_progress", "complete", 1),
				change(failed, "", "queued", 0), change(failed, "queued", "in_progress", 1), change(failed, "in_progress", "failed", 1),
				change(canceled, "", "queued", 0), change(canceled, "queued", "in_progress", 1), change(canceled, "in_progress", "canceled", 1),
			},
		},
		Completed:   map[string]int{complete: 1},
		Passing:     []string{"scanner_unavailable"},
		MostPassing: 0.5,
	}
}

func TestGoodEvidenceHoldsAll(t *testing.T) {
	t.Parallel()
	for _, r := range verdict.Check(good()) {
		assert.Zero(t, r.Broken, "%s: %v", r.Invariant, r.Texts)
	}
}

// edit changes a row of the reviews.
func edit(e *verdict.Evidence, id string, change func(*verdict.Review)) {
	r := e.Stored.Reviews[id]
	change(&r)
	e.Stored.Reviews[id] = r
}

// TestBadEvidenceBreaksItsInvariant spoils good evidence in one way after the
// other: the invariant whose name begins so must notice.
func TestBadEvidenceBreaksItsInvariant(t *testing.T) {
	t.Parallel()
	const (
		lost       = "none lost"
		stuck      = "none stuck"
		twice      = "none twice"
		strangers  = "none too many"
		keys       = "a retried creation"
		ends       = "complete, or failed"
		share      = "few reviews fail"
		findings   = "stored findings"
		shown      = "the API shows"
		seen       = "what a client saw"
		counts     = "an organization's counts"
		complaints = "every answer"
		panics     = "no process panics"
		left       = "nothing is left"
	)
	add := func(e *verdict.Evidence, ts ...verdict.Transition) {
		e.Stored.Transitions = append(e.Stored.Transitions, ts...)
	}
	for name, bad := range map[string]struct {
		invariant string
		spoil     func(e *verdict.Evidence)
	}{
		"accepted and gone":       {lost, func(e *verdict.Evidence) { delete(e.Stored.Reviews, complete) }},
		"of another pull request": {lost, func(e *verdict.Evidence) { edit(e, complete, func(r *verdict.Review) { r.Number = 3 }) }},
		"still queued":            {stuck, func(e *verdict.Evidence) { edit(e, complete, func(r *verdict.Review) { r.Status = "queued" }) }},
		"still running":           {stuck, func(e *verdict.Evidence) { edit(e, failed, func(r *verdict.Review) { r.Status = "in_progress" }) }},
		"two completions logged":  {twice, func(e *verdict.Evidence) { e.Completed[complete] = 2 }},
		"run again after its end": {twice, func(e *verdict.Evidence) {
			add(e, verdict.Transition{ReviewID: complete, Was: "complete", Is: "in_progress", Attempt: 2})
		}},
		"completed twice": {twice, func(e *verdict.Evidence) {
			add(e, verdict.Transition{ReviewID: complete, Was: "in_progress", Is: "complete", Attempt: 1})
		}},
		"attempt used twice":         {twice, func(e *verdict.Evidence) { e.Stored.Transitions[1].Attempt = 0; e.Stored.Transitions[2].Attempt = 0 }},
		"ended with another attempt": {twice, func(e *verdict.Evidence) { e.Stored.Transitions[2].Attempt = 7 }},
		"changed from elsewhere":     {twice, func(e *verdict.Evidence) { e.Stored.Transitions[2].Was = "queued" }},
		"changed unseen":             {twice, func(e *verdict.Evidence) { e.Stored.Transitions = e.Stored.Transitions[:8] }},
		"a review of nobody": {strangers, func(e *verdict.Evidence) {
			e.Stored.Reviews["rev_new"] = e.Stored.Reviews[complete]
		}},
		"one review for two keys": {keys, func(e *verdict.Evidence) { e.Records[1].ID = complete }},
		"two reviews for one key": {keys, func(e *verdict.Evidence) { e.Stored.Keys[verdict.Key{Organization: "o", Key: "k1"}] = "rev_other" }},
		"a key that was forgotten": {keys, func(e *verdict.Evidence) {
			delete(e.Stored.Keys, verdict.Key{Organization: "o", Key: "k1"})
		}},
		"canceled unasked":           {ends, func(e *verdict.Evidence) { e.Records[2].CancelAsked = false }},
		"complete instead of failed": {ends, func(e *verdict.Evidence) { edit(e, failed, func(r *verdict.Review) { r.Status = "complete" }) }},
		"failed for no reason": {ends, func(e *verdict.Evidence) {
			edit(e, complete, func(r *verdict.Review) { r.Status, r.FailureCode, r.Message = "failed", "internal", "Oops." })
		}},
		"failed without a sentence": {ends, func(e *verdict.Evidence) { edit(e, failed, func(r *verdict.Review) { r.Message = "" }) }},
		"many passing faults": {share, func(e *verdict.Evidence) {
			for _, id := range []string{complete, failed} {
				edit(e, id, func(r *verdict.Review) { r.Status, r.FailureCode = "failed", "scanner_unavailable" })
			}
		}},
		"a finding is missing": {findings, func(e *verdict.Evidence) { e.Stored.Findings[complete] = e.Stored.Findings[complete][:1] }},
		"a finding too many": {findings, func(e *verdict.Evidence) {
			e.Stored.Findings[complete] = append(e.Stored.Findings[complete], verdict.Finding{Position: 2})
		}},
		"a finding on another line":  {findings, func(e *verdict.Evidence) { e.Stored.Findings[complete][0].Line = 4 }},
		"a gap in the positions":     {findings, func(e *verdict.Evidence) { e.Stored.Findings[complete][1].Position = 5 }},
		"one fingerprint twice":      {findings, func(e *verdict.Evidence) { e.Stored.Findings[complete][1].Fingerprint = "f1" }},
		"findings of a failed one":   {findings, func(e *verdict.Evidence) { e.Stored.Findings[failed] = e.Stored.Findings[complete] }},
		"findings of nothing":        {findings, func(e *verdict.Evidence) { e.Stored.Findings["rev_gone"] = e.Stored.Findings[complete] }},
		"not readable":               {shown, func(e *verdict.Evidence) { delete(e.Shown, complete) }},
		"shown in another state":     {shown, func(e *verdict.Evidence) { e.Shown[failed] = clients.Review{Status: "queued"} }},
		"shown without its findings": {shown, func(e *verdict.Evidence) { e.Shown[complete] = clients.Review{Status: "complete", Total: 2} }},
		"a summary that miscounts": {shown, func(e *verdict.Evidence) {
			r := e.Shown[complete]
			r.Total = 3
			e.Shown[complete] = r
		}},
		"seen complete, then failed":  {seen, func(e *verdict.Evidence) { e.Records[1].Final, e.Records[1].Failure = "complete", "" }},
		"failed for another reason":   {seen, func(e *verdict.Evidence) { e.Records[1].Failure = "scanner_unavailable" }},
		"a count that is left":        {counts, func(e *verdict.Evidence) { e.Stored.Organizations["o"] = verdict.Counts{Running: 1} }},
		"a row that is not counted":   {counts, func(e *verdict.Evidence) { e.Stored.Organizations["o"] = verdict.Counts{RowsQueued: 1} }},
		"a 500":                       {complaints, func(e *verdict.Evidence) { e.Complaints = []clients.Complaint{{Key: "k1", Text: "500"}} }},
		"a panic":                     {panics, func(e *verdict.Evidence) { e.Strange = []string{"panic: oh"} }},
		"a process":                   {left, func(e *verdict.Evidence) { e.Left.Processes = []string{"git"} }},
		"a file":                      {left, func(e *verdict.Evidence) { e.Left.Files = []string{"tmp_pack"} }},
		"goroutines":                  {left, func(e *verdict.Evidence) { e.Left.Grown = []string{"server 0"} }},
		"no transitions of any of it": {twice, func(e *verdict.Evidence) { e.Stored.Transitions = []verdict.Transition{} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := good()
			bad.spoil(e)
			noticed := false
			for _, r := range verdict.Check(e) {
				if len(r.Invariant) >= len(bad.invariant) && r.Invariant[:len(bad.invariant)] == bad.invariant {
					noticed = true
					assert.Positive(t, r.Broken)
					require.NotEmpty(t, r.Texts)
				}
			}
			assert.True(t, noticed, "there is such an invariant")
		})
	}
}

// TestUnansweredCreation is a review that was made though its client, at the
// end of the run, never learned of it.
func TestUnansweredCreation(t *testing.T) {
	t.Parallel()
	e := good()
	e.Stored.Reviews["rev_late"] = verdict.Review{Organization: "o", Repo: "o/r", Number: 1, Status: "canceled"}
	e.Stored.Keys[verdict.Key{Organization: "o", Key: "k4"}] = "rev_late"
	for _, r := range verdict.Check(e) {
		if r.Invariant[:len("none too many")] == "none too many" {
			assert.Zero(t, r.Broken, r.Texts)
		}
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	m := verdict.Measure{Bound: time.Second}
	assert.Zero(t, m.Quantile(1))
	assert.False(t, m.Over())
	for i := range 100 {
		m.Add(time.Duration(100-i)*time.Millisecond, time.Duration(100-i).String())
	}
	assert.Equal(t, 50*time.Millisecond, m.Quantile(.5))
	assert.Equal(t, 99*time.Millisecond, m.Quantile(.99))
	assert.Equal(t, 100*time.Millisecond, m.Quantile(1))
	assert.Equal(t, "100ns", m.Note)
	assert.False(t, m.Over())
	m.Add(2*time.Second, "slow")
	assert.True(t, m.Over())
	assert.Equal(t, "slow", m.Note)
}
