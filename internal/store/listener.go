package store

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

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

// ListenerOptions are the numbers of a listener. Zero fields mean the values
// in parentheses.
type ListenerOptions struct {
	Check    time.Duration // between tests whether notifications still arrive (10 s)
	Patience time.Duration // for one to arrive (5 s)
	RetryMin time.Duration // before a lost connection is made again, doubling with each try (100 ms)
	RetryMax time.Duration // where the doubling ends (30 s)
	Log      *slog.Logger  // (none)
}

func (o ListenerOptions) withDefaults() ListenerOptions {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.Check, 10 * time.Second},
		{&o.Patience, 5 * time.Second},
		{&o.RetryMin, 100 * time.Millisecond},
		{&o.RetryMax, 30 * time.Second},
	} {
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
// database have written. lib/pq makes a lost connection again. One that is there
// and hears nothing, because a pooler dropped its LISTEN or the other end is
// gone without a word, is found by notifications that the listener sends to
// itself, and made again, too. On SQLite, which one server has to itself, there
// is nothing to hear.
type Listener struct {
	store *Store
	to    Observer
	o     ListenerOptions
	name  string // in the notifications to itself; another's must not be taken for them

	listening atomic.Bool
	mu        sync.Mutex
	failing   bool // the log says that notifications do not arrive

	start    sync.Once
	stopping context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// NewListener returns a listener that hears nothing until Start.
func (s *Store) NewListener(to Observer, o ListenerOptions) *Listener {
	stopping, cancel := context.WithCancel(context.Background())

	return &Listener{store: s, to: to, o: o.withDefaults(), name: rand.Text(), stopping: stopping, cancel: cancel}
}

// Start begins to listen. Starting twice is starting once.
func (l *Listener) Start() {
	l.start.Do(func() {
		if l.store.dialect.shared {
			l.running.Go(l.run)
		}
	})
}

// Stop ends the listening and waits until that is done or ctx is. Stopping
// twice is stopping once.
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
	defer l.listening.Store(false)
	for pause := l.o.RetryMin; ; pause = min(2*pause, l.o.RetryMax) {
		heard, err := l.listen()
		if l.stopping.Err() != nil {
			return
		}
		l.fails(err)
		if heard {
			pause = l.o.RetryMin
		}

		select {
		case <-time.After(pause):
		case <-l.stopping.Done():
			return
		}
	}
}

var errNothingArrives = errors.New("a notification to itself did not arrive; " +
	"does a connection pooler in transaction mode stand before the database?")

// listen listens until nothing arrives any more, and says whether it has ever
// heard. lib/pq makes the connection again in between.
func (l *Listener) listen() (heard bool, err error) {
	dial := &hangupDialer{}
	conn := pq.NewDialListener(dial, withConnectTimeout(l.store.database), l.o.RetryMin, l.o.RetryMax,
		func(_ pq.ListenerEventType, err error) {
			if err != nil {
				l.fails(err)
			}
		})
	end := func() {
		dial.hangUp()
		_ = conn.Close() // it may be closed already
	}
	defer end()
	defer context.AfterFunc(l.stopping, end)()
	patience := time.AfterFunc(l.o.Patience, end)
	err = conn.Listen(notifyChannel)
	if !patience.Stop() || err != nil {
		return false, errors.Join(errors.New("the database does not answer"), err)
	}
	l.to.Missed() // whatever was written before

	check, late := time.NewTimer(0), time.NewTimer(l.o.Patience)
	defer check.Stop()
	defer late.Stop()
	for count := 0; ; {
		select {
		case n, open := <-conn.NotificationChannel():
			switch number, self := l.hear(n); {
			case !open:
				return heard, errors.New("the connection was closed")
			case n == nil: // the connection was lost and made again
				l.to.Missed()
				late.Reset(l.o.Patience)
				check.Reset(0)
			case self && number == count:
				heard = true
				l.works()
				late.Stop()
				check.Reset(l.o.Check)
			}
		case <-check.C:
			count++
			late.Reset(l.o.Patience)
			l.running.Go(func() { l.sendToSelf(count) })
		case <-late.C:
			return heard, errNothingArrives
		case <-l.stopping.Done():
			return heard, l.stopping.Err()
		}
	}
}

// hangupDialer connects until it hangs up. Close of a pq.Listener waits for a
// LISTEN that it sends again after it reconnected, and so for ever where the
// other end says nothing: only the end of the connection ends that.
type hangupDialer struct {
	dialer

	mu     sync.Mutex
	conn   net.Conn
	hungUp bool
}

// DialTimeout implements pq.Dialer.
func (d *hangupDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := d.dialer.DialTimeout(network, address, timeout)

	return d.keep(conn, err)
}

// Dial implements pq.Dialer.
func (d *hangupDialer) Dial(network, address string) (net.Conn, error) {
	conn, err := d.dialer.Dial(network, address)

	return d.keep(conn, err)
}

// DialContext implements pq.DialerContext.
func (d *hangupDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.dialer.DialContext(ctx, network, address)

	return d.keep(conn, err)
}

func (d *hangupDialer) keep(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.hungUp {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	d.conn = conn

	return conn, nil
}

func (d *hangupDialer) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.hungUp = true
	if d.conn != nil {
		_ = d.conn.Close() // it may be closed already
	}
}

// fails notes that notifications do not arrive. The log says it once.
func (l *Listener) fails(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.listening.Store(false)
	if !l.failing && l.stopping.Err() == nil {
		l.failing = true
		l.o.Log.Warn("notifications from the database do not arrive; looking at it every second instead", "error", err)
	}
}

// works notes that notifications arrive. The log says so first: whoever sees it
// here finds it there.
func (l *Listener) works() {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.failing {
		l.failing = false
		l.o.Log.Info("notifications from the database arrive again")
	}
	l.listening.Store(true)
}

// sendToSelf sends the notification that the listener waits for, by one of the
// store's connections, as those that matter. When it can't be sent it does not
// arrive, which says it all.
func (l *Listener) sendToSelf(count int) {
	ctx, cancel := context.WithTimeout(l.stopping, l.o.Patience)
	defer cancel()

	_ = l.store.notify(ctx, []string{selfEvent + l.name + " " + strconv.Itoa(count)})
}

// maxEvent bounds, in bytes, what is read of a notification. Whoever may write
// to the database may send any.
const maxEvent = 100

// hear passes a notification on. One that the listener sent to itself has a
// number, and is not passed on.
func (l *Listener) hear(n *pq.Notification) (number int, self bool) {
	if n == nil || n.Channel != notifyChannel || len(n.Extra) > maxEvent {
		return 0, false
	}
	if text, mine := strings.CutPrefix(n.Extra, selfEvent+l.name+" "); mine {
		number, err := strconv.Atoi(text)

		return number, err == nil
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
