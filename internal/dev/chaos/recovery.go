package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// measure is how long it took, each time, until something worked again.
type measure struct {
	name    string
	bound   time.Duration
	samples []time.Duration
	longest string // what the longest one was
}

func (m *measure) add(d time.Duration, what string) {
	if len(m.samples) == 0 || d > slices.Max(m.samples) {
		m.longest = what
	}
	m.samples = append(m.samples, d)
}

// over tells whether a sample is over the bound.
func (m *measure) over() bool { return len(m.samples) > 0 && slices.Max(m.samples) > m.bound }

// probe is how long a request took to succeed after a fault.
type probe struct {
	after fault
	began time.Time
	took  time.Duration
}

// The promises of a recovery.
const (
	apiBound      = 2 * time.Second  // until a server answers after one was lost
	databaseBound = 5 * time.Second  // until requests succeed after the database is back
	serverBound   = 25 * time.Second // until the reviews of a lost server run again
	scannerBound  = 30 * time.Second // until the scans of a lost scanner run again
)

// clock is how times are told, as the logs of processes do.
const clock = "15:04:05.000"

// recoveries holds a run to its bounds. A request that another fault disturbed, too, says nothing and is left out.
func recoveries(made []fault, probes []probe, transitions []transition) []measure {
	api := measure{name: "API answers after a lost server", bound: apiBound}
	database := measure{name: "requests succeed after the database is back", bound: databaseBound}
	for _, p := range probes {
		m, what := &api, fmt.Sprintf("%s %d at %s", p.after.kind, p.after.server, p.after.began.Format(clock))
		if takesDatabase(p.after) {
			m = &database
		}
		disturbed := slices.ContainsFunc(made, func(f fault) bool {
			sameServer := m == &api || f.server == p.after.server
			return !f.began.Equal(p.after.began) && (takesDatabase(f) || losesServer(f) && sameServer) &&
				f.began.Before(p.began.Add(p.took)) && f.ended.Add(apiBound).After(p.began)
		})
		if !disturbed {
			m.add(p.took, what)
		}
	}

	server := measure{name: "reviews of a lost server run again", bound: serverBound}
	scanner := measure{name: "scans of a lost scanner run again", bound: scannerBound}
	for _, c := range claims(transitions) {
		if c.ended.is != "queued" || c.again.IsZero() {
			continue // it ended, or was never claimed again
		}
		for _, f := range made {
			if f.began.Before(c.began) || f.began.After(time.UnixMicro(c.ended.at)) {
				continue
			}
			took, what := present(made, f.began, c.again), fmt.Sprintf("%s at %s, %s", f.kind, f.began.Format(clock), c.review)
			if losesServer(f) && strings.Contains(c.worker, fmt.Sprintf("-%d/", f.pid)) {
				server.add(took, what)
				break
			}
			if losesScanner(f) && c.ended.failures > c.failures {
				scanner.add(took, what)
				break
			}
		}
	}
	return []measure{api, database, server, scanner}
}

func takesDatabase(f fault) bool { return f.kind == crashDatabase || f.kind == fillDisk }

func losesServer(f fault) bool {
	return slices.Contains([]kind{killServer, freezeServer, cutDatabase, holdDatabase}, f.kind)
}

func losesScanner(f fault) bool {
	return slices.Contains([]kind{killScanner, freezeScanner, cutScanner, holdScanner}, f.kind)
}

// present is how much of a time the database was there: without it nobody can do anything.
func present(made []fault, from, to time.Time) time.Duration {
	left := to.Sub(from)
	for _, f := range made {
		begin, end := f.began, f.ended
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		if takesDatabase(f) && end.After(begin) {
			left -= end.Sub(begin)
		}
	}
	return left
}

// claim is one attempt at a review: from its claim to its next transition.
type claim struct {
	transition
	began time.Time
	ended transition
	again time.Time // when the review was claimed next; zero for never
}

// claims finds the attempts in the transitions.
func claims(all []transition) []claim {
	var out []claim
	open := map[string]int{} // of a review: its last claim
	for _, t := range all {
		last, claimed := open[t.review]
		if claimed && out[last].ended.at == 0 {
			out[last].ended = t
		}
		if t.is != "in_progress" {
			continue
		}
		if claimed {
			out[last].again = time.UnixMicro(t.at)
		}
		open[t.review] = len(out)
		out = append(out, claim{transition: t, began: time.UnixMicro(t.at)})
	}
	return out
}
