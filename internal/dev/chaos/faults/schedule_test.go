package faults_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/dev/chaos/faults"
)

func all() faults.Options {
	return faults.Options{
		Seed: 3, Servers: 2, Scanners: 3, KillEvery: 2 * time.Second, CrashEvery: 20 * time.Second, FreezeEvery: time.Minute,
		CutEvery: 7 * time.Second, HoldEvery: 25 * time.Second, FillEvery: 45 * time.Second,
	}
}

func draw(o faults.Options, n int) []faults.Event {
	s := faults.NewSchedule(o)
	var events []faults.Event
	for range n {
		e, ok := s.Next()
		if !ok {
			break
		}
		events = append(events, e)
	}
	return events
}

func TestSeedDecidesSchedule(t *testing.T) {
	t.Parallel()
	o := all()
	first := draw(o, 500)
	assert.Equal(t, first, draw(o, 500))
	o.Seed++
	assert.NotEqual(t, first, draw(o, 500))
}

func TestScheduleKeepsItsTimes(t *testing.T) {
	t.Parallel()
	events := draw(all(), 2_000)
	last, kills, crashes := time.Duration(0), time.Duration(0), time.Duration(0)
	seen := map[faults.Kind]int{}
	servers, scanners := map[int]int{}, map[int]int{}
	for _, e := range events {
		assert.GreaterOrEqual(t, e.At, last, "in order")
		last = e.At
		seen[e.Kind]++
		switch e.Kind {
		case faults.KillServer, faults.KillScanner:
			assert.Equal(t, 2*time.Second, e.At-kills)
			kills = e.At
			if e.Kind == faults.KillServer {
				servers[e.Server]++
			} else {
				scanners[e.Part]++
			}
		case faults.CrashDatabase:
			if crashes > 0 {
				assert.Equal(t, 20*time.Second, e.At-crashes)
			}
			crashes = e.At
		case faults.FreezeServer, faults.FreezeScanner:
			assert.Greater(t, e.For, 20*time.Second, "longer than a lease")
		}
		assert.NotEmpty(t, e.String())
	}
	for _, kind := range []faults.Kind{
		faults.KillServer, faults.KillScanner, faults.CrashDatabase, faults.FreezeServer, faults.FreezeScanner,
		faults.CutDatabase, faults.HoldDatabase, faults.CutScanner, faults.HoldScanner, faults.FillCache,
	} {
		assert.NotZero(t, seen[kind], kind)
	}
	assert.Len(t, servers, 2)
	assert.Len(t, scanners, 3)
}

func TestFaultsCanBeLeftOut(t *testing.T) {
	t.Parallel()
	assert.Empty(t, draw(faults.Options{Servers: 2, Scanners: 3}, 10))
	o := faults.Options{Servers: 1, Scanners: 3, FillEvery: time.Second, FillDatabase: true}
	for _, e := range draw(o, 10) {
		assert.Equal(t, faults.FillDatabase, e.Kind)
	}
}
