package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// record is what the client of one review knows of it.
type record struct {
	key            string // Idempotency-Key
	pull           pull
	id             string // as the creation was answered; "" when it never was
	cancelAsked    bool   // a cancellation was sent, whether or not it was answered
	final, failure string // the final state that was seen, and the code of a failure
}

// How often clients do something special, in a hundred reviews.
const (
	cancelPercent   = 4 // cancel
	replayPercent   = 6 // create again with the same key
	conflictPercent = 1 // create something else with the same key
	watchPercent    = 50
)

// Times of clients.
const (
	shortestPause = 20 * time.Millisecond
	longestPause  = 500 * time.Millisecond // also when a server asks for more: it may be back sooner
	pollPause     = 250 * time.Millisecond
	mostAtOnce    = 6 // reviews of one client that wait at the same time
)

// clients have reviews made as they should: each creation with an Idempotency-Key, again when a server can't be reached
// or asks for patience, and then at the next server. They write down what they were told.
type clients struct {
	servers []*caller
	tokens  map[string]string // of the organizations
	pulls   []pull
	seed    uint64

	mu         sync.Mutex
	records    []*record
	complaints []string // answers that the API does not promise
	retries    int
}

// run lets clients have reviews made until enough is closed, and then follow each to its end.
func (c *clients) run(ctx context.Context, n int, enough <-chan struct{}) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { c.work(ctx, enough, rand.New(rand.NewPCG(c.seed, uint64(i)))) })
	}
	all.Wait()
}

// work is one client: it has a few reviews made, then follows each.
func (c *clients) work(ctx context.Context, enough <-chan struct{}, r *rand.Rand) {
	for ctx.Err() == nil {
		select {
		case <-enough:
			return
		default:
		}

		var batch []*record
		for range 1 + r.IntN(mostAtOnce) {
			rec := c.newRecord(c.pulls[r.IntN(len(c.pulls))])
			if c.create(ctx, r, rec) {
				batch = append(batch, rec)
				c.annoy(ctx, r, rec)
			}
		}
		for _, rec := range batch {
			c.follow(ctx, r, rec)
		}
	}
}

func (c *clients) newRecord(p pull) *record {
	c.mu.Lock()
	defer c.mu.Unlock()
	rec := &record{key: fmt.Sprintf("chaos-%d", len(c.records)), pull: p}
	c.records = append(c.records, rec)
	return rec
}

// create has a review made, however long that takes. It returns false when ctx ended first.
func (c *clients) create(ctx context.Context, r *rand.Rand, rec *record) bool {
	var out created
	err := c.insist(ctx, r, func(ctx context.Context, s *caller) (err error) {
		out, err = s.create(ctx, c.tokens[rec.pull.organization], rec.key, rec.pull.repo, rec.pull.number)
		return err
	})
	if err == nil && (out.Status != "queued" || out.ID == "" || out.Estimated < 1) {
		err = fmt.Errorf("the answer is %+v", out)
	}
	c.complain(rec, "creation", err)
	c.change(func() { rec.id = out.ID })
	return err == nil
}

// annoy does what some clients do after a creation: send it again, send something else with the same key, cancel.
func (c *clients) annoy(ctx context.Context, r *rand.Rand, rec *record) {
	token := c.tokens[rec.pull.organization]
	if r.IntN(100) < replayPercent {
		err := c.insist(ctx, r, func(ctx context.Context, s *caller) error {
			again, err := s.create(ctx, token, rec.key, rec.pull.repo, rec.pull.number)
			if err == nil && again.ID != rec.id {
				err = fmt.Errorf("the answer is %+v", again)
			}
			return err
		})
		c.complain(rec, "repeated creation", err)
	}

	if r.IntN(100) < conflictPercent {
		err := c.insist(ctx, r, func(ctx context.Context, s *caller) error {
			_, err := s.create(ctx, token, rec.key, rec.pull.repo, rec.pull.number+1)
			return err
		})
		if !refusedWith(err, "IDEMPOTENCY_CONFLICT") && ctx.Err() == nil {
			c.complain(rec, "other creation with the same key", fmt.Errorf("not refused as a conflict: %w", err))
		}
	}

	if r.IntN(100) < cancelPercent {
		_ = pause(ctx, time.Duration(r.IntN(1000))*time.Millisecond)
		c.change(func() { rec.cancelAsked = true })
		err := c.insist(ctx, r, func(ctx context.Context, s *caller) error { return s.cancel(ctx, token, rec.id) })
		if !refusedWith(err, "REVIEW_FINISHED") {
			c.complain(rec, "cancellation", err)
		}
	}
}

// follow waits until the review has ended. Half of the clients watch first, all ask again and again.
func (c *clients) follow(ctx context.Context, r *rand.Rand, rec *record) {
	token, watched := c.tokens[rec.pull.organization], false
	if r.IntN(100) < watchPercent {
		watched = c.servers[r.IntN(len(c.servers))].watch(ctx, token, rec.id) == nil
	}
	for ctx.Err() == nil {
		var got shown
		err := c.insist(ctx, r, func(ctx context.Context, s *caller) (err error) {
			got, err = s.get(ctx, token, rec.id)
			return err
		})
		if err == nil && watched && !final(got.Status) {
			err = fmt.Errorf("it is %s after its watch ended in order", got.Status)
		}
		c.complain(rec, "reading", err)
		if err != nil {
			return
		}
		if final(got.Status) {
			c.change(func() { rec.final, rec.failure = got.Status, got.Error.Code })
			return
		}
		_ = pause(ctx, pollPause)
	}
}

// followRest follows the reviews that no client follows, which are those of probes. Nobody makes others meanwhile.
func (c *clients) followRest(ctx context.Context) {
	r := rand.New(rand.NewPCG(c.seed, 0))
	for _, rec := range c.records {
		if rec.id != "" && rec.final == "" {
			c.follow(ctx, r, rec)
		}
	}
}

// final are the states that never change again.
func final(status string) bool {
	return status == "complete" || status == "failed" || status == "canceled"
}

// insist makes a call of one server after the other until one answers it for good.
func (c *clients) insist(ctx context.Context, r *rand.Rand, call func(context.Context, *caller) error) error {
	wait := shortestPause
	for n := r.IntN(len(c.servers)); ; n++ {
		calling, cancel := context.WithTimeout(ctx, callTimeout)
		err := call(calling, c.servers[n%len(c.servers)])
		cancel()
		if !errors.Is(err, errTransient) {
			return err
		}

		c.change(func() { c.retries++ })
		if pause(ctx, wait) != nil {
			return ctx.Err()
		}
		wait = min(2*wait, longestPause)
	}
}

func (c *clients) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// complain writes down an answer that the API does not promise. The end of the run is none.
func (c *clients) complain(rec *record, what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		c.change(func() {
			c.complaints = append(c.complaints, fmt.Sprintf("%s of %s (%s): %v", what, rec.id, rec.key, err))
		})
	}
}

// counts says how many reviews were accepted, how many were seen to end, and how often a call was made again.
func (c *clients) counts() (accepted, ended, retries int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rec := range c.records {
		if rec.id != "" {
			accepted++
		}
		if rec.final != "" {
			ended++
		}
	}
	return accepted, ended, c.retries
}

// known are copies of the records, and the complaints.
func (c *clients) known() (records []record, complaints []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rec := range c.records {
		records = append(records, *rec)
	}
	return records, slices.Clone(c.complaints)
}

// readAll reads every accepted review from all servers in turn.
func (c *clients) readAll(ctx context.Context) map[string]shown {
	records, _ := c.known()
	all := map[string]shown{}
	r := rand.New(rand.NewPCG(c.seed, 0))
	for _, rec := range records {
		if rec.id == "" {
			continue
		}
		err := c.insist(ctx, r, func(ctx context.Context, s *caller) error {
			got, err := s.get(ctx, c.tokens[rec.pull.organization], rec.id)
			if err == nil {
				all[rec.id] = got
			}
			return err
		})
		if ctx.Err() != nil {
			return all // what could not be read shows in the verdict
		}
		c.complain(&rec, "last reading", err)
	}
	return all
}

// Times of a probe: a server that does not answer is left soon.
const (
	probeTimeout = 700 * time.Millisecond
	probePause   = 10 * time.Millisecond
)

// probe has a review made by one of some servers, each asked in turn, and returns how long that took from now.
func (c *clients) probe(ctx context.Context, servers []*caller) (time.Duration, error) {
	began, rec := time.Now(), c.newRecord(c.pulls[0])
	for n := 0; ; n++ {
		calling, cancel := context.WithTimeout(ctx, probeTimeout)
		server, token := servers[n%len(servers)], c.tokens[rec.pull.organization]
		out, err := server.create(calling, token, rec.key, rec.pull.repo, rec.pull.number)
		cancel()
		if err == nil {
			c.change(func() { rec.id = out.ID })
			return time.Since(began), nil
		}
		if !errors.Is(err, errTransient) {
			c.complain(rec, "probe", err)
			return 0, err
		}
		if pause(ctx, probePause) != nil {
			return 0, ctx.Err()
		}
	}
}
