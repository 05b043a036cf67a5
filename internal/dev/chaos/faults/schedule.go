// Package faults makes a world fail: by a schedule that a seed decides.
package faults

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Kind is a kind of fault.
type Kind string

// The kinds of faults.
const (
	KillServer      Kind = "kill server"
	KillScanner     Kind = "kill scanner"
	CrashDatabase   Kind = "crash database" // immediate stop, or SIGKILL with Hard; then a start
	FreezeServer    Kind = "freeze server"  // SIGSTOP past the lease
	FreezeScanner   Kind = "freeze scanner" // likewise
	CutDatabase     Kind = "cut database"   // connections of a server to the database are reset
	HoldDatabase    Kind = "hold database"  // nothing passes between a server and the database
	CutScanner      Kind = "cut scanner"    // connections of a server to a scanner are reset
	HoldScanner     Kind = "hold scanner"   // nothing passes between a server and a scanner
	FillCache       Kind = "fill cache"     // the disk under a scanner's cache is full
	FillDatabase    Kind = "fill database"  // the disk under the SQLite database is full
	nothing         Kind = ""               // no such fault in this world
	partsOfSchedule      = 6                // streams of events, each with its own random numbers
	lease                = 20 * time.Second // of a claim: design.md section 5
	longestFreeze        = lease + 10*time.Second
	shortestFreeze       = lease + 5*time.Second
)

// Event is a fault of the schedule.
type Event struct {
	At     time.Duration // from the beginning
	Kind   Kind
	Server int           // index; of kinds that concern one
	Part   int           // index of the scanner; of kinds that concern one
	For    time.Duration // how long it lasts; 0 when it is over at once
	Hard   bool          // of CrashDatabase: SIGKILL; of cut and hold: connections are forgotten after it
}

// String says what happens, for people.
func (e Event) String() string {
	switch e.Kind {
	case KillServer, FreezeServer, CutDatabase, HoldDatabase:
		return fmt.Sprintf("%s %d for %s", e.Kind, e.Server, e.For)
	case KillScanner, FreezeScanner:
		return fmt.Sprintf("%s %d for %s", e.Kind, e.Part, e.For)
	case CutScanner, HoldScanner:
		return fmt.Sprintf("%s %d of server %d for %s", e.Kind, e.Part, e.Server, e.For)
	default:
		return fmt.Sprintf("%s for %s", e.Kind, e.For)
	}
}

// Options say what a schedule has. A time of 0 leaves its faults out.
type Options struct {
	Seed         uint64
	Servers      int
	Scanners     int
	KillEvery    time.Duration // between kills of a server or scanner
	CrashEvery   time.Duration // between crashes of the database
	FreezeEvery  time.Duration // between freezes
	CutEvery     time.Duration // between cuts of connections
	HoldEvery    time.Duration // between black holes
	FillEvery    time.Duration // between full disks
	FillDatabase bool          // the disk that fills is the database's, not the cache's
}

// Schedule yields the faults of a seed, in their order, without an end. The
// same options yield the same faults.
type Schedule struct {
	o       Options
	random  [partsOfSchedule]*rand.Rand
	pending [partsOfSchedule]Event
}

// NewSchedule returns a schedule at its beginning.
func NewSchedule(o Options) *Schedule {
	s := &Schedule{o: o}
	for i := range s.random {
		s.random[i] = rand.New(rand.NewPCG(o.Seed, uint64(i)))
		s.pending[i] = s.draw(i, 0)
	}
	return s
}

// Next returns the next fault; ok is false when the options have none.
func (s *Schedule) Next() (e Event, ok bool) {
	first := -1
	for i, p := range s.pending {
		if p.Kind != nothing && (first < 0 || p.At < s.pending[first].At) {
			first = i
		}
	}
	if first < 0 {
		return Event{}, false
	}
	e = s.pending[first]
	s.pending[first] = s.draw(first, e.At)
	return e, true
}

// draw makes the next event of a stream, after one at a time.
func (s *Schedule) draw(stream int, after time.Duration) Event {
	r := s.random[stream]
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(r.Int64N(int64(to-from))) }
	e := Event{Server: r.IntN(max(s.o.Servers, 1)), Part: r.IntN(max(s.o.Scanners, 1)), Hard: r.IntN(2) == 0}
	every := time.Duration(0)
	switch stream {
	case 0:
		every, e.Kind = s.o.KillEvery, KillScanner
		if r.IntN(s.o.Servers+s.o.Scanners) < s.o.Servers {
			e.Kind = KillServer
		}
	case 1:
		every, e.Kind = s.o.CrashEvery, CrashDatabase
		e.Hard = r.IntN(4) == 0
	case 2:
		every, e.Kind, e.For = s.o.FreezeEvery, FreezeScanner, between(shortestFreeze, longestFreeze)
		if r.IntN(2) == 0 && s.o.Servers > 1 {
			e.Kind = FreezeServer
		}
	case 3:
		every, e.Kind, e.For = s.o.CutEvery, CutScanner, between(time.Millisecond, 3*time.Second)
		if r.IntN(2) == 0 {
			e.Kind = CutDatabase
		}
	case 4:
		every, e.Kind, e.For = s.o.HoldEvery, HoldScanner, between(2*time.Second, 20*time.Second)
		if r.IntN(2) == 0 && s.o.Servers > 1 {
			e.Kind = HoldDatabase
		}
	case 5:
		every, e.Kind, e.For = s.o.FillEvery, FillCache, between(3*time.Second, 8*time.Second)
		if s.o.FillDatabase {
			e.Kind = FillDatabase
		}
	}
	if every == 0 {
		return Event{}
	}
	// Kills and crashes come as regularly as they are promised, the others
	// about so often.
	if e.At = after + every; stream > 1 {
		e.At = after + between(every*3/4, every*5/4)
	}
	if after == 0 && stream == 1 {
		e.At = every / 2 // not at the same time as a kill
	}
	return e
}
