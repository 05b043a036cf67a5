package store

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the clock of a store: times that are stored, and whatever is
// compared with them, are read from it.
type clock struct {
	fixed func() time.Time // for tests; nil for the real one
	ahead atomic.Int64     // nanoseconds that the database's clock is ahead of this machine's, when last seen
}

// saw notes the database's time, which an answer has just brought.
func (c *clock) saw(now time.Time) { c.ahead.Store(int64(time.Until(now))) }

// now is the time on the database's clock, as far as is known.
func (c *clock) now() time.Time {
	if c.fixed != nil {
		return truncate(c.fixed())
	}
	return truncate(time.Now().Add(time.Duration(c.ahead.Load())))
}

// Now is the time on the clock that the stored times are from. Servers whose
// own clocks differ agree on it. It is this machine's clock on SQLite, and on
// Postgres as much ahead or behind that as the database's clock was in the last
// transaction: late by at most the time that the begin of that took.
func (s *Store) Now() time.Time { return s.clock.now() }

// setClock finds out what time it is in the database.
func (s *Store) setClock(ctx context.Context) error {
	if !s.dialect.clock {
		return nil
	}
	return s.read(ctx, "read the clock", everyone, func(*tx) error { return nil })
}
