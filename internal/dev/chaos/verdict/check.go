package verdict

import (
	"fmt"
	"slices"

	"github.com/prwarden/prwarden/internal/dev/chaos/clients"
	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
)

// invariant is a promise and how to check it. check calls broken for each place
// where it is not kept.
type invariant struct {
	name  string
	check func(e *Evidence, broken func(format string, args ...any))
}

// invariants are all of them, in the order of the report.
func invariants() []invariant {
	return []invariant{
		{"none lost: every accepted review is stored", checkLost},
		{"none stuck: every review has ended", checkStuck},
		{"none twice: a review ends once, and every claim has a new attempt", checkTwice},
		{"none too many: every review was accepted by a client", checkStrangers},
		{"a retried creation makes one review", checkKeys},
		{"complete, or failed with a reason, or canceled on request", checkEnds},
		{"few reviews fail by passing faults", checkShare},
		{"stored findings are the expected set", checkFindings},
		{"the API shows the expected findings", checkShown},
		{"what a client saw end stays as it was", checkSeen},
		{"an organization's counts are those of its rows", checkCounts},
		{"every answer is one that the API promises", checkComplaints},
		{"no process panics", checkStrange},
		{"nothing is left behind", checkLeft},
	}
}

// mostTexts bounds how many violations of one invariant are told.
const mostTexts = 10

// Result is whether one invariant held.
type Result struct {
	Invariant string
	Broken    int      // places where it does not hold
	Texts     []string // the first of them
}

// Check looks at all invariants and returns a result for each.
func Check(e *Evidence) []Result {
	var all []Result
	for _, i := range invariants() {
		r := Result{Invariant: i.name}
		i.check(e, func(format string, args ...any) {
			if r.Broken++; r.Broken <= mostTexts {
				r.Texts = append(r.Texts, fmt.Sprintf(format, args...))
			}
		})
		all = append(all, r)
	}
	return all
}

type report = func(format string, args ...any)

func checkLost(e *Evidence, broken report) {
	for _, rec := range e.Records {
		stored, ok := e.Stored.Reviews[rec.ID]
		switch {
		case rec.ID == "":
		case !ok:
			broken("%s of %s was accepted and is not stored", rec.ID, rec.Key)
		case stored.Organization != rec.Organization || stored.Repo != rec.Repo || stored.Number != rec.Number:
			broken("%s was accepted for %s %s#%d and is stored as %+v", rec.ID, rec.Organization, rec.Repo, rec.Number, stored)
		}
	}
}

func final(status string) bool {
	return status == "complete" || status == "failed" || status == "canceled"
}

func checkStuck(e *Evidence, broken report) {
	for id, r := range e.Stored.Reviews {
		if !final(r.Status) {
			broken("%s is %s at the end: %+v", id, r.Status, r)
		}
	}
}

func checkTwice(e *Evidence, broken report) {
	for id, n := range e.Completed {
		if n > 1 {
			broken("%s: servers logged %d complete scans", id, n)
		}
	}
	type past struct {
		status  string
		attempt int
	}
	was := make(map[string]past)
	for _, t := range e.Stored.Transitions {
		before, known := was[t.ReviewID]
		switch {
		case known && final(before.status):
			broken("%s was %s and became %s", t.ReviewID, before.status, t.Is)
		case t.Was != before.status:
			broken("%s was %q and changed from %q", t.ReviewID, before.status, t.Was)
		case t.Is == "in_progress" && t.Attempt != before.attempt+1:
			broken("%s was claimed with attempt %d after %d", t.ReviewID, t.Attempt, before.attempt)
		case t.Is != "in_progress" && t.Attempt != before.attempt:
			broken("%s became %s with attempt %d after %d", t.ReviewID, t.Is, t.Attempt, before.attempt)
		}
		was[t.ReviewID] = past{t.Is, t.Attempt}
	}
	if e.Stored.Transitions == nil {
		return
	}
	for id, r := range e.Stored.Reviews {
		if was[id].status != r.Status {
			broken("%s is %s and the last change was to %q", id, r.Status, was[id].status)
		}
	}
}

func checkStrangers(e *Evidence, broken report) {
	known := make(map[string]bool)
	unanswered := make(map[Key]bool)
	for _, rec := range e.Records {
		if rec.ID != "" {
			known[rec.ID] = true
		} else {
			unanswered[Key{rec.Organization, rec.Key}] = true
		}
	}
	for key, id := range e.Stored.Keys {
		if unanswered[key] {
			known[id] = true // made, and the run ended before the client got the answer
		}
	}
	for id := range e.Stored.Reviews {
		if !known[id] {
			broken("%s is stored and was accepted by nobody", id)
		}
	}
}

func checkKeys(e *Evidence, broken report) {
	owner := make(map[string]string)
	for _, rec := range e.Records {
		if rec.ID == "" {
			continue
		}
		if other, taken := owner[rec.ID]; taken {
			broken("%s was accepted for %s and for %s", rec.ID, other, rec.Key)
		}
		owner[rec.ID] = rec.Key
		if id := e.Stored.Keys[Key{rec.Organization, rec.Key}]; id != rec.ID {
			broken("%s was accepted as %s and is stored with %q", rec.Key, rec.ID, id)
		}
	}
}

// canceled are the reviews whose clients asked for it.
func (e *Evidence) canceled() map[string]bool {
	asked := make(map[string]bool)
	for _, rec := range e.Records {
		asked[rec.ID] = rec.CancelAsked
	}
	return asked
}

func checkEnds(e *Evidence, broken report) {
	asked := e.canceled()
	for id, r := range e.Stored.Reviews {
		pull, ok := e.Want(r.Repo, r.Number)
		switch {
		case !ok:
			broken("%s is of %s#%d, which nobody knows", id, r.Repo, r.Number)
		case r.Status == "canceled" && !asked[id]:
			broken("%s is canceled and nobody asked for it", id)
		case r.Status == "complete" && pull.Want.Failure != "":
			broken("%s of %s#%d is complete and must fail with %s", id, r.Repo, r.Number, pull.Want.Failure)
		case r.Status == "failed" && r.Message == "":
			broken("%s failed with %s and no sentence", id, r.FailureCode)
		case r.Status == "failed" && r.FailureCode != pull.Want.Failure && !slices.Contains(e.Passing, r.FailureCode):
			broken("%s of %s#%d failed with %s (%s), expected %q or a passing fault", id, r.Repo, r.Number, r.FailureCode, r.Message, pull.Want.Failure)
		}
	}
}

func checkShare(e *Evidence, broken report) {
	n, byCode := 0, map[string]int{}
	for _, r := range e.Stored.Reviews {
		if slices.Contains(e.Passing, r.FailureCode) {
			n++
			byCode[r.FailureCode]++
		}
	}
	if share := float64(n) / float64(max(len(e.Stored.Reviews), 1)); share > e.MostPassing {
		broken("%d of %d reviews, %.2f %%: %v", n, len(e.Stored.Reviews), 100*share, byCode)
	}
}

func checkFindings(e *Evidence, broken report) {
	for id, r := range e.Stored.Reviews {
		rows := e.Stored.Findings[id]
		if r.Status != "complete" {
			if len(rows) > 0 {
				broken("%s is %s and has %d findings", id, r.Status, len(rows))
			}
			continue
		}
		pull, _ := e.Want(r.Repo, r.Number)
		got := make([]pulls.Finding, 0, len(rows))
		prints := make(map[string]bool)
		for i, row := range rows {
			if row.Position != i {
				broken("%s: finding %d has position %d", id, i, row.Position)
			}
			if prints[row.Fingerprint] {
				broken("%s: fingerprint %s twice", id, row.Fingerprint)
			}
			prints[row.Fingerprint] = true
			got = append(got, row.Finding)
		}
		if d := differ(got, pull.Want.Findings); d != "" {
			broken("%s of %s#%d: %s", id, r.Repo, r.Number, d)
		}
	}
	for id := range e.Stored.Findings {
		if _, ok := e.Stored.Reviews[id]; !ok {
			broken("findings of %s, which is not stored", id)
		}
	}
}

// differ says how findings differ from what was expected; "" when they don't.
func differ(got, want []pulls.Finding) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%d findings of %d; missing %+v", len(got), len(want), want[i])
		case i >= len(want):
			return fmt.Sprintf("%d findings instead of %d; too many: %+v", len(got), len(want), got[i])
		case got[i] != want[i]:
			return fmt.Sprintf("finding %d of %d (expected %d) is %+v, expected %+v", i, len(got), len(want), got[i], want[i])
		}
	}
	return ""
}

func checkShown(e *Evidence, broken report) {
	for _, rec := range e.Records {
		if rec.ID == "" {
			continue
		}
		shown, ok := e.Shown[rec.ID]
		if !ok {
			broken("%s could not be read", rec.ID)
			continue
		}
		checkOne(e, rec, shown, broken)
	}
}

func checkOne(e *Evidence, rec clients.Record, shown clients.Review, broken report) {
	stored := e.Stored.Reviews[rec.ID]
	pull, _ := e.Want(rec.Repo, rec.Number)
	want := pull.Want.Findings
	if shown.Status != "complete" {
		want = nil
	}
	switch d := differ(shown.Findings, want); {
	case shown.Status != stored.Status || shown.Failure != stored.FailureCode:
		broken("%s is shown as %s %s and stored as %s %s", rec.ID, shown.Status, shown.Failure, stored.Status, stored.FailureCode)
	case d != "":
		broken("%s: %s", rec.ID, d)
	case shown.Total != len(want):
		broken("%s: the summary counts %d findings, expected %d", rec.ID, shown.Total, len(want))
	}
}

func checkSeen(e *Evidence, broken report) {
	for _, rec := range e.Records {
		stored := e.Stored.Reviews[rec.ID]
		if rec.Final != "" && (rec.Final != stored.Status || rec.Failure != "" && rec.Failure != stored.FailureCode) {
			broken("%s was seen %s %s and is %s %s", rec.ID, rec.Final, rec.Failure, stored.Status, stored.FailureCode)
		}
	}
}

func checkCounts(e *Evidence, broken report) {
	for name, c := range e.Stored.Organizations {
		if c.Queued != c.RowsQueued || c.Running != c.RowsRunning {
			broken("%s: %+v", name, c)
		}
	}
}

func checkComplaints(e *Evidence, broken report) {
	for _, c := range e.Complaints {
		broken("%s: %s", c.Key, c.Text)
	}
}

func checkStrange(e *Evidence, broken report) {
	for _, line := range e.Strange {
		broken("%s", line)
	}
}

func checkLeft(e *Evidence, broken report) {
	for _, p := range e.Left.Processes {
		broken("process: %s", p)
	}
	for _, f := range e.Left.Files {
		broken("file: %s", f)
	}
	for _, g := range e.Left.Grown {
		broken("%s", g)
	}
}
