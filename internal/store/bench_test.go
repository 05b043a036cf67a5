package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// These measure the store on databases that wait for the disk:
//
//	go test -run '^$' -bench . ./internal/store

// benchEach runs a benchmark with an empty database of each kind.
func benchEach(b *testing.B, bench func(b *testing.B, s *Store)) {
	b.Helper()
	b.Run("SQLite", func(b *testing.B) { bench(b, openAt(b, Options{Database: newDatabase(b)})) })
	b.Run("Postgres", func(b *testing.B) {
		c := pgtest.Start(b, pgtest.Durable())
		require.NoError(b, c.CreateDatabase(b.Context(), "bench"))
		bench(b, openAt(b, Options{Database: c.DSN("bench")}))
	})
}

// byClients does b.N calls, by several clients at once.
func byClients(b *testing.B, clients int, call func(ctx context.Context, client int) error) {
	b.Helper()
	b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
		var begun atomic.Int64
		g, ctx := errgroup.WithContext(b.Context())
		b.ResetTimer()

		for client := range clients {
			g.Go(func() error {
				for begun.Add(1) <= int64(b.N) {
					if err := call(ctx, client); err != nil {
						return err
					}
				}

				return nil
			})
		}
		require.NoError(b, g.Wait())
		b.StopTimer()
	})
}

func BenchmarkCreateReview(b *testing.B) {
	benchEach(b, func(b *testing.B, s *Store) {
		for _, clients := range []int{1, 16} {
			byClients(b, clients, func(ctx context.Context, _ int) error {
				_, err := s.CreateReview(ctx, newReview("acme", review.NewID()), 1<<30)
				return err
			})
		}
	})
}

// BenchmarkClaim claims and hands back: one review, a long queue, and many
// organizations.
func BenchmarkClaim(b *testing.B) {
	for _, c := range []struct{ orgs, each int }{{1, 1}, {1, 10_000}, {1_000, 10}} {
		b.Run(fmt.Sprintf("organizations=%d/queued=%d", c.orgs, c.each), func(b *testing.B) {
			benchEach(b, func(b *testing.B, s *Store) {
				for i := range c.orgs {
					sow(b, s, fmt.Sprintf("org%04d", i), review.Queued, c.each, 0)
				}

				for b.Loop() {
					claim, err := s.Claim(b.Context(), "worker", time.Minute)
					require.NoError(b, err)
					require.NoError(b, s.Release(b.Context(), *claim, 0))
				}
			})
		})
	}
}

// scanned finishes a new review with a result.
func scanned(b *testing.B, s *Store, o finding.Result) (id string) {
	b.Helper()
	id = review.NewID()
	_, err := s.CreateReview(b.Context(), newReview("acme", id), 10)
	require.NoError(b, err)
	c, err := s.Claim(b.Context(), "worker", time.Minute)
	require.NoError(b, err)

	b.StartTimer()
	require.NoError(b, s.Finish(b.Context(), *c, o))
	b.StopTimer()

	return id
}

// BenchmarkFinish stores results that are compared with the same.
func BenchmarkFinish(b *testing.B) {
	for _, n := range []int{10, review.MaxFindings} {
		b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
			benchEach(b, func(b *testing.B, s *Store) {
				o := manyFindings(n)
				b.ResetTimer()
				b.StopTimer()

				for range b.N {
					scanned(b, s, o)
				}
			})
		})
	}
}

func BenchmarkGetReview(b *testing.B) {
	benchEach(b, func(b *testing.B, s *Store) {
		for _, n := range []int{0, 10, review.MaxFindings} {
			id := scanned(b, s, manyFindings(n))
			b.Run(fmt.Sprintf("findings=%d", n), func(b *testing.B) {
				for _, clients := range []int{1, 16} {
					byClients(b, clients, func(ctx context.Context, _ int) error {
						_, err := s.GetReview(ctx, "acme", id)
						return err
					})
				}
			})
		}
	})
}
