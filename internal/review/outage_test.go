package review_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
)

// outage is a store that is away for a while after it was first asked, and in
// which the review is complete afterwards.
type outage struct {
	review.Reviews
	began time.Time
	from  time.Duration
	lasts time.Duration
}

func (o *outage) GetReviewState(context.Context, string, string) (review.Review, error) {
	if o.began.IsZero() {
		o.began = time.Now()
	}
	switch at := time.Since(o.began); {
	case at < o.from:
		return review.Review{ID: "rev_a", Status: review.InProgress, Attempt: 1}, nil
	case at < o.from+o.lasts:
		return review.Review{}, errs.New(errs.Unavailable, errs.ReasonUnavailable, "away")
	}
	return review.Review{ID: "rev_a", Status: review.Complete, Attempt: 1}, nil
}

// A watch stays while the store is away for a moment, with keep-alives, and
// ends when that goes on.
func TestWatchWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lasts time.Duration
		kept  bool
	}{
		"for a second": {time.Second, true}, "for 28 seconds": {28 * time.Second, true}, "for long": {time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &outage{from: 5 * time.Second, lasts: c.lasts}
				var statuses []review.Status
				alive := 0
				err := review.NewService(store, nil, review.NewNotifier(), 1).Watch(t.Context(), org, "rev_a", func(u review.Update) error {
					if u.KeepAlive {
						alive++
					} else {
						statuses = append(statuses, u.Review.Status)
					}
					return nil
				})
				if !c.kept {
					assert.Equal(t, errs.Unavailable, errs.KindOf(err))
					assert.Equal(t, []review.Status{review.InProgress}, statuses)
					assert.InDelta(t, 35, time.Since(store.began).Seconds(), 2)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, []review.Status{review.InProgress, review.Complete}, statuses)
				assert.Equal(t, int((5*time.Second+c.lasts)/(15*time.Second)), alive)
			})
		})
	}
}
