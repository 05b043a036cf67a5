package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/prwarden/prwarden/internal/dev/chaos/faults"
	"github.com/prwarden/prwarden/internal/dev/chaos/verdict"
)

// Report is what a run found.
type Report struct {
	Seed        uint64         `json:"seed"`
	Database    string         `json:"database"`
	Seconds     float64        `json:"seconds"`
	Accepted    int            `json:"accepted"`
	Ended       map[string]int `json:"ended"`  // by state
	Failed      map[string]int `json:"failed"` // by code
	CallsAgain  int            `json:"calls_made_again"`
	Faults      []string       `json:"faults"` // by kind
	Made        []Made         `json:"made"`   // each of them
	LeftOut     []string       `json:"left_out"`
	ErrorLines  map[string]int `json:"error_lines"` // log lines of level ERROR
	OwnFailures map[string]int `json:"own_failures"`
	Invariants  []Invariant    `json:"invariants"`
	Recoveries  []Recovery     `json:"recoveries"`
	LongestWait float64        `json:"longest_wait_seconds"` // of a client for an acceptance
}

// Made is a fault.
type Made struct {
	Fault   string    `json:"fault"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	Skipped string    `json:"skipped,omitempty"` // why it was left out
}

// Invariant is whether a promise was kept.
type Invariant struct {
	Name   string   `json:"name"`
	Broken int      `json:"broken"`
	Texts  []string `json:"texts,omitempty"`
}

// Recovery is how long something took to work again, in seconds.
type Recovery struct {
	Name    string  `json:"name"`
	Samples int     `json:"samples"`
	Median  float64 `json:"median"`
	P99     float64 `json:"p99"`
	Max     float64 `json:"max"`
	Bound   float64 `json:"bound,omitempty"`
	Longest string  `json:"longest,omitempty"`
	Over    bool    `json:"over"`
}

// Good tells whether every invariant held, and every bound.
func (r *Report) Good() bool {
	return r.Held() && !slices.ContainsFunc(r.Recoveries, func(r Recovery) bool { return r.Over })
}

// Held tells whether every invariant held.
func (r *Report) Held() bool {
	return !slices.ContainsFunc(r.Invariants, func(i Invariant) bool { return i.Broken > 0 })
}

func (r *run) report(e *verdict.Evidence, took time.Duration) *Report {
	accepted, _, again := r.pool.Counts()
	made := r.injector.Made()
	out := &Report{
		Seed: r.s.Schedule.Seed, Database: string(r.s.Database), Seconds: took.Seconds(), Accepted: accepted, CallsAgain: again,
		Ended: map[string]int{}, Failed: map[string]int{}, Faults: verdict.Tally(made), LeftOut: r.world.LeftOut,
		ErrorLines: r.world.Logs.Errors(), OwnFailures: map[string]int{},
	}
	for _, d := range made {
		out.Made = append(out.Made, Made{d.String(), d.Began, d.Ended, d.Skipped})
	}
	for _, row := range e.Stored.Reviews {
		out.Ended[row.Status]++
		if row.FailureCode != "" {
			out.Failed[row.FailureCode]++
		}
	}
	for _, rec := range e.Records {
		out.LongestWait = max(out.LongestWait, rec.Wait.Seconds())
	}
	for _, p := range r.world.Processes() {
		if _, failed := p.Lives(); failed > 0 {
			out.OwnFailures[p.Name] = failed
		}
	}
	for _, res := range verdict.Check(e) {
		out.Invariants = append(out.Invariants, Invariant{res.Invariant, res.Broken, res.Texts})
	}
	measures := r.requests(made)
	if e.Stored.Transitions != nil {
		measures = append(measures, verdict.ServerClaims(made, e.Stored.Transitions), verdict.ScannerScans(made, e.Stored.Transitions))
	}
	for _, m := range measures {
		out.Recoveries = append(out.Recoveries, Recovery{
			m.Name, len(m.Samples), m.Quantile(.5).Seconds(), m.Quantile(.99).Seconds(), m.Quantile(1).Seconds(), m.Bound.Seconds(), m.Note, m.Over(),
		})
	}
	return out
}

// requests measures when the API answered again. While the database was away
// no server could: such a time counts from when it was back, for the bound on
// that. While the other server was away, too, or the same was killed again, the
// time is told, and the bound is not for it. A probe of one server that
// something else hit meanwhile says nothing.
func (r *run) requests(made []faults.Done) []verdict.Measure {
	api := verdict.Measure{Name: "API answers after a lost server", Bound: verdict.APIBound}
	both := verdict.Measure{Name: "the same while no server was left"}
	own := verdict.Measure{Name: "the killed server itself answers"}
	database := verdict.Measure{Name: "requests succeed after the database is back", Bound: verdict.DatabaseBound}
	for _, p := range r.probes {
		hit := disturbed(p, made)
		if p.err != nil || p.server != anyServer && hit {
			continue
		}
		note := fmt.Sprintf("%s at %s", p.after.Event, p.after.Began.Format("15:04:05.000"))
		end := p.began.Add(p.took)
		back := databaseBack(made, p.began, end)
		switch {
		case takesDatabase(p.after.Kind):
			database.Add(p.took, note)
		case hit:
			both.Add(p.took, note)
		case !back.IsZero():
			database.Add(max(end.Sub(back), 0), note)
		case p.server != anyServer:
			own.Add(p.took, note)
		default:
			api.Add(p.took, note)
		}
	}
	return []verdict.Measure{api, both, own, database}
}

// disturbed tells whether another fault hit the server of a probe, or any
// server of a probe of all.
func disturbed(p probe, made []faults.Done) bool {
	end := p.began.Add(p.took)
	return slices.ContainsFunc(made, func(d faults.Done) bool {
		if d.Skipped != "" || d.Event == p.after.Event || !d.Began.Before(end) || !d.Ended.After(p.began) {
			return false
		}
		switch d.Kind {
		case faults.KillServer, faults.FreezeServer, faults.CutDatabase, faults.HoldDatabase:
			return p.server == anyServer || d.Server == p.server
		default:
			return takesDatabase(d.Kind) && takesDatabase(p.after.Kind)
		}
	})
}

// takesDatabase tells whether nothing can be stored during a fault.
func takesDatabase(k faults.Kind) bool { return k == faults.CrashDatabase || k == faults.FillDatabase }

// databaseBack is when the last outage of the database that overlaps a time was
// over; zero when there was none.
func databaseBack(made []faults.Done, from, to time.Time) time.Time {
	var back time.Time
	for _, d := range made {
		if takesDatabase(d.Kind) && d.Began.Before(to) && d.Ended.After(from) && d.Ended.After(back) {
			back = d.Ended
		}
	}
	return back
}

// print writes the report for people.
func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "\nseed %d on %s: %d reviews accepted in %.0f s; %d calls made again, the longest wait for an acceptance %.1f s\n",
		r.Seed, r.Database, r.Accepted, r.Seconds, r.CallsAgain, r.LongestWait)
	fmt.Fprintf(w, "ended: %v; failed: %v\nfaults: %v\n", r.Ended, r.Failed, r.Faults)
	for _, text := range r.LeftOut {
		fmt.Fprintf(w, "left out: %s\n", text)
	}
	if len(r.ErrorLines) > 0 {
		fmt.Fprintf(w, "log lines of level ERROR: %v\n", r.ErrorLines)
	}
	if len(r.OwnFailures) > 0 {
		fmt.Fprintf(w, "lives that ended by themselves with an error: %v\n", r.OwnFailures)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nRecovery\tsamples\tmedian\tp99\tmax\tbound\t\n")
	for _, m := range r.Recoveries {
		bound, verdict := "", ""
		if m.Bound > 0 {
			bound = fmt.Sprintf("%.0f s", m.Bound)
		}
		if m.Over {
			verdict = "OVER: " + m.Longest
		}
		fmt.Fprintf(t, "%s\t%d\t%.2f s\t%.2f s\t%.2f s\t%s\t%s\n", m.Name, m.Samples, m.Median, m.P99, m.Max, bound, verdict)
	}
	_ = t.Flush()
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nInvariant\tbroken\n")
	for _, i := range r.Invariants {
		fmt.Fprintf(t, "%s\t%d\n", i.Name, i.Broken)
	}
	_ = t.Flush()
	for _, i := range r.Invariants {
		for _, text := range i.Texts {
			fmt.Fprintf(w, "BROKEN %s: %s\n", i.Name, text)
		}
	}
}
