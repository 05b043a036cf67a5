package webhook_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/seal"
	"github.com/prwarden/prwarden/internal/store"
	"github.com/prwarden/prwarden/internal/webhook"
)

// clock is one that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fixture is a service over a real store.
type fixture struct {
	webhook.Service
	store    *store.Store
	clock    *clock
	database string
	sent     chan webhook.MessageState
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		database: filepath.Join(t.TempDir(), "prwarden.db"), clock: &clock{now: time.Now().Truncate(time.Second)},
		sent: make(chan webhook.MessageState, 100),
	}
	var err error
	f.store, err = store.Open(t.Context(), store.Options{Database: "sqlite:" + f.database, Now: f.clock.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.store.Close()) })
	require.NoError(t, f.store.Migrate(t.Context()))
	f.Service = webhook.Service{Store: f.store, Sealer: seal.Beside(f.database, nil)}

	return f
}

// start sends messages until the test ends.
func (f *fixture) start(t *testing.T, client *http.Client) *webhook.Sender {
	t.Helper()
	s := webhook.NewSender(f.store, webhook.SenderOptions{
		Sealer: f.Sealer, Client: client, Now: f.clock.Now, Agent: "prwarden/test",
		PublicURL: "https://prwarden.example.com/",
		OnEnd:     func(m webhook.MessageState) { f.sent <- m }, Timeout: 5 * time.Second,
	})
	f.store.OnMessage(s.Wake)
	s.Start()
	t.Cleanup(func() { require.NoError(t, s.Stop(context.WithoutCancel(t.Context()))) })

	return s
}

// received is a request that a receiver got.
type received struct {
	header http.Header
	body   []byte
}

// receiver answers what a test says and keeps what it gets.
type receiver struct {
	*httptest.Server
	got    chan received
	answer func(http.ResponseWriter, *http.Request)
}

func newReceiver(t *testing.T, answer func(http.ResponseWriter, *http.Request)) *receiver {
	t.Helper()
	r := &receiver{got: make(chan received, 100), answer: answer}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.got <- received{req.Header.Clone(), body}
		if r.answer != nil {
			r.answer(w, req)
		}
	}))
	t.Cleanup(r.Close)

	return r
}

// client is one that may reach loopback and believes the receiver's certificate.
func (r *receiver) client() *http.Client {
	c := egress.Guard{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}.Client()
	c.Transport = r.Client().Transport

	return c
}

func create(t *testing.T, f *fixture, address string, format webhook.Format) webhook.Created {
	t.Helper()
	made, err := f.Create(t.Context(), "acme", webhook.New{Name: "a", URL: address, Format: format})
	require.NoError(t, err)

	return made
}
