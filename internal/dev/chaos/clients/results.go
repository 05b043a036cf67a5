package clients

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Records are copies of what the clients know.
func (p *Pool) Records() []Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Record, 0, len(p.records))
	for _, r := range p.records {
		out = append(out, *r)
	}
	return out
}

// Complaints are the answers that the API does not promise.
func (p *Pool) Complaints() []Complaint {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.complaints)
}

// Counts says how many reviews were accepted, how many of those were seen to
// end, and how often a call was made again.
func (p *Pool) Counts() (accepted, ended, retries int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.records {
		if r.ID != "" {
			accepted++
		}
		if r.Final != "" {
			ended++
		}
	}
	return accepted, ended, p.retries
}

// ReadAll reads every accepted review over the API, from all servers and over
// both protocols in turn. An error is what kept it from reading one.
func (p *Pool) ReadAll(ctx context.Context) (map[string]Review, error) {
	ids := make(chan Record)
	go func() {
		defer close(ids)
		for _, rec := range p.Records() {
			select {
			case ids <- rec:
			case <-ctx.Done():
				return
			}
		}
	}()
	var (
		mu      sync.Mutex
		all     = make(map[string]Review)
		errs    []error
		readers sync.WaitGroup
	)
	for i := range len(p.callers) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(p.o.Seed, uint64(i)))
			for rec := range ids {
				if rec.ID == "" {
					continue
				}
				var got Review
				err := p.insist(ctx, r, func(ctx context.Context, c caller) (err error) {
					got, err = c.get(ctx, p.o.Keys[rec.Organization], rec.ID)
					return err
				})
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				} else {
					all[rec.ID] = got
				}
				mu.Unlock()
			}
		})
	}
	readers.Wait()
	return all, errors.Join(append(errs, ctx.Err())...)
}

// FollowRest follows the reviews that no client follows, which are those of
// probes, to their end. When ctx ends first the records tell what did not end.
func (p *Pool) FollowRest(ctx context.Context) {
	p.mu.Lock()
	var rest []*Record
	for _, rec := range p.records {
		if rec.ID != "" && rec.Final == "" {
			rest = append(rest, rec)
		}
	}
	p.mu.Unlock()
	r := rand.New(rand.NewPCG(p.o.Seed, 0))
	for _, rec := range rest {
		p.follow(ctx, r, rec)
	}
}

// Probe has reviews made, one after the other, until a server has accepted one,
// and returns how long that took from now. servers are indices into Options,
// asked in turn. The reviews are records like all others.
func (p *Pool) Probe(ctx context.Context, servers []int) (time.Duration, error) {
	began := time.Now()
	r := rand.New(rand.NewPCG(p.o.Seed, uint64(began.UnixNano())))
	pull := p.o.Pulls.Pulls[0]
	rec := p.newRecord(pull)
	for i := 0; ; i++ {
		c := p.callers[2*servers[i%len(servers)]+r.IntN(2)]
		calling, cancel := context.WithTimeout(ctx, probeTimeout)
		out, err := c.create(calling, p.o.Keys[rec.Organization], rec.Key, request{rec.Repo, rec.Number})
		cancel()
		took := time.Since(began)
		p.mu.Lock()
		rec.Tries++
		if err == nil {
			rec.ID, rec.Estimated, rec.Wait = out.ID, out.Estimated, took
		} else if !isTransient(err) {
			p.complain(rec, "probe", err)
		}
		p.mu.Unlock()
		switch {
		case err == nil:
			return took, nil
		case !isTransient(err):
			return took, err
		}
		p.pause(ctx, probePause)
		if ctx.Err() != nil {
			return took, ctx.Err()
		}
	}
}

// Times of a probe: a server that does not answer is left soon.
const (
	probeTimeout = 700 * time.Millisecond
	probePause   = 10 * time.Millisecond
)
