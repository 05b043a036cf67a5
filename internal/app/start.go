package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prwarden/prwarden/internal/store"
)

const (
	// databaseWait is how long a server waits at its start for a database that
	// can't be reached: after a power cut both start in any order.
	databaseWait = time.Minute
	// databasePause is the time between two tries, and databaseWords that
	// between two log lines.
	databasePause = time.Second
	databaseWords = 5 * time.Second
)

// whenThere makes a server by start, again and again for databaseWait while
// that fails because the database can't be reached.
func whenThere(ctx context.Context, log *slog.Logger, start func() (*Server, error)) (*Server, error) {
	began, logged := time.Now(), time.Time{}
	for {
		s, err := start()
		if err == nil {
			return s, nil
		}
		away := store.Unreachable(err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case away == nil:
			return nil, err
		case time.Since(began) >= databaseWait:
			return nil, fmt.Errorf("the database could not be reached for %s: %w", databaseWait, away)
		}
		if time.Since(logged) >= databaseWords {
			log.Warn("waiting for the database", "error", away)
			logged = time.Now()
		}
		select {
		case <-time.After(databasePause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
