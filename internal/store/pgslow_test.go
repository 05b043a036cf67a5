package store

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// slowLink is a way to a database on which each answer is late, and which
// counts the ways there and back.
type slowLink struct {
	trips atomic.Int64
	late  time.Duration
}

// to returns the address of a database by the link.
func (l *slowLink) to(t *testing.T, dsn string) string {
	t.Helper()
	_, rest, _ := strings.Cut(dsn, "@")
	server, _, _ := strings.Cut(rest, "/")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			var asking atomic.Bool
			all.Go(func() {
				defer far.Close()
				_, _ = io.Copy(far, tapped{near, func() { asking.Store(true) }})
			})
			all.Go(func() {
				defer near.Close()
				_, _ = io.Copy(near, tapped{far, func() {
					if asking.Swap(false) {
						l.trips.Add(1)
						<-time.After(l.late)
					}
				}})
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})

	return strings.Replace(dsn, server, listener.Addr().String(), 1)
}

// tapped calls heard whenever something was read.
type tapped struct {
	io.Reader
	heard func()
}

func (r tapped) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if n > 0 {
		r.heard()
	}

	return n, err
}

// TestLargestResultOverASlowLink stores the most that a review may have while
// the database is far away.
func TestLargestResultOverASlowLink(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t, pgtest.Options{TCP: true})
	require.NoError(t, c.CreateDatabase(t.Context(), "app"))
	link := &slowLink{late: 5 * time.Millisecond}
	near, s := openAt(t, Options{Database: c.TCPDSN("app")}), openAt(t, Options{Database: link.to(t, c.TCPDSN("app"))})
	_, err := near.CreateReview(t.Context(), newReview("acme", "rev_a"), 10)
	require.NoError(t, err)
	claim, err := near.Claim(t.Context(), "worker", time.Minute)
	require.NoError(t, err)
	o := manyFindings(review.MaxFindings)
	for i := range review.MaxFindings {
		o.Skips = append(o.Skips, finding.Skip{File: fmt.Sprintf("vendor/\xff/%d.bin", i), Reason: "binary"})
	}
	before := link.trips.Load()
	require.NoError(t, s.Finish(t.Context(), *claim, o))
	assert.Less(t, link.trips.Load()-before, int64(20), "ways to the database and back")
	r, err := near.GetReview(t.Context(), "acme", "rev_a")
	require.NoError(t, err)
	assert.Equal(t, o.Findings, r.Findings)
	assert.Equal(t, o.Skips, r.Skips)
}

// TestLeasesWaitForNobody has somebody be in the middle of a change of one
// review, as the store of a large result is: the leases of all others are
// prolonged and reaped, and the one in question is not taken for lost.
func TestLeasesWaitForNobody(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := openAt(t, Options{Database: pgtest.New(t), Now: clock.Now})
	const lease = 20 * time.Second
	var beats []review.Heartbeat
	for _, id := range []string{"rev_a", "rev_b", "rev_c"} {
		_, err := s.CreateReview(t.Context(), newReview("acme", id), 10)
		require.NoError(t, err)
		c, err := s.Claim(t.Context(), "worker", lease)
		require.NoError(t, err)
		require.Equal(t, id, c.ReviewID)
		beats = append(beats, review.Heartbeat{Claim: *c, Progress: review.Progress{FilesDone: 1, FilesTotal: 2}})
	}
	_, err := s.CancelReview(t.Context(), "acme", "rev_c")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	lock := func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE reviews SET summary = summary WHERE id = 'rev_a'`)
		return err
	}
	clock.Advance(lease / 2)
	require.NoError(t, during(t, s, of("acme"), slowly(lock), func() {
		lost, err := s.Extend(ctx, beats, lease)
		require.NoError(t, err)
		assert.Equal(t, []review.Claim{beats[2].Claim}, lost, "canceled")
		r, err := s.GetReviewState(ctx, "acme", "rev_b")
		require.NoError(t, err)
		assert.Equal(t, beats[1].Progress, r.Progress)
	}))
	clock.Advance(lease)
	require.NoError(t, during(t, s, of("acme"), slowly(lock), func() {
		reaped, err := s.ReapExpired(ctx, 10)
		require.NoError(t, err)
		assert.Equal(t, []review.Reaped{{ReviewID: "rev_b", Status: review.Queued}}, reaped)
	}))
	reaped, err := s.ReapExpired(ctx, 10)
	require.NoError(t, err)
	assert.Equal(t, []review.Reaped{{ReviewID: "rev_a", Status: review.Queued}}, reaped, "its lease was not prolonged")
	assertCounts(t, s)
}

// TestHeartbeatsChangeNoIndex holds that no index has what each second changes:
// every version of a row would be in all indexes then.
func TestHeartbeatsChangeNoIndex(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	var all, changing []string
	require.NoError(t, s.pools.reader.SelectContext(t.Context(), &all,
		`SELECT indexdef FROM pg_indexes WHERE tablename = 'reviews'`))
	require.NotEmpty(t, all)
	for _, index := range all {
		for _, column := range []string{"lease_expires", "files_done", "files_total"} {
			if strings.Contains(index, column) {
				changing = append(changing, index)
			}
		}
	}
	assert.Empty(t, changing)
}
