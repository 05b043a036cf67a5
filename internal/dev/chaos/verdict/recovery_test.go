package verdict_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/dev/chaos/faults"
	"github.com/prwarden/prwarden/internal/dev/chaos/verdict"
)

// at is a moment of the tests' runs, in seconds.
func at(seconds float64) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

func moved(seconds float64, id, was, is string, attempt, failures int, worker string) verdict.Transition {
	return verdict.Transition{
		At: at(seconds).UnixMicro(), ReviewID: id, Was: was, Is: is, Attempt: attempt, Failures: failures, Worker: worker,
	}
}

func fault(kind faults.Kind, began float64, pid int) faults.Done {
	return faults.Done{Event: faults.Event{Kind: kind}, Began: at(began), Ended: at(began + 1), PID: pid}
}

func TestServerClaims(t *testing.T) {
	t.Parallel()
	all := []verdict.Transition{
		moved(1, "a", "queued", "in_progress", 1, 0, "host-77/0"), // hit by the kill at 5
		moved(2, "b", "queued", "in_progress", 1, 0, "host-78/0"), // of another server
		moved(3, "c", "queued", "in_progress", 1, 0, "host-77/1"), // ends before
		moved(4, "c", "in_progress", "complete", 1, 0, "host-77/1"),
		moved(4, "d", "queued", "in_progress", 1, 0, "host-77/2"), // canceled while nobody works on it
		moved(6, "d", "in_progress", "canceled", 1, 0, "host-77/2"),
		moved(22, "a", "in_progress", "queued", 1, 0, "host-77/0"),
		moved(23, "a", "queued", "in_progress", 2, 0, "host-78/1"),
		moved(24, "a", "in_progress", "complete", 2, 0, "host-78/1"),
		moved(25, "b", "in_progress", "complete", 1, 0, "host-78/0"),
	}
	m := verdict.ServerClaims([]faults.Done{fault(faults.KillServer, 5, 77)}, all)
	assert.Equal(t, []time.Duration{18 * time.Second}, m.Samples)
	assert.False(t, m.Over())

	skipped := fault(faults.KillServer, 5, 77)
	skipped.Skipped = "frozen"
	assert.Empty(t, verdict.ServerClaims([]faults.Done{skipped, fault(faults.KillScanner, 5, 77)}, all).Samples)
}

func TestScannerScans(t *testing.T) {
	t.Parallel()
	all := []verdict.Transition{
		moved(1, "a", "queued", "in_progress", 1, 0, "w"), // hit at 5
		moved(5.1, "a", "in_progress", "queued", 1, 1, "w"),
		moved(7.2, "a", "queued", "in_progress", 2, 1, "w"),
		moved(4, "b", "queued", "in_progress", 1, 0, "w"), // handed back, which no fault caused
		moved(5.1, "b", "in_progress", "queued", 1, 0, "w"),
		moved(5.2, "b", "queued", "in_progress", 2, 0, "w"),
		moved(8, "c", "queued", "in_progress", 1, 0, "w"), // began after the fault
		moved(9, "c", "in_progress", "queued", 1, 1, "w"),
		moved(10, "c", "queued", "in_progress", 2, 1, "w"),
	}
	m := verdict.ScannerScans([]faults.Done{fault(faults.KillScanner, 5, 1), fault(faults.KillServer, 2, 1)}, all)
	assert.Equal(t, []time.Duration{2200 * time.Millisecond}, m.Samples)
	over := verdict.ScannerScans([]faults.Done{fault(faults.HoldScanner, 2, 1)}, []verdict.Transition{
		moved(1, "a", "queued", "in_progress", 1, 0, "w"),
		moved(20, "a", "in_progress", "queued", 1, 1, "w"),
		moved(33, "a", "queued", "in_progress", 2, 1, "w"),
	})
	assert.True(t, over.Over(), "31 seconds")
}

func TestTally(t *testing.T) {
	t.Parallel()
	skipped := fault(faults.KillScanner, 3, 1)
	skipped.Skipped = "frozen"
	assert.Equal(t, []string{"kill scanner 1 (1 left out)", "kill server 2"},
		verdict.Tally([]faults.Done{fault(faults.KillServer, 1, 1), fault(faults.KillServer, 2, 1), fault(faults.KillScanner, 3, 1), skipped}))
}

// TestOutagesDoNotCount takes off the time in which nobody could do anything.
func TestOutagesDoNotCount(t *testing.T) {
	t.Parallel()
	outage := func(from, to float64) faults.Done {
		return faults.Done{Event: faults.Event{Kind: faults.CrashDatabase}, Began: at(from), Ended: at(to)}
	}
	all := []verdict.Transition{
		moved(10, "a", "queued", "in_progress", 1, 0, "host-77/0"),
		moved(38, "a", "in_progress", "queued", 1, 0, "host-77/0"),
		moved(40, "a", "queued", "in_progress", 2, 0, "host-78/0"),
	}
	for name, test := range map[string]struct {
		outages []faults.Done
		want    time.Duration
	}{
		"none":            {nil, 28 * time.Second},
		"before":          {[]faults.Done{outage(1, 5)}, 28 * time.Second},
		"within":          {[]faults.Done{outage(15, 17)}, 26 * time.Second},
		"over the begin":  {[]faults.Done{outage(10, 14)}, 26 * time.Second},
		"over the end":    {[]faults.Done{outage(39, 45)}, 27 * time.Second},
		"that overlap":    {[]faults.Done{outage(18, 22), outage(15, 20)}, 21 * time.Second},
		"one in another":  {[]faults.Done{outage(15, 25), outage(16, 17)}, 18 * time.Second},
		"of the database": {[]faults.Done{outage(12, 40)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := verdict.ServerClaims(append(test.outages, fault(faults.KillServer, 12, 77)), all)
			assert.Equal(t, []time.Duration{test.want}, m.Samples)
		})
	}
}
