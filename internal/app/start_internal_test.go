package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheDatabaseIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	away := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	synctest.Test(t, func(t *testing.T) {
		began, tries := time.Now(), 0
		_, err := whenThere(t.Context(), slog.New(slog.DiscardHandler), func() (*Server, error) {
			tries++
			return nil, fmt.Errorf("list rules: %w", away)
		})
		require.EqualError(t, err, "the database could not be reached for 1m0s: dial tcp: connection refused")
		assert.Equal(t, databaseWait, time.Since(began))
		assert.Greater(t, tries, 10)

		mistake := errors.New("a mistake")
		_, err = whenThere(t.Context(), slog.New(slog.DiscardHandler), func() (*Server, error) { return nil, mistake })
		require.Equal(t, mistake, err)

		ctx, cancel := context.WithCancel(t.Context())
		_, err = whenThere(ctx, slog.New(slog.DiscardHandler), func() (*Server, error) {
			cancel()
			return nil, away
		})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, databaseWait, time.Since(began), "nobody waits any more")
	})
}
