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
	"github.com/prwarden/prwarden/internal/review"
)

// These measure the store on a server that waits for the disk:
//
//	go test -run '^$' -bench Postgres ./internal/store

// newDurable opens an empty database on a Postgres server as in production.
func newDurable(b *testing.B) *Store {
	b.Helper()
	c := pgtest.Start(b, pgtest.Options{Durable: true})
	require.NoError(b, c.CreateDatabase(b.Context(), "bench"))
	return openAt(b, Options{Database: c.DSN("bench")})
}

// byClients does b.N calls, by several clients at once.
func byClients(b *testing.B, clients int, call func(ctx context.Context, client int) error) {
	b.Helper()
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
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

func BenchmarkPostgresCreate(b *testing.B) {
	s := newDurable(b)
	for _, orgs := range []int{1, 16} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("organizations=%d/clients=%d", orgs, clients), func(b *testing.B) {
				byClients(b, clients, func(ctx context.Context, client int) error {
					_, err := s.CreateReview(ctx, newReview(fmt.Sprint("org", client%orgs), review.NewID()), 1<<30)
					return err
				})
			})
		}
	}
}

// BenchmarkPostgresClaim claims and finishes with 10 findings.
func BenchmarkPostgresClaim(b *testing.B) {
	s := newDurable(b)
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			fillMany(b, s, 16, b.N/16+1)
			o := manyFindings(10)
			byClients(b, clients, func(ctx context.Context, client int) error {
				c, err := s.Claim(ctx, fmt.Sprint("worker", client), time.Minute)
				if err != nil {
					return err
				}
				if c == nil {
					return fmt.Errorf("nothing waits")
				}

				return s.Finish(ctx, *c, o)
			})
		})
	}
}

// fillMany queues n more reviews of each of several organizations.
func fillMany(tb testing.TB, s *Store, orgs, n int) {
	tb.Helper()
	for org := range orgs {
		name := fmt.Sprint("org", org)
		require.NoError(tb, s.write(tb.Context(), "fill", of(name), func(t *tx) error {
			_, err := t.exec(tb.Context(), `INSERT INTO organizations (name, queued) VALUES (?, ?)
				ON CONFLICT (name) DO UPDATE SET queued = organizations.queued + excluded.queued`, name, n)
			if err != nil {
				return err
			}

			return t.insertRows(tb.Context(), `reviews (id, organization, repo, pr_number, ruleset, status, created_at)`, 7, n,
				func(i int) []any {
					return []any{review.NewID(), name, "acme/shop", 7, "acme/shop", "queued",
						at(t.now.Add(time.Duration(i) * time.Microsecond))}
				})
		}))
	}
}

func BenchmarkPostgresGetReview(b *testing.B) {
	s := newDurable(b)
	for _, n := range []int{0, 10, review.MaxFindings} {
		_, err := s.CreateReview(b.Context(), newReview("acme", fmt.Sprint("rev_", n)), 10)
		require.NoError(b, err)
		c, err := s.Claim(b.Context(), "worker", time.Minute)
		require.NoError(b, err)
		require.NoError(b, s.Finish(b.Context(), *c, manyFindings(n)))
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("findings=%d/clients=%d", n, clients), func(b *testing.B) {
				byClients(b, clients, func(ctx context.Context, _ int) error {
					_, err := s.GetReview(ctx, "acme", fmt.Sprint("rev_", n))
					return err
				})
			})
		}
	}
}
