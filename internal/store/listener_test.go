package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// hearer hands what it hears to the test.
type hearer struct{ heard chan string }

func newHearer() *hearer { return &hearer{make(chan string, 1_000)} }

func (h *hearer) Enqueued()          { h.heard <- "enqueued" }
func (h *hearer) Changed(id string)  { h.heard <- "changed " + id }
func (h *hearer) Canceled(id string) { h.heard <- "canceled " + id }
func (h *hearer) Missed()            { h.heard <- "missed" }

// next is what it hears next.
func (h *hearer) next(t *testing.T) string {
	t.Helper()
	select {
	case event := <-h.heard:
		return event
	case <-time.After(patience):
		require.FailNow(t, "nothing was heard")
		panic("unreachable")
	}
}

// syncLog is a log that can be read while it is written.
type syncLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *syncLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *syncLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// fastListening finds out quickly what it finds out.
func fastListening(log *syncLog) ListenerOptions {
	return ListenerOptions{
		Check: 20 * time.Millisecond, Patience: time.Second, RetryMin: time.Millisecond, RetryMax: 10 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	}
}

// listen starts a listener that ends with the test.
func listen(t *testing.T, s *Store, o ListenerOptions) (*Listener, *hearer) {
	t.Helper()
	h := newHearer()
	l := s.NewListener(h, o)
	l.Start()
	l.Start() // twice is once
	t.Cleanup(func() {
		require.NoError(t, l.Stop(context.Background()))
		require.NoError(t, l.Stop(context.Background()), "twice is once")
		assert.False(t, l.Listening())
	})

	return l, h
}

func listens(t *testing.T, l *Listener) {
	t.Helper()
	require.Eventually(t, l.Listening, patience, time.Millisecond)
}

func TestListenerHearsOtherServers(t *testing.T) {
	t.Parallel()
	database := pgtest.New(t)
	a, b := openAt(t, Options{Database: database}), openAt(t, Options{Database: database})
	log := &syncLog{}
	l, h := listen(t, a, ListenerOptions{Patience: patience, Log: slog.New(slog.NewTextHandler(log, nil))})
	assert.Equal(t, "missed", h.next(t), "what was before")
	listens(t, l)

	_, err := b.CreateReview(t.Context(), newReview("acme", "rev_a"), 10)
	require.NoError(t, err)
	assert.Equal(t, "enqueued", h.next(t))
	c, err := b.Claim(t.Context(), "worker", time.Minute)
	require.NoError(t, err)
	assert.Equal(t, "changed rev_a", h.next(t))
	require.NoError(t, b.Release(t.Context(), *c, 0))
	assert.ElementsMatch(t, []string{"enqueued", "changed rev_a"}, []string{h.next(t), h.next(t)})
	_, err = b.CancelReview(t.Context(), "acme", "rev_a")
	require.NoError(t, err)
	assert.Equal(t, "canceled rev_a", h.next(t))
	assert.Empty(t, h.heard, "no more than that")
	assert.Zero(t, log.count("level="), "nothing to say")
}

// Whoever may write to the database may send any notification.
func TestListenerHearsOnlyWhatIsWellFormed(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	long := "rev_" + strings.Repeat("a", maxEvent-len("rev_")-len(changedEvent))
	for event, want := range map[string]string{
		"q":                        "enqueued",
		"c rev_a":                  "changed rev_a",
		"x rev_a":                  "canceled rev_a",
		"c " + long:                "changed " + long,
		"c " + long + "a":          "",
		"":                         "",
		"c":                        "",
		"c ":                       "",
		"x ":                       "",
		"q rev_a":                  "",
		"c rev_a rev_b":            "",
		"c rev\x00a":               "",
		"c rév":                    "",
		"y rev_a":                  "",
		"p ABC 1":                  "",
		strings.Repeat("x", 1<<13): "",
	} {
		h := newHearer()
		_, own := s.NewListener(h, ListenerOptions{}).hear(&pq.Notification{Channel: notifyChannel, Extra: event})
		assert.False(t, own, "%q", event)
		if want == "" {
			assert.Empty(t, h.heard, "%q", event)
		} else {
			assert.Equal(t, want, h.next(t), "%q", event)
		}
	}
	h := newHearer()
	l := s.NewListener(h, ListenerOptions{})
	l.hear(&pq.Notification{Channel: "other", Extra: "q"})
	number, own := l.hear(&pq.Notification{Channel: notifyChannel, Extra: "p " + l.name + " 7"})
	assert.Equal(t, 7, number)
	assert.True(t, own)
	_, own = l.hear(&pq.Notification{Channel: notifyChannel, Extra: "p " + l.name + " x"})
	assert.False(t, own)
	assert.Empty(t, h.heard)
}

// SQLite has one server, which has nothing to hear.
func TestListenerOnSQLite(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t), Exclusive: true})
	l, h := listen(t, s, ListenerOptions{})
	require.NoError(t, l.Stop(t.Context()))
	assert.Empty(t, h.heard)
}

// TestListenerComesBack ends the listener's connection, again and again.
func TestListenerComesBack(t *testing.T) {
	t.Parallel()
	database, superuser := pgtest.NewWithSuperuser(t)
	s := openAt(t, Options{Database: database})
	log := &syncLog{}
	o := fastListening(log)
	o.Patience = patience // it is told of the end of its connection
	l, h := listen(t, s, o)
	admin, err := sql.Open("postgres", superuser)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, admin.Close()) })
	for round := 1; round <= 3; round++ {
		require.Equal(t, "missed", h.next(t), "after every connection")
		listens(t, l)
		assert.Equal(t, round-1, log.count("do not arrive"))
		assert.Equal(t, round-1, log.count("arrive again"))
		_, err := s.CreateReview(t.Context(), newReview("acme", "rev_"+string(rune('a'+round))), 10)
		require.NoError(t, err)
		require.Equal(t, "enqueued", h.next(t))

		var ended int
		require.NoError(t, admin.QueryRowContext(t.Context(), `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid))
			FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`).Scan(&ended))
		require.Equal(t, 1, ended)
	}
}

// proxy stands before the Postgres of a DSN as a connection pooler may, and
// misbehaves when told.
type proxy struct {
	database string // through it
	forgets  atomic.Bool
	silent   atomic.Bool // says nothing more to whoever listens
	listened atomic.Int32
}

func newProxy(t *testing.T, database string) *proxy {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL."+u.Query().Get("port"))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{}
	u.Host, u.RawQuery = listener.Addr().String(), "sslmode=disable"
	p.database = u.String()
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.serve(client, socket) })
		}
	})
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		running.Wait()
	})

	return p
}

func (p *proxy) serve(client net.Conn, socket string) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(context.Background(), "unix", socket)
	if err != nil {
		return
	}
	defer server.Close()
	var listening atomic.Bool
	var both sync.WaitGroup
	both.Go(func() {
		defer server.Close()
		const listen, nothing = `LISTEN "prwarden"`, `SELECT 1 /* no */` // of equal length
		b := make([]byte, 64<<10)
		for {
			n, err := client.Read(b)
			if bytes.Contains(b[:n], []byte(listen)) {
				listening.Store(true)
				p.listened.Add(1)
				if p.forgets.Load() {
					copy(b[:n], bytes.Replace(b[:n], []byte(listen), []byte(nothing), 1))
				}
			}
			if _, writeErr := server.Write(b[:n]); err != nil || writeErr != nil {
				return
			}
		}
	})
	both.Go(func() {
		defer client.Close()
		b := make([]byte, 64<<10)
		for {
			n, err := server.Read(b)
			if listening.Load() && p.silent.Load() {
				n = 0
			}
			if _, writeErr := client.Write(b[:n]); err != nil || writeErr != nil {
				return
			}
		}
	})
	both.Wait()
}

// TestListenerFindsThatItIsDeaf holds that a connection that is there, and
// hears nothing, is found and replaced, and that this is said once.
func TestListenerFindsThatItIsDeaf(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*proxy) *atomic.Bool{
		"a pooler that forgets LISTEN":  func(p *proxy) *atomic.Bool { return &p.forgets },
		"a connection that goes silent": func(p *proxy) *atomic.Bool { return &p.silent },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := pgtest.New(t)
			p := newProxy(t, database)
			s := openAt(t, Options{Database: p.database})
			broken := fault(p)
			log := &syncLog{}
			var l *Listener
			var h *hearer
			if broken == &p.silent { // after it had worked
				l, h = listen(t, s, fastListening(log))
				listens(t, l)
				broken.Store(true)
			} else {
				broken.Store(true)
				l, h = listen(t, s, fastListening(log))
			}
			require.Eventually(t, func() bool { return p.listened.Load() >= 2 }, patience, time.Millisecond)
			assert.False(t, l.Listening())
			assert.Equal(t, 1, log.count("do not arrive"))
			// The rest of the store goes on.
			_, err := s.CreateReview(t.Context(), newReview("acme", "rev_a"), 10)
			require.NoError(t, err)
			s.notifier.flush() // so that nobody is told later

			broken.Store(false)
			listens(t, l)
			assert.Equal(t, 1, log.count("arrive again"))
			assert.Equal(t, 1, log.count("do not arrive"), "once, however often it tried")
			for len(h.heard) > 0 {
				assert.Equal(t, "missed", h.next(t))
			}
			for i, heard := 0, "missed"; heard != "enqueued"; i++ {
				// Who stands still for its patience makes a new connection, and may
				// miss something, which it is told.
				require.Less(t, i, 20, "it never hears anything but that it missed something")
				require.Equal(t, "missed", heard)
				_, err = s.CreateReview(t.Context(), newReview("acme", fmt.Sprint("rev_b", i)), 1_000)
				require.NoError(t, err)
				heard = h.next(t)
			}
		})
	}
}

// TestListenerWithoutDatabase starts and stops one while nothing answers.
func TestListenerWithoutDatabase(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := "postgres://x@" + listener.Addr().String() + "/x?sslmode=disable"
	require.NoError(t, listener.Close())
	for name, database := range map[string]string{"refused": nobody, "malformed": "postgres://%"} {
		log := &syncLog{}
		l := s.NewListener(newHearer(), fastListening(log))
		l.store = &Store{dialect: s.dialect, database: database, pools: s.pools}
		l.Start()
		require.Eventually(t, func() bool { return log.count("do not arrive") > 0 }, patience, time.Millisecond, name)
		assert.False(t, l.Listening())
		require.NoError(t, l.Stop(t.Context()))
		assert.Equal(t, 1, log.count("do not arrive"))
	}
}

func TestConnectTimeoutIsAdded(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "postgres://a@h/d?connect_timeout=5&sslmode=disable",
		withConnectTimeout("postgres://a@h/d?sslmode=disable"))
	for _, kept := range []string{"postgres://a@h/d?connect_timeout=9", "postgres://%"} {
		assert.Equal(t, kept, withConnectTimeout(kept))
	}
}
