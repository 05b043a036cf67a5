package main

import (
	"fmt"
	"slices"
)

// evidence is all that a verdict looks at: the database's rows and the clients' own records must tell the same story,
// and it must be one that prwarden promises.
type evidence struct {
	stored
	records     []*record
	complaints  []string
	shown       map[string]shown // every accepted review, as the API shows it at the end
	completed   map[string]int   // by review: how often a server logged that its scan ended complete
	strange     []string         // lines of processes that are no log lines
	left        []string         // processes and files that should be gone
	mostPassing float64          // share of reviews that may fail with a passing code
	made        []fault
	probes      []probe
}

// broken collects the places where a promise was not kept.
type broken []string

func (b *broken) add(format string, args ...any) { *b = append(*b, fmt.Sprintf(format, args...)) }

// check looks at all promises.
func (e *evidence) check() []string {
	var b broken
	e.checkAccepted(&b)
	e.checkHistory(&b)
	e.checkEnds(&b)
	e.checkShown(&b)

	for _, c := range e.counts {
		if c.Queued != c.RowsQueued || c.Running != c.RowsRun {
			b.add("counts: an organization's counts are not those of its rows: %+v", c)
		}
	}
	for _, text := range e.complaints {
		b.add("answers: not one that the API promises: %s", text)
	}
	for _, text := range e.strange {
		b.add("logs: a line is no JSON: %s", text)
	}
	for _, text := range e.left {
		b.add("left: %s", text)
	}
	return b
}

// checkAccepted holds that what was accepted is stored once, and that what is stored was accepted.
func (e *evidence) checkAccepted(b *broken) {
	owner := map[string]string{}
	for _, rec := range e.records {
		id := e.keys[rec.pull.organization+" "+rec.key]
		if rec.id == "" {
			owner[id] = rec.key // made, perhaps, and the run ended before the client got the answer
			continue
		}

		got, ok := e.reviews[rec.id]
		switch {
		case !ok:
			b.add("lost: %s of %s was accepted and is not stored", rec.id, rec.key)
		case got.Org != rec.pull.organization || got.pull() != rec.pull.name():
			b.add("lost: %s was accepted for %s and is stored as %+v", rec.id, rec.pull.name(), got)
		}
		if owner[rec.id] != "" || id != rec.id {
			b.add("twice: %s was accepted as %s and is stored with %q, and %q has it too", rec.key, rec.id, id, owner[rec.id])
		}
		owner[rec.id] = rec.key
	}
	for id := range e.reviews {
		if owner[id] == "" {
			b.add("twice: %s is stored and was accepted by nobody", id)
		}
	}
}

// checkHistory holds that each review ends once, that nothing follows, and that every claim has the next attempt.
func (e *evidence) checkHistory(b *broken) {
	for id, n := range e.completed {
		if n > 1 {
			b.add("twice: of %s servers logged %d complete scans", id, n)
		}
	}
	if e.transitions == nil {
		return
	}

	last := map[string]transition{}
	for _, t := range e.transitions {
		before := last[t.Review]
		attempt := before.Attempt
		if t.Is == "in_progress" {
			attempt++
		}
		switch {
		case final(before.Is):
			b.add("twice: %s was %s and became %s", t.Review, before.Is, t.Is)
		case t.Was != before.Is:
			b.add("twice: %s was %q and changed from %q", t.Review, before.Is, t.Was)
		case t.Attempt != attempt:
			b.add("twice: %s became %s with attempt %d after %d", t.Review, t.Is, t.Attempt, before.Attempt)
		}
		last[t.Review] = t
	}
	for id, r := range e.reviews {
		if last[id].Is != r.Status {
			b.add("twice: %s is %s and its last change was to %q", id, r.Status, last[id].Is)
		}
	}
}

// passing are the codes that the faults of a run may fail a review with.
func passing(code string) bool {
	return code == "scanner_unavailable" || code == "worker_lost" || code == "cache_full"
}

// checkEnds holds that each review is complete, failed as it must, or canceled on request; few fail by passing faults.
func (e *evidence) checkEnds(b *broken) {
	passed, byCode := 0, map[string]int{}
	for _, rec := range e.records {
		r, ok := e.reviews[rec.id]
		switch {
		case !ok:
			continue
		case !final(r.Status):
			b.add("stuck: %s is %s at the end", r.ID, r.Status)
		case rec.final != "" && (rec.final != r.Status || rec.failure != r.Code):
			b.add("ends: %s was seen %s %s and is %s %s", r.ID, rec.final, rec.failure, r.Status, r.Code)
		case r.Status == "canceled" && !rec.cancelAsked:
			b.add("ends: %s is canceled and nobody asked for it", r.ID)
		case r.Status == "complete" && rec.pull.failure != "",
			r.Status == "failed" && r.Code != rec.pull.failure && !passing(r.Code):
			b.add("ends: %s of %s is %s %s, expected %q", r.ID, r.pull(), r.Status, r.Code, rec.pull.failure)
		}
		if passing(r.Code) {
			passed++
			byCode[r.Code]++
		}
	}
	if share := float64(passed) / float64(max(len(e.records), 1)); share > e.mostPassing {
		b.add("ends: %d reviews failed by passing faults, %.2f %%: %v", passed, 100*share, byCode)
	}
}

// checkShown holds that the API shows what is stored, and the findings that were planted, in their order.
func (e *evidence) checkShown(b *broken) {
	for _, rec := range e.records {
		if rec.id == "" {
			continue
		}
		got, ok := e.shown[rec.id]
		r := e.reviews[rec.id]
		switch {
		case !ok:
			b.add("shown: %s could not be read", rec.id)
			continue
		case got.Status != r.Status || got.Error.Code != r.Code:
			b.add("shown: %s is %s %s and stored as %s %s", rec.id, got.Status, got.Error.Code, r.Status, r.Code)
		}

		var want []finding
		if got.Status == "complete" {
			want = rec.pull.findings
		}
		counted := 0
		for _, n := range got.Summary {
			counted += n
		}
		if counted != len(want) || !slices.Equal(got.Findings, want) {
			at := 0
			for at < min(len(got.Findings), len(want)) && got.Findings[at] == want[at] {
				at++
			}
			b.add("shown: %s of %s has %d findings and counts %d, expected %d; they differ from %+v",
				rec.id, r.pull(), len(got.Findings), counted, len(want), got.Findings[min(at, len(got.Findings)):min(at+1, len(got.Findings))])
		}
	}
}
