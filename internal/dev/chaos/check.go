package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// verdict is what a run found.
type verdict struct {
	ended  map[string]int // reviews by state, and by the code of their failure
	faults map[string]int
	broken []string
	waits  []time.Duration // until each review was accepted, sorted; the time without a database included
}

func (e *evidence) judge() *verdict {
	v := &verdict{ended: map[string]int{}, faults: e.faults, broken: e.check()}
	for _, r := range e.reviews {
		v.ended[strings.TrimSpace(r.Status+" "+r.Code)]++
	}
	for _, rec := range e.records {
		v.waits = append(v.waits, rec.took)
	}
	slices.Sort(v.waits)
	return v
}

// mostWait is how long it may take until a review is accepted, whatever is lost meanwhile.
const mostWait = 15 * time.Second

// good tells whether every promise was kept.
func (v *verdict) good() bool {
	return len(v.broken) == 0 && (len(v.waits) == 0 || slices.Max(v.waits) <= mostWait)
}

// print writes the verdict for people.
func (v *verdict) print(w io.Writer) {
	fmt.Fprintf(w, "\nended: %v\nfaults: %v\n", v.ended, v.faults)
	if n := len(v.waits); n > 0 {
		fmt.Fprintf(w, "%d reviews were accepted, the middle one after %.2f s, the slowest after %.2f s; it may take %s\n",
			n, v.waits[n/2].Seconds(), v.waits[n-1].Seconds(), mostWait)
	}
	fmt.Fprintf(w, "%d promises broken\n", len(v.broken))
	for _, text := range v.broken {
		fmt.Fprintln(w, "BROKEN", text)
	}
}

// evidence is all that a verdict looks at: the database's rows and the clients' own records must tell the same story,
// and it must be one that prwarden promises.
type evidence struct {
	stored
	records     []*record
	shown       map[string]shown // every accepted review, as the API shows it at the end
	strange     []string         // what should not have been: answers, lines of logs, and what was left behind
	mostPassing float64          // share of reviews that may fail with a passing code
	faults      map[string]int   // by kind and place
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

	return append(b, e.strange...)
}

// checkAccepted holds that what was accepted is stored once, and that what is stored was accepted.
func (e *evidence) checkAccepted(b *broken) {
	owner := map[string]string{}
	for _, rec := range e.records {
		got := e.reviews[rec.id]
		switch {
		case rec.id == "":
			b.add("lost: the creation of %s was never answered", rec.key)
		case got.Org != rec.pull.organization || got.pull() != rec.pull.name():
			b.add("lost: %s was accepted for %s and is stored as %+v", rec.id, rec.pull.name(), got)
		case owner[rec.id] != "":
			b.add("twice: %s was accepted for %s and for %s", rec.id, owner[rec.id], rec.key)
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
	passed := 0
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
		}
	}

	if share := float64(passed) / float64(max(len(e.records), 1)); share > e.mostPassing {
		b.add("ends: %d reviews failed by passing faults, %.2f %%", passed, 100*share)
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
			b.add("shown: %s of %s has %d findings and counts %d, expected %d:\n%+v\n%+v",
				rec.id, r.pull(), len(got.Findings), counted, len(want), got.Findings, want)
		}
	}
}
