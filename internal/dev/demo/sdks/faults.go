package main

import (
	"fmt"
	"slices"
	"sync"
)

// fault is what becomes of one attempt of a call.
type fault int

const (
	none     fault = iota // it goes on to the server
	overRate              // refused over the rate limit; a moment later it is not
	away                  // the server is away; a moment later it is back
	hourOff               // refused over the rate limit for an hour
)

// plan decides what becomes of an attempt, counted from 1, of a call. A client
// may repeat some calls only when it knows that nothing happened.
type plan func(call string, attempt int, repeatable bool) fault

// refuseFirst refuses the first attempt of every call over the rate limit, and
// the second as from a server that is away, where a client may try again then.
func refuseFirst(_ string, attempt int, repeatable bool) fault {
	switch {
	case attempt == 1:
		return overRate
	case attempt == 2 && repeatable:
		return away
	}
	return none
}

// refuseForAnHour refuses every call over the rate limit.
func refuseForAnHour(string, int, bool) fault { return hourOff }

// outageOf refuses one call, always, as from a server that is away.
func outageOf(name string) plan {
	return func(call string, _ int, _ bool) fault {
		if call == name {
			return away
		}
		return none
	}
}

// faults is what a proxy does, and saw.
type faults struct {
	mu       sync.Mutex
	plan     plan
	attempts map[string]int
	keys     []string // idempotency keys of attempts to start a review
}

func newFaults() *faults {
	f := &faults{}
	f.follow(refuseFirst)
	return f
}

// follow goes by another plan from now on, and forgets what it saw.
func (f *faults) follow(p plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan, f.attempts, f.keys = p, map[string]int{}, nil
}

// next is what becomes of this attempt of a call.
func (f *faults) next(call string, repeatable bool) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attempts[call]++
	return f.plan(call, f.attempts[call], repeatable)
}

// attemptsOf is how often a call was tried since the plan began.
func (f *faults) attemptsOf(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attempts[call]
}

func (f *faults) started(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = append(f.keys, key)
}

// check says whether a client that scanned once did as it should.
func (f *faults) check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.keys) != 3 || f.keys[0] == "" || len(slices.Compact(slices.Clone(f.keys))) != 1 {
		return fmt.Errorf("the three attempts to start a review have the idempotency keys %q, not one and the same", f.keys)
	}
	return nil
}
