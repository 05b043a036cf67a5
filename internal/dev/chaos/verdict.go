package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// verdict is what a run found.
type verdict struct {
	title      string
	ended      map[string]int // reviews by state, and by the code of their failure
	faults     map[string]int
	broken     []string
	recoveries []measure
}

func (e *evidence) judge() *verdict {
	v := &verdict{
		ended: map[string]int{}, faults: map[string]int{}, broken: e.check(), recoveries: e.recoveries(),
	}
	for _, r := range e.reviews {
		v.ended[strings.TrimSpace(r.Status+" "+r.Code)]++
	}
	for _, f := range e.made {
		v.faults[f.String()]++
	}
	return v
}

// good tells whether every promise was kept, and every bound.
func (v *verdict) good() bool {
	return len(v.broken) == 0 && !slices.ContainsFunc(v.recoveries, measure.over)
}

// mostTexts bounds how many broken promises are told.
const mostTexts = 40

// print writes the verdict for people.
func (v *verdict) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s\nended: %v\nfaults: %v\n\n", v.title, v.ended, v.faults)

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "Recovery\tsamples\tmedian\tmax\tbound")
	for _, m := range v.recoveries {
		slices.Sort(m.samples)
		over := ""
		if m.over() {
			over = "  OVER"
		}
		fmt.Fprintf(t, "%s\t%d\t%.2f s\t%.2f s\t%s%s\n",
			m.name, len(m.samples), m.at(len(m.samples)/2), m.at(len(m.samples)-1), m.bound, over)
	}
	_ = t.Flush() // to the terminal

	fmt.Fprintf(w, "\n%d promises broken\n", len(v.broken))
	for _, text := range v.broken[:min(len(v.broken), mostTexts)] {
		fmt.Fprintln(w, "BROKEN", text)
	}
}

// measure is how long it took, each time, until something worked again.
type measure struct {
	name    string
	bound   time.Duration
	samples []time.Duration
}

// at is a sample in seconds, 0 when there is none.
func (m measure) at(i int) float64 {
	if len(m.samples) == 0 {
		return 0
	}
	return m.samples[i].Seconds()
}

// over tells whether a sample is over the bound.
func (m measure) over() bool { return len(m.samples) > 0 && slices.Max(m.samples) > m.bound }

// recoveries holds a run to its bounds. What several faults disturbed says nothing and is left out.
func (e *evidence) recoveries() []measure {
	api := measure{name: "API answers after a lost server", bound: 2 * time.Second}
	database := measure{name: "requests succeed after the database is back", bound: 5 * time.Second}
	for _, p := range e.probes {
		end := p.began.Add(p.took)
		var lost []fault
		for _, f := range e.made {
			if (f.losesDatabase() || f.losesServer()) && f.began.Before(end) && f.ended.Add(api.bound).After(p.began) {
				lost = append(lost, f)
			}
		}
		switch {
		case len(lost) != 1:
		case lost[0].losesServer():
			api.samples = append(api.samples, p.took)
		default:
			database.samples = append(database.samples, max(0, end.Sub(lost[0].ended)))
		}
	}
	server, scanner := e.claimsAgain()
	return []measure{api, database, server, scanner}
}

// claim is the last attempt at a review.
type claim struct {
	transition
	requeued transition // the attempt ended without a result
}

// claimsAgain measures how long it took from the loss of a server or scanner until its reviews were claimed again.
func (e *evidence) claimsAgain() (server, scanner measure) {
	server = measure{name: "reviews of a lost server run again", bound: 25 * time.Second}
	scanner = measure{name: "scans of a lost scanner run again", bound: 30 * time.Second}
	last := map[string]claim{}
	for _, t := range e.transitions {
		c := last[t.Review]
		switch {
		case t.Is == "queued":
			c.requeued = t
		case t.Is == "in_progress" && c.requeued.At > 0:
			e.measureAgain(c, time.UnixMicro(t.At), &server, &scanner)
			fallthrough
		default:
			c = claim{transition: t}
		}
		last[t.Review] = c
	}
	return server, scanner
}

func (e *evidence) measureAgain(c claim, again time.Time, server, scanner *measure) {
	for _, f := range e.made {
		if f.began.Before(time.UnixMicro(c.At)) || f.began.After(time.UnixMicro(c.requeued.At)) {
			continue
		}
		if f.on == "server" && strings.Contains(c.Worker, fmt.Sprintf("-%d/", f.pid)) {
			server.samples = append(server.samples, e.present(f.began, again))
			return
		}
		if f.on == "scanner" && c.requeued.Failures > c.Failures {
			scanner.samples = append(scanner.samples, e.present(f.began, again))
			return
		}
	}
}

// present is how much of a time the database was there: without it nobody can do anything.
func (e *evidence) present(from, to time.Time) time.Duration {
	left := to.Sub(from)
	for _, f := range e.made {
		begin, end := f.began, f.ended
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		if f.losesDatabase() && end.After(begin) {
			left -= end.Sub(begin)
		}
	}
	return left
}
