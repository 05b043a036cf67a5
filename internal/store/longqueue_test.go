package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// TestLongQueueDelaysOthersByOneScan holds that an organization with 10,000
// waiting reviews, and all workers, keeps another one's review waiting for the
// end of one scan, whichever that is.
func TestLongQueueDelaysOthersByOneScan(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"sqlite": newDatabase, "postgres": pgtest.New} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openAt(t, Options{Database: database(t)})
			ctx := t.Context()
			const long, workers = 10_000, 4
			fill(t, s, "big", long)
			var running []review.Claim
			// next is what the worker does that is free next.
			next := func() string {
				t.Helper()
				if len(running) == workers {
					require.NoError(t, s.Finish(ctx, running[0], finding.Result{}))
					running = running[1:]
				}
				c, err := s.Claim(ctx, "worker", time.Minute)
				require.NoError(t, err)
				require.NotNil(t, c)
				running = append(running, *c)
				return c.Organization
			}
			for range 2 * workers {
				require.Equal(t, "big", next())
			}
			for _, id := range []string{"rev_one", "rev_two", "rev_three"} {
				_, err := s.CreateReview(ctx, newReview("small", id), 10)
				require.NoError(t, err)
				l, err := s.Load(ctx, "small", "small/shop")
				require.NoError(t, err)
				assert.LessOrEqual(t, l.Ahead, 3, "what the estimate reckons with")
				require.Equal(t, "small", next())
				for range workers {
					require.Equal(t, "big", next())
				}
			}
		})
	}
}
