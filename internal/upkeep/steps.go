package upkeep

import (
	"context"
	"time"
)

// How long requests have the database to themselves after a step, as a multiple
// of what it took, and at least and at most.
const (
	pauseFactor = 4
	minPause    = 20 * time.Millisecond
	maxPause    = 5 * time.Second
)

// Steps takes steps until there is no more to do, one fails, or ctx ends, which
// is an error. In the pauses in between others get at the database: SQLite has
// no line in which they could wait for it.
func Steps(ctx context.Context, step func() (more bool, err error)) error {
	for {
		began := time.Now()
		more, err := step()
		if err != nil || !more {
			return err
		}
		if err := pause(ctx, min(max(pauseFactor*time.Since(began), minPause), maxPause)); err != nil {
			return err
		}
	}
}

// pause waits for d, or for the end of ctx, which is an error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
