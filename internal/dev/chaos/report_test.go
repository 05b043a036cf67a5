package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/dev/chaos/faults"
)

// at is a moment of a made-up run, in seconds.
func at(seconds float64) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

func happened(kind faults.Kind, server int, from, to float64) faults.Done {
	return faults.Done{Event: faults.Event{Kind: kind, Server: server, At: time.Duration(from * 1e9)}, Began: at(from), Ended: at(to)}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	kill := happened(faults.KillServer, 1, 10, 10.5)
	crash := happened(faults.CrashDatabase, 0, 10, 12)
	for name, test := range map[string]struct {
		after  faults.Done
		server int
		took   float64
		others []faults.Done
		row    string // that the sample is in; "" for none
		want   float64
	}{
		"the next server answers":        {kill, anyServer, 0.2, nil, "API answers after a lost server", 0.2},
		"the killed one does":            {kill, 1, 0.7, nil, "the killed server itself answers", 0.7},
		"it is killed again":             {kill, 1, 3, []faults.Done{happened(faults.KillServer, 1, 12, 12.5)}, "", 0},
		"another one is killed":          {kill, 1, 3, []faults.Done{happened(faults.KillServer, 0, 12, 12.5)}, "the killed server itself answers", 3},
		"the next one is away, too":      {kill, anyServer, 3, []faults.Done{happened(faults.CutDatabase, 0, 9, 14)}, "the same while no server was left", 3},
		"it was away before":             {kill, anyServer, 3, []faults.Done{happened(faults.CutDatabase, 0, 5, 9)}, "API answers after a lost server", 3},
		"a scanner is killed":            {kill, anyServer, 3, []faults.Done{happened(faults.KillScanner, 0, 11, 12)}, "API answers after a lost server", 3},
		"the database is away meanwhile": {kill, anyServer, 4, []faults.Done{happened(faults.CrashDatabase, 0, 11, 13)}, "requests succeed after the database is back", 1},
		"the database is back":           {crash, 0, 0.4, []faults.Done{crash}, "requests succeed after the database is back", 0.4},
		"the database goes again":        {crash, 0, 4, []faults.Done{crash, happened(faults.CrashDatabase, 0, 13, 14)}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &run{probes: []probe{{after: test.after, server: test.server, began: at(10), took: time.Duration(test.took * 1e9)}}}
			found := false
			for _, m := range r.requests(append(test.others, test.after)) {
				if m.Name != test.row {
					assert.Empty(t, m.Samples, m.Name)
					continue
				}
				found = true
				assert.InDelta(t, test.want, m.Quantile(1).Seconds(), 1e-6)
			}
			assert.Equal(t, test.row != "", found)
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	good := Report{Invariants: []Invariant{{Name: "none lost"}}, Recoveries: []Recovery{{Name: "API", Max: 1, Bound: 2}}}
	assert.True(t, good.Good())
	slow := good
	slow.Recoveries = []Recovery{{Name: "API", Max: 3, Bound: 2, Over: true, Longest: "kill server 1"}}
	assert.False(t, slow.Good())
	assert.True(t, slow.Held())
	broken := good
	broken.Invariants = []Invariant{{Name: "none lost", Broken: 1, Texts: []string{"rev_a is gone"}}}
	assert.False(t, broken.Good())
	assert.False(t, broken.Held())
	var text bytes.Buffer
	slow.print(&text)
	broken.print(&text)
	assert.Contains(t, text.String(), "OVER: kill server 1")
	assert.Contains(t, text.String(), "BROKEN none lost: rev_a is gone")
}
