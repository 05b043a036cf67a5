package publish

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	randv2 "math/rand/v2"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/policy"
)

// Options are the numbers of a publisher. Zero fields mean the values in parentheses.
type Options struct {
	Name     string        // of this process in claims (required)
	Workers  int           // pull requests at once (4)
	Read     time.Duration // that reading what is there may take (1 min)
	Write    time.Duration // that one step may take (30 s)
	Margin   time.Duration // in which a call that was given up may still take effect (20 s)
	Poll     time.Duration // at most between looks when nothing wakes it (1 s)
	Backoff  time.Duration // before the second attempt, doubling (1 s)
	Patience time.Duration // the longest wait for a place among a connection's calls (5 s)
	GiveUp   time.Duration // after failures for so long (24 h)
	Log      *slog.Logger  // (none)

	Policies PolicySource // what is published (policy.Default for all)
	Links    Links        // where people read a review (nowhere)
	Now      func() time.Time

	// OnEnd hears, for metrics, how a publication ended: an Outcome (nobody).
	OnEnd func(Outcome)
}

// PolicySource reads the policies of organizations.
type PolicySource interface {
	// Policy returns the policy of an organization.
	Policy(ctx context.Context, org string) (policy.Policy, error)
}

// Outcome is how a publication ended.
type Outcome string

// The outcomes.
const (
	Complete Outcome = "published" // all that was wanted is there, or can't be
	Retried  Outcome = "retried"   // it is tried again later
	GivenUp  Outcome = "given_up"  // it failed for too long
	Lost     Outcome = "lost"      // another publisher has the pull request
)

// Outcomes are all of them.
func Outcomes() []Outcome { return []Outcome{Complete, Retried, GivenUp, Lost} }

func (o Options) withDefaults() Options {
	o.Workers = cmp.Or(max(o.Workers, 0), 4)
	o.Read = cmp.Or(o.Read, time.Minute)
	o.Write = cmp.Or(o.Write, 30*time.Second)
	o.Margin = cmp.Or(o.Margin, 20*time.Second)
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Backoff = cmp.Or(o.Backoff, time.Second)
	o.Patience = cmp.Or(o.Patience, 5*time.Second)
	o.GiveUp = cmp.Or(o.GiveUp, 24*time.Hour)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Links == nil {
		o.Links = func(string, string) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnEnd == nil {
		o.OnEnd = func(Outcome) {}
	}

	return o
}

// Publisher takes pull requests in which something is to be published and publishes it.
// Any number of publishers, in any number of processes, may work on one database.
type Publisher struct {
	store Store
	hosts connection.Hosts
	o     Options
	idle  chan struct{}
	wakes chan struct{}

	stopping context.Context // ends between steps
	stop     context.CancelFunc
	calling  context.Context // ends in the middle of a call
	hangUp   context.CancelFunc
	working  sync.WaitGroup
}

// NewPublisher returns a publisher that does nothing until Start.
func NewPublisher(store Store, hosts connection.Hosts, o Options) *Publisher {
	o = o.withDefaults()
	p := &Publisher{
		store: store, hosts: hosts, o: o, idle: make(chan struct{}, o.Workers), wakes: make(chan struct{}, 1),
	}
	p.stopping, p.stop = context.WithCancel(context.Background())
	p.calling, p.hangUp = context.WithCancel(context.Background())
	for range o.Workers {
		p.idle <- struct{}{}
	}

	return p
}

// Start begins to publish. It is called once.
func (p *Publisher) Start() { p.working.Go(p.work) }

// Stop claims nothing more and waits until the steps that are being taken are done, or
// ctx is: then calls are broken off, and what they do is found out by the next
// publisher. Stopping twice is stopping once.
func (p *Publisher) Stop(ctx context.Context) error {
	p.stop()
	done := make(chan struct{})
	go func() {
		p.working.Wait()
		close(done)
	}()
	defer p.hangUp()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		p.hangUp()
		<-done

		return ctx.Err()
	}
}

// Wake says that there may be something to publish. It returns at once.
func (p *Publisher) Wake() {
	select {
	case p.wakes <- struct{}{}:
	default:
	}
}

// work claims pull requests while there are idle workers, until the publisher stops.
func (p *Publisher) work() {
	for {
		select {
		case <-p.idle:
		case <-p.stopping.Done():
			return
		}
		claim, err := p.claim()
		if err != nil && p.stopping.Err() == nil {
			p.o.Log.Warn("looking for what is to be published failed", "error", err)
		}
		if claim == nil || err != nil {
			p.idle <- struct{}{}
			if !p.pause(err == nil) {
				return
			}
			continue
		}

		p.working.Go(func() {
			p.run(*claim)
			p.idle <- struct{}{}
			p.Wake() // there may be more of the same connection
		})
	}
}

// pause waits until it is worth looking again, and reports whether that is to be done.
func (p *Publisher) pause(listen bool) bool {
	var wakes <-chan struct{}
	if listen {
		wakes = p.wakes
	}
	timer := time.NewTimer(p.o.Poll - randv2.N(p.o.Poll/5+1))
	defer timer.Stop()
	select {
	case <-wakes:
	case <-timer.C:
	case <-p.stopping.Done():
		return false
	}

	return true
}

// storeTimeout bounds one call of the store, which is not broken off when the publisher
// stops: a claim that nobody knows of would wait for its lease.
const storeTimeout = 10 * time.Second

func (p *Publisher) stored(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}

func (p *Publisher) claim() (*Claim, error) {
	ctx, cancel := p.stored(p.stopping)
	defer cancel()

	return p.store.ClaimPublication(ctx, p.o.Name+"/"+rand.Text(), p.o.Read+p.o.Margin)
}

// run publishes one claim and gives it back.
func (p *Publisher) run(c Claim) {
	log := p.o.Log.With("organization", c.Organization, "repo", c.Repository.Name, "pr_number", c.Number,
		"connection_id", c.Connection)
	began := time.Now()
	u := &publication{p: p, claim: c, log: log, off: map[string]bool{}}
	end, err := u.publish(p.calling)
	outcome := Retried
	if end.Done {
		outcome = Complete
	}
	if from := c.Publication.FailingFrom; end.Failed && !from.IsZero() && p.o.Now().Sub(from) >= p.o.GiveUp {
		end = End{Done: true, Problem: "Publishing was given up after it failed for " + p.o.GiveUp.String() +
			"; the last time: " + end.Problem}
		outcome = GivenUp
	}
	if !errors.Is(err, ErrLeaseLost) {
		ctx, cancel := p.stored(p.calling)
		defer cancel()
		end.Problem = cut(plain(end.Problem), maxProblem)
		if ended := p.store.EndPublication(ctx, u.claim, end); ended != nil {
			err = errors.Join(err, ended)
		}
	}
	if errors.Is(err, ErrLeaseLost) {
		outcome = Lost
	}
	p.o.OnEnd(outcome)
	level := slog.LevelInfo
	if err != nil || end.Problem != "" {
		level = slog.LevelWarn
	}
	log.Log(p.calling, level, "publication ended", "outcome", string(outcome), "problem", end.Problem, "error", err,
		"steps", u.steps, "duration_ms", time.Since(began).Milliseconds())
}

// maxProblem bounds what is kept of a problem, in characters.
const maxProblem = 500
