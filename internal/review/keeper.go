package review

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// keeper keeps the claims of a dispatcher while they are worked on. In one
// call for all of them it prolongs their leases, stores how far they are, and
// learns which are lost. It also looks for workers that are lost elsewhere.
type keeper struct {
	queue Queue
	hub   *Hub
	o     DispatcherOptions

	trouble outage // of heartbeats

	mu     sync.Mutex
	held   map[*holding]struct{}
	beaten time.Time // when the last heartbeat that succeeded was asked for

	wake     chan struct{} // a heartbeat is wanted now
	due      chan struct{} // those who are lost may be looked for
	stopping context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	unlisten func()
}

// holding is a claim that is worked on.
type holding struct {
	claim    Claim
	cancel   context.CancelCauseFunc // ends the work
	extended time.Time               // when the lease that it has was asked for
	progress Progress
}

func newKeeper(queue Queue, hub *Hub, o DispatcherOptions) *keeper {
	stopping, cancel := context.WithCancel(context.Background())
	return &keeper{
		queue: queue, hub: hub, o: o, held: map[*holding]struct{}{},
		trouble: outage{log: o.Log, what: "heartbeats"},
		wake:    make(chan struct{}, 1), due: make(chan struct{}, 1), stopping: stopping, cancel: cancel,
	}
}

func (k *keeper) start() {
	k.unlisten = k.hub.onCanceled(k.canceled)
	k.running.Go(k.beats)
	k.running.Go(k.reap)
}

// stop ends the heartbeats. It may be called twice, and without start.
func (k *keeper) stop() {
	if k.unlisten != nil {
		k.unlisten()
	}
	k.cancel()
	k.running.Wait()
}

// hold begins to keep a claim that was asked for at that time. When it is lost
// cancel is called with ErrLeaseLost.
func (k *keeper) hold(c Claim, asked time.Time, cancel context.CancelCauseFunc) *holding {
	h := &holding{claim: c, cancel: cancel, extended: asked}
	k.mu.Lock()
	k.held[h] = struct{}{}
	k.mu.Unlock()
	if time.Since(asked) >= k.o.Lease {
		k.beat() // the process was stopped meanwhile, and the lease ran out
	}
	return h
}

// drop ends the keeping of a claim, in whatever way the work on it ended.
func (k *keeper) drop(h *holding) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.held, h)
}

// progressed notes how far the work is.
func (k *keeper) progressed(h *holding, p Progress) {
	k.mu.Lock()
	h.progress = p
	k.mu.Unlock()
	k.hub.progressed(h.claim.ReviewID, h.claim.Attempt, p)
}

// canceled hears of reviews that were canceled. The store knows whether the
// claim that is held is really lost. An empty id is every review.
func (k *keeper) canceled(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for h := range k.held {
		if id == "" || h.claim.ReviewID == id {
			signal(k.wake)
			return
		}
	}
}

func (k *keeper) beats() {
	for {
		select {
		case <-k.stopping.Done():
			return
		case <-k.wake:
		case <-time.After(spread(k.o.Heartbeat)):
		}
		if k.beat() {
			signal(k.due)
		}
	}
}

// beatTimeout bounds a heartbeat, so that a store that does not answer is
// noticed well before the lease has run out.
const beatTimeout = 3 * time.Second

// beat prolongs all leases and breaks off the work on claims that are lost, or
// may be because the store did not answer for so long. It reports whether the
// store answered.
func (k *keeper) beat() bool {
	asked := time.Now()
	k.mu.Lock()
	holdings, beats := make([]*holding, 0, len(k.held)), make([]Heartbeat, 0, len(k.held))
	for h := range k.held {
		holdings = append(holdings, h)
		beats = append(beats, Heartbeat{Claim: h.claim, Progress: h.progress})
	}
	k.mu.Unlock()
	lost, err := k.extend(beats)
	gone := make(map[Claim]bool, len(lost))
	for _, c := range lost {
		gone[c] = true
	}
	k.trouble.saw(err)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.beaten = asked
	}
	for _, h := range holdings {
		switch {
		case err == nil && !gone[h.claim]:
			h.extended = asked
		case err == nil, time.Since(h.extended) >= k.o.Lease:
			h.cancel(ErrLeaseLost)
		}
	}
	return err == nil
}

func (k *keeper) extend(beats []Heartbeat) ([]Claim, error) {
	if len(beats) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
	defer cancel()
	return k.queue.Extend(ctx, beats, k.o.Lease)
}

// reap puts reviews of lost workers back to the queue. It does so after
// heartbeats only: a process that was stopped for a while must prolong its own
// leases before it could take them for lost.
func (k *keeper) reap() {
	trouble := outage{log: k.o.Log, what: "looking for lost workers"}
	for {
		select {
		case <-k.stopping.Done():
			return
		case <-k.due:
		}
		if k.stale() {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		reaped, err := k.queue.ReapExpired(ctx, MaxLost)
		cancel()
		trouble.saw(err)
		for _, r := range reaped {
			k.o.Log.Warn("worker lost", "review_id", r.ReviewID, "status", r.Status)
			k.hub.Changed(r.ReviewID)
		}
		if len(reaped) > 0 {
			k.hub.Enqueued()
		}
	}
}

// stale reports whether the last heartbeat is so long ago that the process was
// stopped since.
func (k *keeper) stale() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Since(k.beaten) >= k.o.Lease/2
}

// outage logs when something begins to fail and when that is over, and nothing
// in between.
type outage struct {
	log  *slog.Logger
	what string

	mu    sync.Mutex
	since time.Time // zero while all is well
}

// saw takes the error of the last try, nil when it went well.
func (o *outage) saw(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err != nil && o.since.IsZero():
		o.since = time.Now()
		o.log.Error(o.what+" failed", "error", err)
	case err == nil && !o.since.IsZero():
		o.log.Info(o.what+" works again", "after_ms", time.Since(o.since).Milliseconds())
		o.since = time.Time{}
	}
}
