package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
)

// resetting forwards connections to target and resets them again and again,
// whatever they are at, until the test ends. It returns where it listens.
func resetting(t *testing.T, target string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	var open []net.Conn
	var all sync.WaitGroup
	end := func() {
		mu.Lock()
		defer mu.Unlock()

		for _, c := range open {
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
		open = nil
	}
	all.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(ctx, "tcp", target)
			if err != nil {
				_ = near.Close()
				continue
			}
			mu.Lock()
			open = append(open, near, far)
			mu.Unlock()
			if ctx.Err() != nil { // and nobody ends it any more
				end()
			}
			all.Go(func() { _, _ = io.Copy(far, near) })
			all.Go(func() { _, _ = io.Copy(near, far) })
		}
	})
	all.Go(func() {
		// Ever longer pauses, so that something gets through on any machine.
		for pause := 15 * time.Millisecond; ; pause += pause / 100 {
			select {
			case <-time.After(pause):
				end()
			case <-ctx.Done():
				_ = listener.Close()
				end()
				return
			}
		}
	})
	t.Cleanup(func() {
		stop()
		all.Wait()
		end()
	})

	return listener.Addr().String()
}

// TestResetConnectionsAreUnavailable breaks connections at every moment, also
// while they are made: callers may always try again.
func TestResetConnectionsAreUnavailable(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t, nil)
	require.NoError(t, c.CreateDatabase(t.Context(), "reset"))
	direct, err := Open(t.Context(), Options{Database: c.TCPDSN("reset")})
	require.NoError(t, err)
	require.NoError(t, direct.Migrate(t.Context()))
	require.NoError(t, direct.Close())

	u, err := url.Parse(c.TCPDSN("reset"))
	require.NoError(t, err)
	u.Host = resetting(t, u.Host)
	var s *Store
	require.Eventually(t, func() bool {
		s, err = Open(t.Context(), Options{Database: u.String()})
		return err == nil
	}, patience, time.Millisecond)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })

	var mu sync.Mutex
	good, unavailable := 0, 0
	const enough = 200 // resets, by which every step of making a connection was hit
	latest := time.Now().Add(5 * time.Minute)
	more := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return (good == 0 || unavailable < enough) && time.Now().Before(latest)
	}
	var callers sync.WaitGroup
	for i := range 6 {
		callers.Go(func() {
			for n := 0; more(); n++ {
				id := fmt.Sprintf("rev_%d_%d", i, n)
				_, created := s.CreateReview(t.Context(), review.NewReview{ID: id, Organization: "o", Repo: "o/r", PRNumber: 1,
					Ruleset: "o/r"}, 1_000_000)
				_, loaded := s.Load(t.Context(), "o", "o/r")
				mu.Lock()

				for _, err := range []error{created, loaded} {
					var known *errs.Error
					switch {
					case err == nil:
						good++
					case errors.As(err, &known) && known.Kind == errs.Unavailable:
						unavailable++
					default:
						assert.NoError(t, err, "neither done nor unavailable")
					}
				}
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	assert.Positive(t, good)
	assert.Positive(t, unavailable)
}
