package store

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
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
	db     *sqlx.DB
	events chan string
	closed chan struct{}
	done   chan struct{}
}

func newNotifier(db *sqlx.DB) *notifier {
	n := &notifier{
		db: db, events: make(chan string, maxWaitingEvents), closed: make(chan struct{}), done: make(chan struct{}),
	}
	go n.run()

	return n
}

// tell returns at once.
func (n *notifier) tell(events ...string) {
	for _, e := range events {
		select {
		case n.events <- e:
		default:
		}
	}
}

// close sends what waits and ends the notifier.
func (n *notifier) close() {
	close(n.closed)
	<-n.done
}

func (n *notifier) run() {
	defer close(n.done)

	for last := false; !last; {
		var events []string
		select {
		case e := <-n.events:
			events = append(events, e)
		case <-n.closed:
			last = true
		}
		for len(n.events) > 0 { // nobody else receives
			events = append(events, <-n.events)
		}
		if len(events) > 0 {
			n.send(events)
		}
	}
}

// send sends events to all servers; what can't be sent is lost. It does not wait
// for the disk, which would make others wait who notify, and not for long for
// others who do: the database says in time that the lock is taken, and the
// connection stays.
func (n *notifier) send(events []string) {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()

	_, _ = n.db.ExecContext(ctx, `SELECT set_config('synchronous_commit', 'off', TRUE),
			set_config('lock_timeout', $1, TRUE), pg_notify($2, event)
		FROM unnest(CAST($3 AS TEXT[])) AS event`,
		(notifyTimeout / 2).String(), notifyChannel, pq.Array(events))
}

// Observer is told what servers on the same database have written. It may be
// told of the same thing twice, of things that this server wrote itself, and of
// nothing at all: it must look at the database from time to time, too. Its
// methods must return at once.
type Observer interface {
	// Enqueued says that a review waits.
	Enqueued()
	// Changed says that a review's state changed.
	Changed(reviewID string)
	// Canceled says that a review was canceled.
	Canceled(reviewID string)
	// Missed says that anything may have happened untold.
	Missed()
}

const (
	// listenCheck is the time between notifications that a listener sends to
	// itself: a connection pooler may drop its LISTEN, or the other end of the
	// connection hang, which nobody tells.
	listenCheck = 10 * time.Second
	// A lost connection is made again after these pauses, at least and at most.
	minReconnect = 100 * time.Millisecond
	maxReconnect = 30 * time.Second
)

// Listener hears, by a connection of its own, what servers on the same Postgres
// database have written. lib/pq makes a lost connection again. On SQLite, which
// one server has to itself, there is nothing to hear.
type Listener struct {
	store *Store
	to    Observer
	log   *slog.Logger
	check time.Duration // see listenCheck
	self  string        // the notification to itself

	listening atomic.Bool
	warned    atomic.Bool // the log says that nothing arrives
	stopping  context.Context
	cancel    context.CancelFunc
	running   sync.WaitGroup
}

// NewListener returns a listener that hears nothing until Start.
func (s *Store) NewListener(to Observer, log *slog.Logger) *Listener {
	l := &Listener{store: s, to: to, log: log, check: listenCheck, self: selfEvent + rand.Text()}
	l.stopping, l.cancel = context.WithCancel(context.Background())

	return l
}

// Start begins to listen. It is called once.
func (l *Listener) Start() {
	if l.store.dialect.postgres {
		l.running.Go(func() {
			defer l.listening.Store(false)
			for l.stopping.Err() == nil {
				l.listen()
			}
		})
	}
}

// Stop ends the listening.
func (l *Listener) Stop() {
	l.cancel()
	l.running.Wait()
}

// Listening reports whether notifications arrive: the last one that the
// listener sent to itself did.
func (l *Listener) Listening() bool { return l.listening.Load() }

// listen makes a connection and hears on it until the listener is stopped or
// nothing arrives there any more.
func (l *Listener) listen() {
	conn := pq.NewDialListener(dialer{}, l.store.database, minReconnect, maxReconnect,
		func(_ pq.ListenerEventType, err error) {
			if err != nil {
				l.hears(false, err)
			}
		})
	defer func() {
		// Where the other end says nothing, closing waits for it; nobody waits for that.
		go func() {
			_ = conn.Close()
			for range conn.Notify { // what is left
			}
		}()
	}()
	missed := func() {
		l.to.Missed()
		l.store.notifier.tell(l.self)
	}
	go func() {
		if err := conn.Listen(notifyChannel); err == nil { // it tries until it can
			missed()
		}
	}()

	tick := time.NewTicker(l.check)
	defer tick.Stop()
	for heard := true; ; {
		select {
		case n := <-conn.Notify:
			switch {
			case n == nil: // the connection was lost and made again
				missed()
			case n.Extra == l.self:
				heard = true
				l.hears(true, nil)
			default:
				l.hear(n.Extra)
			}
		case <-tick.C:
			if !heard {
				l.hears(false, errDeaf)
				return
			}
			heard = false
			l.store.notifier.tell(l.self)
		case <-l.stopping.Done():
			return
		}
	}
}

var errDeaf = errors.New("a notification to itself did not arrive; " +
	"does a connection pooler in transaction mode stand before the database?")

// hears notes whether notifications arrive. The log says once that they don't.
func (l *Listener) hears(well bool, err error) {
	l.listening.Store(well)
	switch {
	case well && l.warned.Swap(false):
		l.log.Info("notifications from the database arrive again")
	case !well && l.stopping.Err() == nil && !l.warned.Swap(true):
		l.log.Warn("notifications from the database do not arrive; looking at it every second instead", "error", err)
	}
}

// hear passes a notification on. Whoever may write to the database may send any;
// an identifier that no review has wakes nobody.
func (l *Listener) hear(event string) {
	if event == waitsEvent {
		l.to.Enqueued()
	} else if id, ok := strings.CutPrefix(event, changedEvent); ok {
		l.to.Changed(id)
	} else if id, ok := strings.CutPrefix(event, canceledEvent); ok {
		l.to.Canceled(id)
	}
}
