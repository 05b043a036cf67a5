// Package clients are callers as they should be: each has a review made, with
// an Idempotency-Key, tries again when a server can't be reached or asks for
// patience, takes the next server then, and follows the review to its end. They
// write down all that they were told.
package clients

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
)

// Server is where a server listens, as HOST:PORT.
type Server struct{ HTTP, GRPC string }

// Options say who calls whom, for what.
type Options struct {
	Servers []Server
	Keys    map[string]string // API key of each organization
	Pulls   *pulls.Set
	Clients int    // at the same time
	Seed    uint64 // of what they do; how it interleaves is not in it
	Run     string // tells the idempotency keys of this run from others'
}

// How often clients do something special, in a hundred reviews.
const (
	cancelPercent   = 4 // cancel
	replayPercent   = 6 // create again with the same key
	conflictPercent = 1 // create something else with the same key
)

// Times of clients.
const (
	callTimeout   = 5 * time.Second  // of one call: a frozen server is left
	watchSilence  = 20 * time.Second // keep-alives come every 15 s
	shortestPause = 20 * time.Millisecond
	longestPause  = 500 * time.Millisecond // also when a server asks for more: it may be back sooner
	pollPause     = 250 * time.Millisecond
	mostAtOnce    = 6 // reviews of one client that wait at the same time
)

// Pool is a number of clients and what they know.
type Pool struct {
	o       Options
	callers []caller // REST and gRPC of each server in turn
	keys    atomic.Int64

	mu         sync.Mutex
	records    []*Record
	complaints []Complaint
	retries    int
}

// New returns a pool that does nothing until Run.
func New(o Options) (*Pool, error) {
	p := &Pool{o: o}
	for _, s := range o.Servers {
		r, err := newRPC(s.GRPC)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.callers = append(p.callers, newREST(s.HTTP), r)
	}
	return p, nil
}

// Close closes all connections, when no call is made any more. Closing twice is
// closing once.
func (p *Pool) Close() error {
	var all []error
	for _, c := range p.callers {
		all = append(all, c.close())
	}
	p.callers = nil
	return errors.Join(all...)
}

// Run lets the clients have reviews made until enough is closed, and then
// follow each to its end. When ctx ends first it returns its error: what was
// not seen to end is told by the records.
func (p *Pool) Run(ctx context.Context, enough <-chan struct{}) error {
	var clients sync.WaitGroup
	for i := range p.o.Clients {
		clients.Go(func() { p.client(ctx, enough, rand.New(rand.NewPCG(p.o.Seed, uint64(i)))) })
	}
	clients.Wait()
	return ctx.Err()
}

// client is one caller: it has a few reviews made, then follows each.
func (p *Pool) client(ctx context.Context, enough <-chan struct{}, r *rand.Rand) {
	for ctx.Err() == nil {
		select {
		case <-enough:
			return
		default:
		}
		var batch []*Record
		for range 1 + r.IntN(mostAtOnce) {
			pull := p.o.Pulls.Pulls[r.IntN(len(p.o.Pulls.Pulls))]
			if rec := p.create(ctx, r, pull); rec != nil {
				batch = append(batch, rec)
				p.annoy(ctx, r, rec)
			}
		}
		for _, rec := range batch {
			p.follow(ctx, r, rec)
		}
	}
}

// create has a review made, however long that takes; nil when ctx ended first.
func (p *Pool) create(ctx context.Context, r *rand.Rand, pull pulls.Pull) *Record {
	rec := p.newRecord(pull)
	began := time.Now()
	var out accepted
	err := p.insist(ctx, r, func(ctx context.Context, c caller) (err error) {
		p.mu.Lock()
		rec.Tries++
		p.mu.Unlock()
		out, err = c.create(ctx, p.o.Keys[rec.Organization], rec.Key, request{rec.Repo, rec.Number})
		return err
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.complain(rec, "creation", err)
		return nil
	}
	if out.Status != "queued" || out.ID == "" || out.Estimated < 1 {
		p.complain(rec, "creation", fmt.Errorf("the answer is %+v", out))
	}
	rec.ID, rec.Estimated, rec.Wait = out.ID, out.Estimated, time.Since(began)
	return rec
}

func (p *Pool) newRecord(pull pulls.Pull) *Record {
	rec := &Record{
		Key:          fmt.Sprintf("%s-%d", p.o.Run, p.keys.Add(1)),
		Organization: pull.Organization, Repo: pull.Repo, Number: pull.Number,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.records = append(p.records, rec)
	return rec
}

// annoy does what some clients do after a creation: send it again, send
// something else under the same key, cancel.
func (p *Pool) annoy(ctx context.Context, r *rand.Rand, rec *Record) {
	if r.IntN(100) < replayPercent {
		var again accepted
		err := p.insist(ctx, r, func(ctx context.Context, c caller) (err error) {
			again, err = c.create(ctx, p.o.Keys[rec.Organization], rec.Key, request{rec.Repo, rec.Number})
			return err
		})
		p.mu.Lock()
		rec.Replays++
		if err != nil {
			p.complain(rec, "repeated creation", err)
		} else if again.ID != rec.ID || again.Estimated != rec.Estimated || again.Status != "queued" {
			p.complain(rec, "repeated creation", fmt.Errorf("the answer is %+v, which was %s %d", again, rec.ID, rec.Estimated))
		}
		p.mu.Unlock()
	}
	if r.IntN(100) < conflictPercent {
		err := p.insist(ctx, r, func(ctx context.Context, c caller) error {
			_, err := c.create(ctx, p.o.Keys[rec.Organization], rec.Key, request{rec.Repo, rec.Number + 1})
			return err
		})
		if !refusedWith(err, "IDEMPOTENCY_CONFLICT") {
			p.mu.Lock()
			p.complain(rec, "other creation with the same key", fmt.Errorf("not refused as a conflict: %w", err))
			p.mu.Unlock()
		}
	}
	if r.IntN(100) < cancelPercent {
		p.pause(ctx, time.Duration(r.IntN(1000))*time.Millisecond)
		p.mu.Lock()
		rec.CancelAsked = true
		p.mu.Unlock()
		err := p.insist(ctx, r, func(ctx context.Context, c caller) error {
			return c.cancel(ctx, p.o.Keys[rec.Organization], rec.ID)
		})
		if err != nil && !refusedWith(err, "REVIEW_FINISHED") {
			p.mu.Lock()
			p.complain(rec, "cancellation", err)
			p.mu.Unlock()
		}
	}
}

// follow waits until the review has ended: half of the clients watch, the
// others ask again and again.
func (p *Pool) follow(ctx context.Context, r *rand.Rand, rec *Record) {
	token := p.o.Keys[rec.Organization]
	if r.IntN(2) == 0 {
		p.watch(ctx, r, rec)
	}
	for ctx.Err() == nil && rec.Final == "" {
		var got Review
		err := p.insist(ctx, r, func(ctx context.Context, c caller) (err error) {
			got, err = c.get(ctx, token, rec.ID)
			return err
		})
		if err != nil {
			p.mu.Lock()
			p.complain(rec, "reading", err)
			p.mu.Unlock()
			return
		}
		if final(got.Status) {
			p.ended(rec, got.Status, got.Failure, false)
			return
		}
		p.pause(ctx, pollPause)
	}
}

func (p *Pool) ended(rec *Record, status, failure string, watched bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec.Final, rec.Failure, rec.Watched, rec.Seen = status, failure, watched, time.Now()
}

// watch follows the review over watch streams until it has ended.
func (p *Pool) watch(ctx context.Context, r *rand.Rand, rec *Record) {
	for ctx.Err() == nil && rec.Final == "" {
		c := p.callers[r.IntN(len(p.callers))]
		watching, cancel := context.WithCancel(ctx)
		silence := time.AfterFunc(watchSilence, cancel)
		last := ""
		err := c.watch(watching, p.o.Keys[rec.Organization], rec.ID, func(status string) {
			silence.Reset(watchSilence)
			if final(last) {
				p.mu.Lock()
				p.complain(rec, "watch", fmt.Errorf("%s after %s", status, last))
				p.mu.Unlock()
			}
			last = status
		})
		silence.Stop()
		cancel()
		var refused *Refusal
		switch {
		case final(last):
			p.ended(rec, last, "", true)
			return
		case errors.As(err, &refused) && !isTransient(err):
			p.mu.Lock()
			p.complain(rec, "watch", err)
			p.mu.Unlock()
			return
		}
		p.pause(ctx, shortestPause)
	}
}

func isTransient(err error) bool {
	var t *Transient
	return errors.As(err, &t)
}

// insist makes a call of one server after the other until one answers it for
// good. It returns a *Refusal, or an error when ctx ended first.
func (p *Pool) insist(ctx context.Context, r *rand.Rand, call func(context.Context, caller) error) error {
	for server, pause := r.IntN(len(p.o.Servers)), shortestPause; ; server, pause = server+1, min(2*pause, longestPause) {
		calling, cancel := context.WithTimeout(ctx, callTimeout)
		err := call(calling, p.callers[2*(server%len(p.o.Servers))+r.IntN(2)])
		cancel()
		if err == nil || !isTransient(err) {
			return err
		}
		p.mu.Lock()
		p.retries++
		p.mu.Unlock()
		p.pause(ctx, pause)
		if ctx.Err() != nil {
			return fmt.Errorf("%w; last: %w", ctx.Err(), err)
		}
	}
}

func (p *Pool) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// complain writes down an answer that the API does not promise. The end of the
// run is none. The caller holds mu.
func (p *Pool) complain(rec *Record, what string, err error) {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		p.complaints = append(p.complaints, Complaint{rec.Key, fmt.Sprintf("%s of %s: %v", what, rec.ID, err)})
	}
}
