package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/chaos/faults"
)

// Measure is how long it took, each time, until something worked again.
type Measure struct {
	Name    string
	Bound   time.Duration // 0 for one that is only told
	Samples []time.Duration
	Note    string // what the longest one was
}

// Over tells whether a sample is over the bound.
func (m Measure) Over() bool { return m.Bound > 0 && m.Quantile(1) > m.Bound }

// Quantile is the least sample that the share q, from 0 to 1, of them don't
// exceed; 0 without any.
func (m Measure) Quantile(q float64) time.Duration {
	if len(m.Samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(m.Samples))
	i := int(q*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// add adds a sample; note says which it was.
func (m *Measure) add(d time.Duration, note string) {
	if d > m.Quantile(1) || len(m.Samples) == 0 {
		m.Note = note
	}
	m.Samples = append(m.Samples, d)
}

// Add adds a sample; note says which it was, if it becomes the longest.
func (m *Measure) Add(d time.Duration, note string) { m.add(d, note) }

// The promises of a recovery.
const (
	ServerClaimsBound = 25 * time.Second // until the reviews of a lost server run again
	ScannerBound      = 30 * time.Second // until the scans of a lost scanner run again
	APIBound          = 2 * time.Second  // until a server answers after one was lost
	DatabaseBound     = 5 * time.Second  // until requests succeed after the database is back
)

// claim is one attempt at a review: from its claim to its next transition.
type claim struct {
	review string
	began  time.Time
	worker string
	failed int        // scans that had ended in a passing fault before
	end    Transition // the next one; its time is 0 for none
	again  time.Time  // when the review was claimed next; zero for never
}

// claims finds the attempts in the transitions.
func claims(all []Transition) []claim {
	var out []claim
	open := make(map[string]int) // review: index of its last claim
	for _, t := range all {
		last, claimed := open[t.ReviewID]
		if claimed && out[last].end.At == 0 {
			out[last].end = t
		}
		if t.Is != "in_progress" {
			continue
		}
		if claimed {
			out[last].again = time.UnixMicro(t.At)
		}
		open[t.ReviewID] = len(out)
		out = append(out, claim{review: t.ReviewID, began: time.UnixMicro(t.At), worker: t.Worker, failed: t.Failures})
	}
	return out
}

// outages are the times during which the database was away.
func outages(made []faults.Done) []faults.Done {
	away := slices.DeleteFunc(slices.Clone(made), func(d faults.Done) bool { return d.Kind != faults.CrashDatabase || d.Skipped != "" })
	slices.SortFunc(away, func(a, b faults.Done) int { return a.Began.Compare(b.Began) })
	return away
}

// present is how much of a time the database was there, in which nobody can do
// anything without it. outages are in the order of their begin.
func present(from, to time.Time, outages []faults.Done) time.Duration {
	whole, counted := to.Sub(from), from
	for _, o := range outages {
		begin, end := o.Began, o.Ended
		if begin.Before(counted) {
			begin = counted
		}
		if end.After(to) {
			end = to
		}
		if end.After(begin) {
			whole -= end.Sub(begin)
			counted = end
		}
	}
	return whole
}

// ServerClaims measures, for each kill and freeze of a server, how long the
// reviews that it had claimed waited until they ran again, while the database
// was there. Those that had their
// end from somebody else meanwhile (canceled, ended at that moment) don't count.
func ServerClaims(made []faults.Done, all []Transition) Measure {
	m := Measure{Name: "reviews of a lost server run again", Bound: ServerClaimsBound}
	attempts, away := claims(all), outages(made)
	for _, d := range made {
		if d.Skipped != "" || d.Kind != faults.KillServer && d.Kind != faults.FreezeServer {
			continue
		}
		worker := fmt.Sprintf("-%d/", d.PID)
		for _, c := range attempts {
			if !strings.Contains(c.worker, worker) || c.began.After(d.Began) || c.end.At != 0 && time.UnixMicro(c.end.At).Before(d.Began) {
				continue
			}
			if c.again.IsZero() || c.end.Is != "queued" {
				continue
			}
			m.add(present(d.Began, c.again, away), fmt.Sprintf("%s at %s, %s, put back after %.1f s", d.Event, d.Began.Format(clock), c.review,
				time.UnixMicro(c.end.At).Sub(d.Began).Seconds()))
		}
	}
	return m
}

// clock is how notes tell times, as the processes' logs do.
const clock = "15:04:05.000"

// noticed is how long after a scanner is lost its scans may be given up: by
// then a silence is noticed.
const noticed = 25 * time.Second

// ScannerScans measures, for each kill and freeze of a scanner and each broken
// link to one, how long the scans that it hit waited until they ran again,
// while the database was there. A scan is taken to be hit by the first fault
// during it, which can only make the time longer: the database does not know
// which scanner a scan is on.
func ScannerScans(made []faults.Done, all []Transition) Measure {
	m := Measure{Name: "scans of a lost scanner run again", Bound: ScannerBound}
	lost := slices.DeleteFunc(slices.Clone(made), func(d faults.Done) bool {
		switch d.Kind {
		case faults.KillScanner, faults.FreezeScanner, faults.CutScanner, faults.HoldScanner:
			return d.Skipped != ""
		}
		return true
	})
	slices.SortFunc(lost, func(a, b faults.Done) int { return a.Began.Compare(b.Began) })
	away := outages(made)
	for _, c := range claims(all) {
		if c.end.Is != "queued" || c.end.Failures <= c.failed || c.again.IsZero() {
			continue // not put back by a fault, or not claimed again
		}
		ended := time.UnixMicro(c.end.At)
		for _, d := range lost {
			if d.Began.After(c.began) && d.Began.Before(ended) && ended.Sub(d.Began) < noticed {
				m.add(present(d.Began, c.again, away), fmt.Sprintf("%s at %s, %s", d.Event, d.Began.Format(clock), c.review))
				break
			}
		}
	}
	return m
}

// Tally counts faults by kind, made and left out.
func Tally(made []faults.Done) []string {
	type count struct{ made, skipped int }
	byKind := map[faults.Kind]count{}
	for _, d := range made {
		c := byKind[d.Kind]
		if d.Skipped == "" {
			c.made++
		} else {
			c.skipped++
		}
		byKind[d.Kind] = c
	}
	var out []string
	for kind, c := range byKind {
		text := fmt.Sprintf("%s %d", kind, c.made)
		if c.skipped > 0 {
			text += fmt.Sprintf(" (%d left out)", c.skipped)
		}
		out = append(out, text)
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}
