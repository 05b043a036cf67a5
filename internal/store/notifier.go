package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lib/pq"
)

// notifyChannel is where servers tell each other what they have written.
const notifyChannel = "prwarden"

// What a notification begins with. An identifier follows all but the first.
const (
	waitsEvent    = "q"
	changedEvent  = "c "
	canceledEvent = "x "
	selfEvent     = "p "
)

const (
	// notifyTimeout bounds one message of notifications. Whoever misses one looks
	// at the database every second anyway.
	notifyTimeout = 2 * time.Second
	// maxWaitingEvents bounds what waits to be told. What is too much is forgotten.
	maxWaitingEvents = 1_000
)

// notifier tells other servers what this one has written. It does so after the
// commit, in another transaction: a commit with a NOTIFY takes a lock of the
// whole database server, which others may hold for long. What comes while a
// message is on its way goes together in the next one.
type notifier struct {
	send    func(context.Context, []string) error
	timeout time.Duration // see notifyTimeout

	mu      sync.Mutex
	waiting []string
	known   map[string]bool // those that wait
	sending chan struct{}   // closed when everything was sent; nil when nothing is
}

// tell returns at once.
func (n *notifier) tell(events ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()

	for _, e := range events {
		if n.known[e] || len(n.waiting) >= maxWaitingEvents {
			continue
		}
		if n.known == nil {
			n.known = make(map[string]bool)
		}
		n.known[e] = true
		n.waiting = append(n.waiting, e)
	}
	if n.sending == nil && len(n.waiting) > 0 {
		n.sending = make(chan struct{})
		go n.run(n.sending)
	}
}

func (n *notifier) run(done chan struct{}) {
	defer close(done)
	for {
		n.mu.Lock()
		events := n.waiting
		n.waiting, n.known = nil, nil
		if len(events) == 0 {
			n.sending = nil
			n.mu.Unlock()

			return
		}
		n.mu.Unlock()

		ctx, cancel := context.WithTimeout(context.Background(), n.timeout)
		_ = n.send(ctx, events) // lost: see notifyTimeout
		cancel()
	}
}

// flush waits until all that was told so far is sent or lost, two times
// notifyTimeout at most.
func (n *notifier) flush() {
	n.mu.Lock()
	sending := n.sending
	n.mu.Unlock()
	if sending == nil {
		return
	}

	select {
	case <-sending:
	case <-time.After(2 * n.timeout):
	}
}

// notify sends events to all servers. It does not wait for the disk, which
// would make others wait who notify, and not for long for others who do: the
// database says in time that the lock is taken, and the connection stays.
func (s *Store) notify(ctx context.Context, events []string) error {
	conn, err := s.pools.connection(ctx, s.pools.writer)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it goes back to its pool

	_, err = conn.ExecContext(ctx, `SELECT set_config('synchronous_commit', 'off', TRUE),
			set_config('lock_timeout', $1, TRUE), pg_notify($2, event)
		FROM unnest(CAST($3 AS TEXT[])) AS event`,
		fmt.Sprintf("%dms", s.notifier.timeout.Milliseconds()/2), notifyChannel, pq.Array(events))

	return err
}
