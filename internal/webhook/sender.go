package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/seal"
)

// SenderOptions are what a Sender needs. Zero fields mean the values in parentheses.
type SenderOptions struct {
	Sealer    *seal.Sealer
	Client    *http.Client     // checks where it dials, and follows no redirect
	Now       func() time.Time // the store's clock
	PublicURL string           // for links ("": none)
	Agent     string           // User-Agent

	// Receivers that don't answer hold up those of their own organization only, so an
	// organization has a part of all attempts at most.
	AtOnce          int // messages (64)
	PerOrganization int // of them of one organization (16)
	PerWebhook      int // of them to one webhook (4)

	Poll    time.Duration // at most between looks at what waits (5 s)
	Timeout time.Duration // of one attempt (15 s)
	Log     *slog.Logger  // (none)

	// OnEnd hears, for metrics, how each attempt ended; Waiting is one that is tried
	// again (nobody).
	OnEnd func(MessageState)
}

func (o SenderOptions) withDefaults() SenderOptions {
	o.AtOnce, o.PerOrganization = cmp.Or(o.AtOnce, 64), cmp.Or(o.PerOrganization, 16)
	o.PerWebhook = cmp.Or(o.PerWebhook, 4)
	o.Poll, o.Timeout = cmp.Or(o.Poll, 5*time.Second), cmp.Or(o.Timeout, 15*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.OnEnd == nil {
		o.OnEnd = func(MessageState) {}
	}

	return o
}

const (
	// slackGap is the time between two messages to Slack, which takes one a second.
	slackGap = time.Second
	// maxHold bounds how long a receiver may ask to be left alone.
	maxHold = 24 * time.Hour
	// storeTimeout bounds one call of the store, also while the sender stops.
	storeTimeout = 10 * time.Second
	// leaseMargin is what a lease has over the time of an attempt, for the store.
	leaseMargin = 30 * time.Second
)

// retryAfter is how long after each failure a message is tried again. After the last
// one it is Failed.
var retryAfter = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

// Sender sends messages. Any number of senders, in any number of processes, may do so at
// the same time.
type Sender struct {
	store Store
	o     SenderOptions
	slots chan struct{}
	wake  chan struct{}

	mu             sync.Mutex
	byWebhook      map[string]int // attempts that run
	byOrganization map[string]int

	stopping context.Context
	cancel   context.CancelFunc
	working  sync.WaitGroup
}

// NewSender returns a sender that does nothing until Start.
func NewSender(store Store, o SenderOptions) *Sender {
	o = o.withDefaults()
	stopping, cancel := context.WithCancel(context.Background())

	return &Sender{
		store: store, o: o, slots: make(chan struct{}, o.AtOnce), wake: make(chan struct{}, 1),
		byWebhook: map[string]int{}, byOrganization: map[string]int{}, stopping: stopping, cancel: cancel,
	}
}

// Wake has the sender look for messages now.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Start begins to send. It is called once.
func (s *Sender) Start() { s.working.Go(s.work) }

// Stop claims nothing more, breaks off what is being sent, which is sent again later, and
// waits until that is so or ctx is done. Stopping twice is stopping once.
func (s *Sender) Stop(ctx context.Context) error {
	s.cancel()
	done := make(chan struct{})
	go func() {
		s.working.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work claims messages while there are free slots.
func (s *Sender) work() {
	away := false
	for {
		select {
		case s.slots <- struct{}{}:
		case <-s.stopping.Done():
			return
		}
		c, err := s.claim()
		if err != nil && !away {
			s.o.Log.Warn("messages of webhooks can't be claimed", "error", err)
		}
		away = err != nil
		if c == nil {
			<-s.slots
			if !s.pause() {
				return
			}
			continue
		}

		s.count(c.To, 1)
		s.working.Go(func() {
			s.run(*c)
			s.count(c.To, -1)
			<-s.slots
			s.Wake()
		})
	}
}

// pause waits until it is worth looking again; false when the sender stops.
func (s *Sender) pause() bool {
	select {
	case <-s.wake:
	case <-time.After(s.o.Poll - rand.N(s.o.Poll/5+1)):
	case <-s.stopping.Done():
		return false
	}

	return true
}

func (s *Sender) claim() (*Claim, error) {
	if s.stopping.Err() != nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.stopping), storeTimeout)
	defer cancel()

	return s.store.ClaimMessage(ctx, s.except(), s.o.Timeout+leaseMargin, slackGap)
}

// except is what has enough attempts.
func (s *Sender) except() Except {
	s.mu.Lock()
	defer s.mu.Unlock()

	return Except{
		Webhooks:      full(s.byWebhook, s.o.PerWebhook),
		Organizations: full(s.byOrganization, s.o.PerOrganization),
	}
}

// full are those that have as many attempts as they may.
func full(counts map[string]int, most int) (list []string) {
	for name, n := range counts {
		if n >= most {
			list = append(list, name)
		}
	}

	return list
}

// count adds attempts to those of a webhook and its organization.
func (s *Sender) count(to Stored, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(counts map[string]int, name string) {
		if counts[name] += n; counts[name] == 0 {
			delete(counts, name)
		}
	}
	add(s.byWebhook, to.ID)
	add(s.byOrganization, to.Organization)
}

// run makes an attempt and stores how it ended. One that the sender's end broke off is
// not stored: its lease runs out.
func (s *Sender) run(c Claim) {
	log := s.o.Log.With("webhook_id", c.To.ID, "message_id", c.Message.ID, "organization", c.Message.Organization,
		"event", c.Message.Event)
	a, after := s.attempt(c)
	if s.stopping.Err() != nil && a.Status == 0 {
		return
	}
	e := judge(c, a, after)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.stopping), storeTimeout)
	defer cancel()
	if err := s.store.EndAttempt(ctx, c, e); err != nil {
		log.Warn("how a delivery ended can't be stored; it is made again", "error", err)
	}
	if e.State == Delivered {
		log.Debug("a message was delivered", "status", a.Status, "duration_ms", a.Duration.Milliseconds())
	} else {
		log.Info("a message was not delivered", "status", a.Status, "error", a.Error, "state", e.State)
	}
	if c.To.Format == Slack {
		time.AfterFunc(slackGap, s.Wake)
	}
	s.o.OnEnd(e.State)
}

// judge says what becomes of a message after an attempt. after is what the receiver asks
// for.
func judge(c Claim, a Attempt, after time.Duration) End {
	e := End{Attempt: a, State: Waiting}
	switch {
	case a.Status >= 200 && a.Status < 300:
		e.State = Delivered
		return e
	case a.Status == http.StatusGone:
		e.State, e.Gone = Failed, true
		return e
	case c.Tries >= len(retryAfter):
		e.State = Failed
		return e
	}

	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		e.Hold = min(after, maxHold)
	}
	delay := retryAfter[c.Tries]
	e.After = max(delay+rand.N(delay/5+1), e.Hold)

	return e
}

// attempt posts a message, and returns what became of it and how long the receiver wants
// to be left alone.
func (s *Sender) attempt(c Claim) (a Attempt, after time.Duration) {
	began := time.Now()
	a.At = s.o.Now()
	ctx, cancel := context.WithTimeout(s.stopping, s.o.Timeout)
	defer cancel()
	resp, err := s.post(ctx, c, a.At)
	a.Duration = time.Since(began)
	if err != nil {
		a.Error = errs.Cut(clean(why(err)), maxText)
		return a, 0
	}
	defer resp.Body.Close()

	// The status counts, also when the rest doesn't arrive.
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer))
	a.Status, a.Answer, a.Duration = resp.StatusCode, clean(string(answer)), time.Since(began)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		after = time.Duration(min(seconds, int(maxHold/time.Second))) * time.Second
	}

	return a, after
}

func (s *Sender) post(ctx context.Context, c Claim, at time.Time) (*http.Response, error) {
	plain, err := unseal(s.o.Sealer, c.To)
	if err != nil {
		return nil, err
	}
	content, err := render(c.Message, c.To.Format, s.o.PublicURL)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, plain.URL, bytes.NewReader(content))
	if err != nil {
		return nil, errors.New("the address is no address of HTTP") // the error has the address
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.o.Agent)
	if c.To.Format == Standard {
		if err := sign(r.Header, c.Message.ID, at, content, plain.Signing); err != nil {
			return nil, err
		}
	}

	return s.o.Client.Do(r)
}

// why is an error without the address of the request, which may be secret.
func why(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "there was no answer in time"
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}

	return err.Error()
}

// clean makes a foreign text one that every database keeps.
func clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
}
