package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
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

func BenchmarkCreateReview(b *testing.B) {
	benchEach(b, func(b *testing.B, s *Store) {
		for b.Loop() {
			_, err := s.CreateReview(b.Context(), newReview("acme", review.NewID()), 1<<30)
			require.NoError(b, err)
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
					claim, err := s.Claim(b.Context(), review.Claiming{Worker: "worker", Lease: time.Minute})
					require.NoError(b, err)
					require.NoError(b, s.Release(b.Context(), *claim, 0))
				}
			})
		})
	}
}

// BenchmarkFinish stores results that are compared with the same, or with
// others, of a few hundred rules: then all counts for the numbers of rules.
func BenchmarkFinish(b *testing.B) {
	for _, n := range []int{10, review.MaxFindings} {
		for _, fresh := range []bool{false, true} {
			b.Run(fmt.Sprintf("findings=%d/new=%t", n, fresh), func(b *testing.B) {
				benchEach(b, func(b *testing.B, s *Store) {
					o := manyFindings(n)
					for i := range o.Findings {
						o.Findings[i].RuleID = fmt.Sprintf("custom/r%03d", i%400)
					}
					for round := 0; b.Loop(); round++ {
						b.StopTimer()
						for i := range o.Findings {
							if fresh {
								o.Findings[i].Fingerprint = fmt.Sprintf("%016x%016x", round, i)
							}
						}
						create(b, s, "acme", review.NewID())
						c := claim(b, s)
						b.StartTimer()
						require.NoError(b, s.Finish(b.Context(), c, o))
					}
				})
			})
		}
	}
}
