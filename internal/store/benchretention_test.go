package store

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/review"
)

// BenchmarkRequestsBesidePurge deletes 100,000 reviews with 20 findings each as
// a server does, and reports what requests take meanwhile, beside what they take
// when nothing is deleted. The figures in docs/benchmarks.md,
// "Retention and upkeep", are from it:
//
//	go test -run '^$' -bench BesidePurge -benchtime 1x -timeout 60m ./internal/store
func BenchmarkRequestsBesidePurge(b *testing.B) {
	const reviews, findings = 100_000, 20
	for name, database := range map[string]func(b *testing.B) string{
		"SQLite": func(b *testing.B) string { return newDatabase(b) },
		"Postgres": func(b *testing.B) string {
			c := pgtest.Start(b, pgtest.Options{Durable: true})
			require.NoError(b, c.CreateDatabase(b.Context(), "prwarden"))
			return c.DSN("prwarden")
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := openAt(b, Options{Database: database(b)})
			fillEnded(b, s, "old", reviews, findings)
			_, err := s.CreateReview(b.Context(), newReview("acme", "rev_read"), 1)
			require.NoError(b, err)
			c, err := s.Claim(b.Context(), "worker", time.Minute)
			require.NoError(b, err)
			require.NoError(b, s.Finish(b.Context(), *c, manyFindings(findings)))

			b.ResetTimer()
			quiet := measureRequests(b, s, time.After(20*time.Second))
			deleted, done := 0, make(chan time.Time)
			began := time.Now()
			loop := review.NewRetention(s, review.RetentionOptions{
				Keep: 180 * 24 * time.Hour, Every: time.Millisecond,
				OnPurged: func(d review.Deleted) {
					if deleted += d.Reviews; deleted == reviews && d.Reviews > 0 {
						close(done)
					}
				},
			})
			loop.Start()
			busy := measureRequests(b, s, done)
			took := time.Since(began)
			require.NoError(b, loop.Stop(b.Context()))
			b.ReportMetric(took.Seconds(), "s-purging")
			for what, times := range map[string][2][]time.Duration{"get": {quiet.get, busy.get}, "create": {quiet.create, busy.create}} {
				for i, when := range []string{"quiet", "purging"} {
					slices.Sort(times[i])
					at := func(share float64) float64 {
						return times[i][int(share*float64(len(times[i])-1))].Seconds() * 1000
					}
					b.ReportMetric(at(.5), "ms-"+what+"-p50-"+when)
					b.ReportMetric(at(.99), "ms-"+what+"-p99-"+when)
				}
			}
		})
	}
}

// requestTimes are what calls took.
type requestTimes struct{ get, create []time.Duration }

// measureRequests reads a review a hundred times a second and creates fifty,
// until end tells.
func measureRequests(b *testing.B, s *Store, end <-chan time.Time) requestTimes {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	every := func(d time.Duration, into *[]time.Duration, call func() error) func() {
		return func() {
			tick := time.NewTicker(d)
			defer tick.Stop()
			for ctx.Err() == nil {
				<-tick.C
				began := time.Now()
				assert.NoError(b, call())
				*into = append(*into, time.Since(began))
			}
		}
	}
	var out requestTimes
	var all sync.WaitGroup
	all.Go(every(10*time.Millisecond, &out.get, func() error {
		_, err := s.GetReview(b.Context(), "acme", "rev_read")
		return err
	}))
	all.Go(every(20*time.Millisecond, &out.create, func() error {
		_, err := s.CreateReview(b.Context(), newReview("acme", review.NewID()), 1<<30)
		return err
	}))
	<-end
	stop()
	all.Wait()
	return out
}
