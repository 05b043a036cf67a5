package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
)

// Bounds of what is asked of a store.
const (
	// askTimeout bounds one call, and also how long a caller waits for its
	// answer.
	askTimeout = 2 * time.Second
	// askMost is how many questions one call holds.
	askMost = 500
	// askWaiting is how many may wait for the next calls; more are refused.
	askWaiting = 5_000
	// failedPause is the least time between the beginnings of two calls when
	// the first failed: questions come often, and a store that is away should
	// not be asked as often.
	failedPause = 50 * time.Millisecond
)

// combiner answers the questions of many callers by few calls of ask. While
// one call is under way, questions gather for the next, so a store is asked at
// most once at a time however many callers there are, and a caller who is
// alone doesn't wait. An answer is always to a call that began after its
// question came. Nothing runs while nobody asks.
type combiner[Q, A any] struct {
	// ask answers questions in their order. An error is that of all of them.
	ask   func(ctx context.Context, questions []Q) ([]A, error)
	pause time.Duration // least time between the beginnings of two calls

	mu      sync.Mutex
	waiting []*question[Q, A]
	running bool
	next    time.Time // when the next call may begin
}

type question[Q, A any] struct {
	text   Q
	answer A
	err    error
	done   chan struct{}
}

func newCombiner[Q, A any](pause time.Duration, ask func(context.Context, []Q) ([]A, error)) *combiner[Q, A] {
	return &combiner[Q, A]{ask: ask, pause: pause}
}

// do returns the answer to a question: within askTimeout, or Unavailable.
func (c *combiner[Q, A]) do(ctx context.Context, text Q) (none A, err error) {
	q := &question[Q, A]{text: text, done: make(chan struct{})}
	c.mu.Lock()
	if len(c.waiting) >= askWaiting {
		c.mu.Unlock()
		return none, away(errors.New("too many questions wait for the store"))
	}
	c.waiting = append(c.waiting, q)
	if !c.running {
		c.running = true
		go c.run()
	}
	c.mu.Unlock()
	timer := time.NewTimer(askTimeout)
	defer timer.Stop()
	select {
	case <-q.done:
		return q.answer, q.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		return none, away(errors.New("the store did not answer in time"))
	}
}

// run makes calls until no question is left.
func (c *combiner[Q, A]) run() {
	for {
		c.mu.Lock()
		if len(c.waiting) == 0 {
			c.waiting, c.running = nil, false
			c.mu.Unlock()
			return
		}
		wait := time.Until(c.next)
		c.mu.Unlock()
		if wait > 0 {
			<-time.After(wait)
		}
		c.mu.Lock()
		n := min(len(c.waiting), askMost)
		batch := c.waiting[:n:n]
		c.waiting = c.waiting[n:]
		c.mu.Unlock()

		began := time.Now()
		pause := c.pause
		if !c.call(batch) {
			pause = max(pause, failedPause)
		}
		c.mu.Lock()
		c.next = began.Add(pause)
		c.mu.Unlock()
	}
}

// call makes one call and tells everybody; false when it failed.
func (c *combiner[Q, A]) call(batch []*question[Q, A]) bool {
	texts := make([]Q, len(batch))
	for i, q := range batch {
		texts[i] = q.text
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	answers, err := c.ask(ctx, texts)
	switch {
	case err != nil && ctx.Err() != nil:
		err = away(err) // our own limit of time, not the callers'
	case err == nil && len(answers) != len(batch):
		err = errors.New("a store must answer every question")
	}
	for i, q := range batch {
		if err != nil {
			q.err = err
		} else {
			q.answer = answers[i]
		}
		close(q.done)
	}
	return err == nil
}

// away is the error while a store can't be asked.
func away(cause error) error {
	e := errs.New(
		errs.Unavailable, errs.ReasonUnavailable, "The server can't look at keys and limits right now; try again.",
	)
	e.RetryAfter = 2 * time.Second
	e.Err = cause
	return e
}
