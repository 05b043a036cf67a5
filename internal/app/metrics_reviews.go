package app

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// observedReviews counts what the API does with reviews.
type observedReviews struct {
	*review.Service
	metrics *metrics
}

func (o observedReviews) Create(ctx context.Context, org string, in review.CreateInput) (review.Accepted, error) {
	a, err := o.Service.Create(ctx, org, in)
	if err == nil && !a.Replayed {
		o.metrics.created.Inc()
	}
	return a, err
}

func (o observedReviews) Cancel(ctx context.Context, org, id string) (review.Review, error) {
	r, err := o.Service.Cancel(ctx, org, id)
	if err == nil {
		o.metrics.ended.WithLabelValues(string(review.Canceled), "").Inc()
	}
	return r, err
}

func (o observedReviews) Watch(ctx context.Context, org, id string, send func(review.Update) error) error {
	o.metrics.watches.Inc()
	defer o.metrics.watches.Dec()
	return o.Service.Watch(ctx, org, id, send)
}

// observedQueue counts what the dispatcher does with reviews.
type observedQueue struct {
	review.Queue
	metrics *metrics
}

func (o observedQueue) Claim(ctx context.Context, worker string, lease time.Duration) (*review.Claim, error) {
	c, err := o.Queue.Claim(ctx, worker, lease)
	if c != nil && c.Attempt == 1 {
		o.metrics.wait.Observe(c.Waited.Seconds())
	}
	return c, err
}

func (o observedQueue) Finish(ctx context.Context, c review.Claim, outcome finding.Result) error {
	err := o.Queue.Finish(ctx, c, outcome)
	if err == nil {
		o.metrics.ended.WithLabelValues(string(review.Complete), "").Inc()
	}
	return err
}

func (o observedQueue) Fail(ctx context.Context, c review.Claim, f review.Failure) error {
	err := o.Queue.Fail(ctx, c, f)
	if err == nil {
		o.metrics.ended.WithLabelValues(string(review.Failed), o.metrics.failureCode.value(f.Code)).Inc()
	}
	return err
}

func (o observedQueue) ReapExpired(ctx context.Context, maxLost int) ([]review.Reaped, error) {
	reaped, err := o.Queue.ReapExpired(ctx, maxLost)
	o.metrics.reaped(reaped)
	return reaped, err
}

// reaped counts what was taken from lost workers.
func (m *metrics) reaped(all []review.Reaped) {
	m.leasesLost.WithLabelValues(seenByReaper).Add(float64(len(all)))
	for _, r := range all {
		if r.Status == review.Failed {
			m.ended.WithLabelValues(string(review.Failed), m.failureCode.value(review.CodeWorkerLost)).Inc()
		}
	}
}
