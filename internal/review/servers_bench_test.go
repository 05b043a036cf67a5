package review_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/store"
)

// BenchmarkEnqueueToStart measures the time from the answer to a creation to
// the begin of its scan by an idle dispatcher: of the same process on SQLite,
// and of another server on a Postgres that waits for its disk, which hears of
// the creation or has to look.
func BenchmarkEnqueueToStart(b *testing.B) {
	cluster := pgtest.Start(b, pgtest.Options{Durable: true})
	for _, c := range []struct {
		name      string
		postgres  bool
		listening bool
	}{
		{"sqlite", false, false}, {"postgres", true, true}, {"postgres-without-notifications", true, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			database := "sqlite:" + filepath.Join(b.TempDir(), "bench.db")
			if c.postgres {
				require.NoError(b, cluster.CreateDatabase(b.Context(), "bench"))
				b.Cleanup(func() { require.NoError(b, cluster.DropDatabase(context.Background(), "bench")) })
				database = cluster.DSN("bench")
			}
			here := newBundle(b, store.Options{Database: database})
			there := here
			if c.postgres {
				there = newBundle(b, store.Options{Database: database})
			}
			if c.listening {
				listenTo(b, there)
			}
			d := review.NewDispatcher(there.store, there.scanner, rules{}, there.notifier, review.DispatcherOptions{Name: "bench"})
			d.Start()
			b.Cleanup(func() { require.NoError(b, d.Stop(context.Background())) })
			var took []time.Duration
			for b.Loop() {
				here.create(b)
				began := time.Now()
				scan := there.scanner.next(b)
				took = append(took, time.Since(began))
				scan.end(finding.Result{}, nil)
				// The worker is idle again, and asleep.
				time.Sleep(20 * time.Millisecond) //nolint:forbidigo // a pause of the load, which nothing waits for
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
		})
	}
}
