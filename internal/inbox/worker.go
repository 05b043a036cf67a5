package inbox

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
)

// WorkerOptions are the numbers of a Worker. Zero fields mean the values in
// parentheses.
type WorkerOptions struct {
	AtOnce          int           // deliveries (16)
	PerOrganization int           // of them of one organization (4)
	PerConnection   int           // of them of one connection (3)
	Poll            time.Duration // at most between looks at what waits (5 s)
	Timeout         time.Duration // of working off one delivery (1 min); its lease is twice as long
	Log             *slog.Logger  // (none)

	// OnEnd hears, for metrics, how each attempt ended; Waiting is one that is tried
	// again (nobody).
	OnEnd func(Outcome)
}

func (o WorkerOptions) withDefaults() WorkerOptions {
	o.AtOnce, o.PerConnection = cmp.Or(o.AtOnce, 16), cmp.Or(o.PerConnection, 3)
	o.PerOrganization = cmp.Or(o.PerOrganization, 4)
	o.Poll, o.Timeout = cmp.Or(o.Poll, 5*time.Second), cmp.Or(o.Timeout, time.Minute)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.OnEnd == nil {
		o.OnEnd = func(Outcome) {}
	}

	return o
}

// Between two attempts pass retryFirst, and twice as long each time, up to retryMost.
const (
	retryFirst = 2 * time.Second
	retryMost  = time.Hour

	// refusedAttempts is how often a delivery is tried, for about a day, when its
	// repository is elsewhere or a permission lacks, which people may grant meanwhile.
	refusedAttempts = 36
)

// A delivery that waits for something is looked at again after waitPoll, later each time up
// to waitPollMost.
const (
	waitPoll     = time.Second
	waitPollMost = 15 * time.Second
)

// storeTimeout bounds one call of the store, also while the worker stops.
const storeTimeout = 10 * time.Second

// Worker works deliveries off. Any number of workers, in any number of processes, may
// do so at the same time.
type Worker struct {
	inbox   *Inbox
	handler *Handler
	o       WorkerOptions
	slots   chan struct{}
	freed   chan struct{} // a delivery ended, so that another of its connection may go on, or is due again

	mu             sync.Mutex
	ofOrganization map[string]int       // deliveries that are worked off
	ofConnection   map[string]int       // likewise
	paused         map[string]time.Time // connections whose host wants to be left alone

	stopping context.Context
	cancel   context.CancelFunc
	working  sync.WaitGroup
}

// NewWorker returns a worker that does nothing until Start.
func NewWorker(inbox *Inbox, handler *Handler, o WorkerOptions) *Worker {
	o = o.withDefaults()
	stopping, cancel := context.WithCancel(context.Background())

	return &Worker{
		inbox: inbox, handler: handler, o: o, slots: make(chan struct{}, o.AtOnce), freed: make(chan struct{}, 1),
		ofOrganization: map[string]int{}, ofConnection: map[string]int{}, paused: map[string]time.Time{},
		stopping: stopping, cancel: cancel,
	}
}

// Start begins to work. It is called once.
func (w *Worker) Start() { w.working.Go(w.work) }

// Stop claims nothing more, breaks off what is being done, which is done again later,
// and waits until that is so or ctx is done. Stopping twice is stopping once.
func (w *Worker) Stop(ctx context.Context) error {
	w.cancel()

	return waitFor(ctx, w.working.Wait)
}

// work claims deliveries while there are free slots.
func (w *Worker) work() {
	away := false
	for {
		select {
		case w.slots <- struct{}{}:
		case <-w.stopping.Done():
			return
		}
		d, err := w.claim()
		if err != nil && !away {
			w.o.Log.Warn("deliveries can't be claimed", "error", err)
		}
		away = err != nil
		if d == nil {
			<-w.slots
			if !w.pause() {
				return
			}
			continue
		}

		w.count(*d, 1)
		w.working.Go(func() {
			w.run(*d)
			w.count(*d, -1)
			<-w.slots
			w.lookAgain()
		})
	}
}

// lookAgain has the worker look for deliveries now.
func (w *Worker) lookAgain() {
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// pause waits until it is worth looking again; false when the worker stops.
func (w *Worker) pause() bool {
	select {
	case <-w.inbox.wake:
	case <-w.freed:
	case <-time.After(w.o.Poll - rand.N(w.o.Poll/5+1)):
	case <-w.stopping.Done():
		return false
	}

	return true
}

// claim takes the next delivery: rather of an organization of which none is worked off,
// so that no organization waits until others have nothing left.
func (w *Worker) claim() (d *Delivery, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.stopping), storeTimeout)
	defer cancel()
	for _, most := range []int{1, w.o.PerOrganization} {
		except := w.except(most)
		d, err = w.inbox.store.ClaimDelivery(ctx, except, 2*w.o.Timeout)
		if d != nil || err != nil || len(except.Organizations) == 0 {
			break
		}
	}

	return d, err
}

// except are the organizations of which most deliveries are worked off, and the
// connections that have enough, or have to wait.
func (w *Worker) except(most int) (out Except) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, n := range w.ofOrganization {
		if n >= most {
			out.Organizations = append(out.Organizations, name)
		}
	}
	for id, n := range w.ofConnection {
		if n >= w.o.PerConnection {
			out.Connections = append(out.Connections, id)
		}
	}
	for id, until := range w.paused {
		if time.Now().Before(until) {
			out.Connections = append(out.Connections, id)
		} else {
			delete(w.paused, id)
		}
	}

	return out
}

func (w *Worker) count(d Delivery, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ofOrganization[d.Organization] += n; w.ofOrganization[d.Organization] == 0 {
		delete(w.ofOrganization, d.Organization)
	}
	if w.ofConnection[d.Connection] += n; w.ofConnection[d.Connection] == 0 {
		delete(w.ofConnection, d.Connection)
	}
}

// run works off one delivery and stores how that ended. A panic counts as a fault
// that may pass: it must not end the server.
func (w *Worker) run(d Delivery) {
	log := w.o.Log.With("connection_id", d.Connection, "delivery_id", d.ID, "event", d.Event,
		"organization", d.Organization, "attempt", d.Attempt)
	ctx, cancel := context.WithTimeout(w.stopping, w.o.Timeout)
	defer cancel()
	outcome, reason, delay := w.judge(d, w.handler.Handle(ctx, d))
	if w.stopping.Err() != nil && outcome == Waiting {
		delay = 0 // another server, or this one when it is back, goes on
	}

	last, cancel := context.WithTimeout(context.WithoutCancel(w.stopping), storeTimeout)
	defer cancel()
	var err error
	if outcome == Waiting {
		if reason != "" {
			log.Warn("a delivery is tried again", "in", delay.String(), "reason", reason)
		}
		if err = w.inbox.store.RetryDelivery(last, d, delay, reason); delay < w.o.Poll {
			time.AfterFunc(delay, w.lookAgain)
		}
	} else {
		log.Info("a delivery was worked off", "outcome", outcome, "reason", reason)
		err = w.inbox.store.EndDelivery(last, d, outcome, reason)
	}
	if err != nil {
		log.Warn("how a delivery ended can't be stored; it is worked off again", "error", err)
	}
	w.o.OnEnd(outcome)
}

// judge says what becomes of a delivery that was handled: its outcome, why, and when it
// is tried again if it is Waiting.
func (w *Worker) judge(d Delivery, err error) (o Outcome, reason string, delay time.Duration) {
	var nothing ignored
	if err == nil {
		return Done, "", 0
	}
	if errors.As(err, &nothing) {
		return Ignored, errs.Cut(strings.ReplaceAll(string(nothing), "\x00", ""), maxReason), 0
	}

	if soon := waiting(""); errors.As(err, &soon) {
		return Waiting, "", min(time.Duration(d.Attempt)*waitPoll, waitPollMost)
	}

	reason = errs.Cut(strings.ReplaceAll(err.Error(), "\x00", ""), maxReason)
	delay = min(retryFirst<<min(d.Attempt-1, 20), retryMost)
	delay -= rand.N(delay/5 + 1)
	var known *errs.Error
	var of *codehost.Error
	switch {
	case errors.As(err, &of):
		return w.fault(d, of, reason, delay)
	case !errors.As(err, &known):
		return Waiting, reason, delay
	}

	switch known.Kind {
	case errs.NotFound, errs.PermissionDenied, errs.InvalidArgument: // of the connection, of scanning
		return Ignored, reason, 0
	}

	return Waiting, reason, max(delay, known.RetryAfter)
}

// fault is judge for what a host says.
func (w *Worker) fault(
	d Delivery, of *codehost.Error, reason string, delay time.Duration,
) (Outcome, string, time.Duration) {
	switch of.Fault {
	case codehost.Invalid, codehost.BadLine:
		return Failed, reason, 0
	case codehost.Forbidden, codehost.Moved:
		if d.Attempt >= refusedAttempts {
			return Failed, reason, 0
		}
	case codehost.Limited:
		wait := max(of.After, delay)
		w.leaveAlone(d.Connection, wait)
		return Waiting, reason, wait
	}

	return Waiting, reason, max(delay, of.After)
}

// leaveAlone keeps this worker from a connection for some time.
func (w *Worker) leaveAlone(id string, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused[id] = time.Now().Add(wait)
}
