package review_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// refusing makes a dispatcher that allows nothing, and moves the clock along
// after each attempt.
func refusing(b *bundle) func(*review.DispatcherOptions) {
	return func(o *review.DispatcherOptions) {
		o.Name = "refusing"
		o.Allowed = func(string, string) bool { return false }
		o.OnEnd = func(review.Status, string, time.Duration) { b.clock.advance(10 * time.Second) }
	}
}

// A review whose repository was taken out of the configuration while it waited
// is never scanned, and fails after ten minutes.
func TestRepositoryThatIsNotAllowedAnyMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(t)
	began := b.clock.Now()
	b.dispatcher(t, refusing(b))
	r := b.await(t, id)
	assert.Equal(t, review.Failed, r.Status)
	require.NotNil(t, r.Failure)
	assert.Equal(t, "repository_not_allowed", r.Failure.Code)
	assert.Contains(t, r.Failure.Message, "acme/api")
	assert.Equal(t, 60, r.Attempt)
	assert.GreaterOrEqual(t, r.CompletedAt.Sub(began), 590*time.Second)
	assert.Empty(t, b.scanner.calls)
}

// Of two servers one was not told yet that the repository was added.
func TestRepositoryThatAnotherServerAllows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(t)
	handedBack := make(chan struct{}, 1)
	var attempts atomic.Int32
	b.dispatcher(t, func(o *review.DispatcherOptions) {
		refusing(b)(o)
		end := o.OnEnd
		o.OnEnd = func(s review.Status, code string, d time.Duration) {
			assert.Equal(t, review.Queued, s)
			assert.Equal(t, "repository_not_allowed", code)
			end(s, code, d)
			select {
			case handedBack <- struct{}{}:
			default:
			}
			if attempts.Add(1) >= 3 {
				<-t.Context().Done() // or it claims it 60 times before the other one does
			}
		}
	})
	done(t, handedBack, "the first attempt")
	b.dispatcher(t, nil)
	b.scanner.next(t).end(finding.Result{}, nil)
	assert.Equal(t, review.Complete, b.await(t, id).Status)
}
