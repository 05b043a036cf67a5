package main

import (
	"fmt"
	"slices"
)

// evidence is all that a verdict looks at: the database's rows and the clients' own records must tell the same story,
// and it must be one that prwarden promises.
type evidence struct {
	stored
	pulls       map[pullName]pull
	records     []record
	complaints  []string
	shown       map[string]shown // every accepted review, as the API shows it at the end
	completed   map[string]int   // by review: how often a server logged that its scan ended complete
	strange     []string         // lines of processes that are no log lines
	left        []string         // processes and files that should be gone
	mostPassing float64          // share of reviews that may fail with a passing code
}

// invariant is a promise. check calls broken for each place where it is not kept.
type invariant struct {
	name  string
	check func(e *evidence, broken report)
}

type report func(format string, args ...any)

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
		{"the API shows the expected findings", checkShown},
		{"what a client saw end stays as it was", checkSeen},
		{"an organization's counts are those of its rows", checkCounts},
		{"every answer is one that the API promises", func(e *evidence, broken report) { list(e.complaints, broken) }},
		{"no process panics", func(e *evidence, broken report) { list(e.strange, broken) }},
		{"nothing is left behind", func(e *evidence, broken report) { list(e.left, broken) }},
	}
}

// passing are the codes that the faults of a run may fail a review with.
func passing(code string) bool {
	return code == "scanner_unavailable" || code == "worker_lost" || code == "cache_full"
}

func list(texts []string, broken report) {
	for _, text := range texts {
		broken("%s", text)
	}
}

func checkLost(e *evidence, broken report) {
	for _, rec := range e.records {
		got, ok := e.reviews[rec.id]
		switch {
		case rec.id == "":
		case !ok:
			broken("%s of %s was accepted and is not stored", rec.id, rec.key)
		case got.organization != rec.pull.organization || got.repo != rec.pull.repo || got.number != rec.pull.number:
			broken("%s was accepted for %s#%d and is stored as %+v", rec.id, rec.pull.repo, rec.pull.number, got)
		}
	}
}

func checkStuck(e *evidence, broken report) {
	for id, r := range e.reviews {
		if !final(r.status) {
			broken("%s is %s at the end", id, r.status)
		}
	}
}

func checkTwice(e *evidence, broken report) {
	for id, n := range e.completed {
		if n > 1 {
			broken("%s: servers logged %d complete scans", id, n)
		}
	}
	if e.transitions == nil {
		return
	}

	last := map[string]transition{}
	for _, t := range e.transitions {
		before := last[t.review]
		attempt := before.attempt
		if t.is == "in_progress" {
			attempt++
		}
		switch {
		case final(before.is):
			broken("%s was %s and became %s", t.review, before.is, t.is)
		case t.was != before.is:
			broken("%s was %q and changed from %q", t.review, before.is, t.was)
		case t.attempt != attempt:
			broken("%s became %s with attempt %d after %d", t.review, t.is, t.attempt, before.attempt)
		}
		last[t.review] = t
	}
	for id, r := range e.reviews {
		if last[id].is != r.status {
			broken("%s is %s and its last change was to %q", id, r.status, last[id].is)
		}
	}
}

func checkStrangers(e *evidence, broken report) {
	known := map[string]bool{}
	for _, rec := range e.records {
		known[rec.id] = true
		if rec.id == "" {
			// It was made, and the run ended before the client got the answer.
			known[e.keys[rec.pull.organization+" "+rec.key]] = true
		}
	}
	for id := range e.reviews {
		if !known[id] {
			broken("%s is stored and was accepted by nobody", id)
		}
	}
}

func checkKeys(e *evidence, broken report) {
	owner := map[string]string{}
	for _, rec := range e.records {
		if rec.id == "" {
			continue
		}
		if other, taken := owner[rec.id]; taken {
			broken("%s was accepted for %s and for %s", rec.id, other, rec.key)
		}
		owner[rec.id] = rec.key
		if id := e.keys[rec.pull.organization+" "+rec.key]; id != rec.id {
			broken("%s was accepted as %s and is stored with %q", rec.key, rec.id, id)
		}
	}
}

func checkEnds(e *evidence, broken report) {
	asked := map[string]bool{}
	for _, rec := range e.records {
		asked[rec.id] = rec.cancelAsked
	}
	for id, r := range e.reviews {
		want := e.pulls[pullName{r.repo, r.number}].failure
		switch {
		case r.status == "canceled" && !asked[id]:
			broken("%s is canceled and nobody asked for it", id)
		case r.status == "complete" && want != "":
			broken("%s of %s#%d is complete and must fail with %s", id, r.repo, r.number, want)
		case r.status == "failed" && r.message == "":
			broken("%s failed with %s and no sentence", id, r.code)
		case r.status == "failed" && r.code != want && !passing(r.code):
			broken("%s of %s#%d failed with %s (%s), expected %q", id, r.repo, r.number, r.code, r.message, want)
		}
	}
}

func checkShare(e *evidence, broken report) {
	n, byCode := 0, map[string]int{}
	for _, r := range e.reviews {
		if passing(r.code) {
			n++
			byCode[r.code]++
		}
	}
	if share := float64(n) / float64(max(len(e.reviews), 1)); share > e.mostPassing {
		broken("%d of %d reviews, %.2f %%: %v", n, len(e.reviews), 100*share, byCode)
	}
}

func checkShown(e *evidence, broken report) {
	for _, rec := range e.records {
		if rec.id == "" {
			continue
		}
		got, ok := e.shown[rec.id]
		r := e.reviews[rec.id]
		switch {
		case !ok:
			broken("%s could not be read", rec.id)
			continue
		case got.Status != r.status || got.Error.Code != r.code:
			broken("%s is shown as %s %s and stored as %s %s", rec.id, got.Status, got.Error.Code, r.status, r.code)
		}

		var want []finding
		if got.Status == "complete" {
			want = rec.pull.findings
		}
		if text := differ(got, want); text != "" {
			broken("%s of %s#%d: %s", rec.id, rec.pull.repo, rec.pull.number, text)
		}
	}
}

// differ says how a review differs from the findings that it must have, in their order; "" when it does not.
func differ(got shown, want []finding) string {
	var found []finding
	prints, counted := map[string]bool{}, 0
	for _, f := range got.Findings {
		if prints[f.Fingerprint] {
			return "the fingerprint " + f.Fingerprint + " twice"
		}
		prints[f.Fingerprint] = true
		found = append(found, f.finding)
	}
	for _, n := range got.Summary {
		counted += n
	}
	if counted != len(want) {
		return fmt.Sprintf("the summary counts %d findings, expected %d", counted, len(want))
	}
	if slices.Equal(found, want) {
		return ""
	}

	for i := range min(len(found), len(want)) {
		if found[i] != want[i] {
			return fmt.Sprintf("finding %d is %+v, expected %+v", i, found[i], want[i])
		}
	}
	return fmt.Sprintf("%d findings, expected %d", len(found), len(want))
}

func checkSeen(e *evidence, broken report) {
	for _, rec := range e.records {
		r := e.reviews[rec.id]
		if rec.final != "" && (rec.final != r.status || rec.failure != r.code) {
			broken("%s was seen %s %s and is %s %s", rec.id, rec.final, rec.failure, r.status, r.code)
		}
	}
}

func checkCounts(e *evidence, broken report) {
	for name, c := range e.counts {
		if c.queued != c.rowsQueued || c.running != c.rowsRunning {
			broken("%s: %+v", name, c)
		}
	}
}
