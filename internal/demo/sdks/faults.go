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

// faults decides which attempts a proxy refuses: the first of every call over
// the rate limit, and the second as from a server that is away, where a client
// may try again then.
type faults struct {
	mu       sync.Mutex
	attempts map[string]int
	keys     []string // idempotency keys of attempts to start a review
	closed   bool     // for an hour
}

func newFaults() *faults { return &faults{attempts: map[string]int{}} }

// close refuses every call from now on.
func (f *faults) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

// next is what becomes of this attempt of a call. A client may repeat some
// calls only when it knows that nothing happened.
func (f *faults) next(call string, repeatable bool) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return hourOff
	}
	f.attempts[call]++
	switch {
	case f.attempts[call] == 1:
		return overRate
	case f.attempts[call] == 2 && repeatable:
		return away
	}
	return none
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
