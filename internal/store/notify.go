package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

// Hearer is told what servers on the same database have written. It may be
// told of the same thing twice, of things that this server wrote itself, and of
// nothing at all: whoever listens to it must look at the database from time to
// time, too. Its methods must return at once.
type Hearer interface {
	// Enqueued says that a review waits.
	Enqueued()
	// Changed says that a review's state changed.
	Changed(reviewID string)
	// Canceled says that a review was canceled.
	Canceled(reviewID string)
	// Missed says that anything may have happened untold.
	Missed()
}

// ListenerOptions are the numbers of a listener. Zero fields mean the values
// in parentheses.
type ListenerOptions struct {
	Check    time.Duration // between tests whether notifications still arrive (10 s)
	Patience time.Duration // for one to arrive, and for the database to answer (5 s)
	RetryMin time.Duration // before a lost connection is made again, doubling with each try (100 ms)
	RetryMax time.Duration // where the doubling ends (30 s)
	Log      *slog.Logger  // (none)
}

func (o ListenerOptions) withDefaults() ListenerOptions {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.Check, 10 * time.Second}, {&o.Patience, 5 * time.Second}, {&o.RetryMin, 100 * time.Millisecond}, {&o.RetryMax, 30 * time.Second}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Listener hears, by a connection of its own, what servers on the same Postgres
// database have written. A connection that is lost is made again. One that is
// there and hears nothing, because a pooler dropped its LISTEN or the other end
// is gone without a word, is found by notifications that the listener sends to
// itself, and made again, too. On SQLite, which one server has to itself, there
// is nothing to hear.
type Listener struct {
	store *Store
	to    Hearer
	o     ListenerOptions
	name  string // in the notifications to itself; another's must not be taken for them

	listening atomic.Bool
	told      bool // that notifications do not arrive; only of the loop

	start    sync.Once
	stopping context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// NewListener returns a listener that hears nothing until Start.
func (s *Store) NewListener(to Hearer, o ListenerOptions) *Listener {
	stopping, cancel := context.WithCancel(context.Background())
	return &Listener{store: s, to: to, o: o.withDefaults(), name: rand.Text(), stopping: stopping, cancel: cancel}
}

// Start begins to listen. Starting twice is starting once.
func (l *Listener) Start() {
	l.start.Do(func() {
		if l.store.dialect.goose == postgresDialect().goose {
			l.running.Go(l.run)
		}
	})
}

// Stop ends the listening and waits until that is done or ctx is. Making a
// connection can't be broken off and takes up to connectTimeout. Stopping twice
// is stopping once.
func (l *Listener) Stop(ctx context.Context) error {
	l.cancel()
	done := make(chan struct{})
	go func() {
		l.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Listening reports whether notifications arrive: the last one that the
// listener sent to itself did.
func (l *Listener) Listening() bool { return l.listening.Load() }

func (l *Listener) run() {
	pause := l.o.RetryMin
	for {
		heard, err := l.listen()
		l.listening.Store(false)
		if l.stopping.Err() != nil {
			return
		}
		if !l.told {
			l.told = true
			l.o.Log.Warn("notifications from the database do not arrive; looking at it every second instead", "error", err)
		}
		if heard {
			pause = l.o.RetryMin
		}
		select {
		case <-time.After(pause/2 + mathrand.N(pause)): // not all servers at once
		case <-l.stopping.Done():
			return
		}
		pause = min(2*pause, l.o.RetryMax)
	}
}

var errDeaf = errors.New("a notification to itself did not arrive; does a connection pooler in transaction mode stand before the database?")

// listen listens on one connection until that is lost or turns out to be deaf,
// and says whether it has ever heard.
func (l *Listener) listen() (heard bool, err error) {
	notifications := make(chan *pq.Notification, 64)
	conn, err := pq.NewListenerConn(withConnectTimeout(l.store.database), notifications)
	if err != nil {
		return false, err
	}
	defer func() {
		_ = conn.Close() // it may be closed already
		for range notifications {
		}
	}()
	// Closing it ends whatever goes on on it.
	defer context.AfterFunc(l.stopping, func() { _ = conn.Close() })()
	patience := time.AfterFunc(l.o.Patience, func() { _ = conn.Close() })
	_, err = conn.Listen(notifyChannel)
	if !patience.Stop() || err != nil {
		return false, errors.Join(errors.New("the database does not answer"), err)
	}
	l.to.Missed() // whatever was written before

	check, deaf := time.NewTimer(0), time.NewTimer(l.o.Patience)
	defer check.Stop()
	defer deaf.Stop()
	for count := 0; ; {
		select {
		case n, open := <-notifications:
			if !open {
				return heard, fmt.Errorf("the connection was lost: %w", conn.Err())
			}
			if own, ok := l.hear(n); ok && own == count {
				heard = true
				l.hears()
				deaf.Stop()
				check.Reset(l.o.Check)
			}
		case <-check.C:
			count++
			deaf.Reset(l.o.Patience)
			l.running.Go(func() { l.sendToSelf(count) })
		case <-deaf.C:
			return heard, errDeaf
		case <-l.stopping.Done():
			return heard, l.stopping.Err()
		}
	}
}

// hears notes that notifications arrive. The log says so first: whoever sees it
// here finds it there.
func (l *Listener) hears() {
	if l.told {
		l.told = false
		l.o.Log.Info("notifications from the database arrive again")
	}
	l.listening.Store(true)
}

// sendToSelf sends the notification that the listener waits for. It goes by one
// of the store's connections, as those that matter do. When it can't be sent it
// does not arrive, which says it all.
func (l *Listener) sendToSelf(count int) {
	ctx, cancel := context.WithTimeout(l.stopping, l.o.Patience)
	defer cancel()
	_, _ = l.store.pools.writer.ExecContext(ctx, `SELECT set_config('synchronous_commit', 'off', TRUE), pg_notify($1, $2)`,
		notifyChannel, selfEvent+l.name+" "+strconv.Itoa(count))
}

// What a notification begins with. An identifier follows all but the first.
const (
	waitsEvent    = "q"
	changedEvent  = "c "
	canceledEvent = "x "
	selfEvent     = "p "
)

// maxEvent bounds, in bytes, what is read of a notification. Whoever may write
// to the database may send any.
const maxEvent = 100

// hear passes a notification on. One that the listener sent to itself has a
// number, and is not passed on.
func (l *Listener) hear(n *pq.Notification) (own int, ok bool) {
	if n.Channel != notifyChannel || len(n.Extra) > maxEvent {
		return 0, false
	}
	if number, mine := strings.CutPrefix(n.Extra, selfEvent+l.name+" "); mine {
		own, err := strconv.Atoi(number)
		return own, err == nil
	}
	kind, id, _ := strings.Cut(n.Extra, " ")
	switch {
	case n.Extra == waitsEvent:
		l.to.Enqueued()
	case kind+" " == changedEvent && isWord(id):
		l.to.Changed(id)
	case kind+" " == canceledEvent && isWord(id):
		l.to.Canceled(id)
	}
	return 0, false
}

// isWord reports whether id consists of visible ASCII characters.
func isWord(id string) bool {
	return id != "" && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// withConnectTimeout adds connectTimeout to an address that has none.
func withConnectTimeout(database string) string {
	const key = "connect_timeout"
	u, err := url.Parse(database)
	if err != nil || u.Query().Has(key) || os.Getenv("PGCONNECT_TIMEOUT") != "" {
		return database
	}
	q := u.Query()
	q.Set(key, strconv.Itoa(int(connectTimeout/time.Second)))
	u.RawQuery = q.Encode()
	return u.String()
}
