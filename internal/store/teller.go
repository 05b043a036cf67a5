package store

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// event is something that other servers are told when it is committed.
type event struct {
	kind string // what a notification begins with, or freedEvent
	of   string // the review, or the organization
}

// freedEvent is of an organization of which a scan ended. Others are told that
// a review waits if that is so and the organization has a cap. It is never sent
// itself.
const freedEvent = "freed "

const (
	// tellTimeout bounds one message of notifications. Whoever misses one looks at
	// the database every second anyway.
	tellTimeout = 2 * time.Second
	// tellAtOnce bounds what waits to be told. What is too much is forgotten.
	tellAtOnce = 1_000
)

// teller tells other servers what this one has written. It does so after the
// commit and apart from it, because a commit with a NOTIFY takes a lock of the
// whole database server, which others may hold for long: whether and when
// something is told must decide nothing about what was written. What comes
// while a message is on its way goes together in the next one.
type teller struct {
	send    func(context.Context, []event) error
	timeout time.Duration // see tellTimeout

	mu      sync.Mutex
	waiting []event
	known   map[event]struct{} // those that wait
	sending chan struct{}      // closed when everything was sent; nil when nothing is
}

// tell returns at once.
func (t *teller) tell(events ...event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		if _, ok := t.known[e]; ok || len(t.waiting) >= tellAtOnce {
			continue
		}
		if t.known == nil {
			t.known = make(map[event]struct{})
		}
		t.known[e] = struct{}{}
		t.waiting = append(t.waiting, e)
	}
	if t.sending == nil && len(t.waiting) > 0 {
		t.sending = make(chan struct{})
		go t.run(t.sending)
	}
}

func (t *teller) run(done chan struct{}) {
	defer close(done)
	for {
		t.mu.Lock()
		events := t.waiting
		t.waiting, t.known = nil, nil
		if len(events) == 0 {
			t.sending = nil
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), t.timeout)
		_ = t.send(ctx, events) // lost: see tellTimeout
		cancel()
	}
}

// flush waits until all that was told so far is sent or lost, two times
// tellTimeout at most.
func (t *teller) flush() {
	t.mu.Lock()
	sending := t.sending
	t.mu.Unlock()
	if sending == nil {
		return
	}
	select {
	case <-sending:
	case <-time.After(2 * t.timeout):
	}
}

// notifyChannel is where servers tell each other what they have written.
const notifyChannel = "prwarden"

// notify sends events to all servers. It does not wait for the disk, which
// would make others wait who notify, and not for long for others who do.
func (s *Store) notify(ctx context.Context, events []event) error {
	var told, freed texts
	for _, e := range events {
		if e.kind == freedEvent {
			freed = append(freed, e.of)
		} else {
			told = append(told, e.kind+e.of)
		}
	}
	// Less than the timeout, so that the database says that the lock is taken, and
	// the connection stays, where the end of the context would break it off.
	lockMS := strconv.FormatInt(s.teller.timeout.Milliseconds()/2, 10)
	questions := []question{
		{query: `SELECT set_config('synchronous_commit', 'off', TRUE), set_config('lock_timeout', '` + lockMS + `', TRUE)`},
		{query: `SELECT pg_notify('` + notifyChannel + `', e) FROM jsonb_array_elements_text(CAST(? AS JSONB)) e`, args: []any{told}},
	}
	if len(freed) > 0 {
		questions = append(questions, question{query: `SELECT pg_notify('` + notifyChannel + `', '` + waitsEvent + `') FROM organizations
			WHERE name = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(? AS JSONB)))) AND max_running > 0 AND queued > 0 LIMIT 1`, args: []any{freed}})
	}
	return s.askAtOnce(ctx, asking{scope: everyone, write: true, kept: true}, questions)
}
