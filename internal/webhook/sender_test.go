package webhook_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/dnstest"
	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/webhook"
)

// verify checks a request as a receiver with a secret does.
func verify(t *testing.T, r received, secret string) {
	t.Helper()
	by, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	require.NoError(t, by.Verify(r.body, r.header))
}

func createReview(t *testing.T, f *fixture, id string) {
	t.Helper()
	_, err := f.store.CreateReview(t.Context(), review.NewReview{
		ID: id, Organization: "acme", Repo: "acme/shop", PRNumber: 7, Ruleset: "default", CreatedBy: "key:key_a",
	}, 10)
	require.NoError(t, err)
}

func TestReceiverVerifies(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t), newReceiver(t, nil)
	made := create(t, f, r.URL+"/x?token=t", webhook.Standard)
	f.start(t, r.client())
	createReview(t, f, "rev_1")

	got := <-r.got
	verify(t, got, made.Secret)
	assert.Equal(t, "application/json", got.header.Get("Content-Type"))
	var body map[string]any
	require.NoError(t, json.Unmarshal(got.body, &body))
	assert.Equal(t, "review.queued", body["type"])
	assert.Equal(t, map[string]any{
		"organization": "acme", "review_id": "rev_1", "repo": "acme/shop", "pr_number": 7.0,
		"url": "https://prwarden.example.com/v1/reviews/rev_1",
	}, body["data"])
	require.Equal(t, webhook.Delivered, <-f.sent)

	rotated, err := f.Rotate(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	_, err = f.SendTest(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	got = <-r.got
	verify(t, got, made.Secret)
	verify(t, got, rotated.Secret)
	require.Equal(t, webhook.Delivered, <-f.sent)
}

// All attempts of a message have one identifier, and each its own time and signature.
func TestRetry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var calls atomic.Int32
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = fmt.Fprint(w, "\x00\xff"+strings.Repeat("x", 2000))
		}
	})
	made := create(t, f, r.URL, webhook.Standard)
	sender := f.start(t, r.client())
	id, err := f.SendTest(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	first := <-r.got
	require.Equal(t, webhook.Waiting, <-f.sent)

	failing, err := f.Messages(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	require.Len(t, failing[0].Attempts, 1)
	a := failing[0].Attempts[0]
	assert.Equal(t, 500, a.Status)
	assert.LessOrEqual(t, len(a.Answer), webhook.MaxAnswer+10)
	assert.True(t, strings.HasPrefix(a.Answer, "\uFFFDxxx"), a.Answer[:10])
	now := f.clock.Now()
	assert.WithinRange(t, failing[0].NextAt, now.Add(5*time.Second), now.Add(6*time.Second+time.Millisecond))

	f.clock.Advance(7 * time.Second)
	sender.Wake()
	second := <-r.got
	require.Equal(t, webhook.Delivered, <-f.sent)
	assert.Equal(t, id, first.header.Get("webhook-id"))
	assert.Equal(t, id, second.header.Get("webhook-id"))
	assert.Equal(t, first.body, second.body)
	assert.NotEqual(t, first.header.Get("webhook-timestamp"), second.header.Get("webhook-timestamp"))
	assert.NotEqual(t, first.header.Get("webhook-signature"), second.header.Get("webhook-signature"))
	verify(t, second, made.Secret)

	require.NoError(t, f.Redeliver(t.Context(), "acme", made.ID, id))
	assert.Equal(t, id, (<-r.got).header.Get("webhook-id"))
	require.Equal(t, webhook.Delivered, <-f.sent)
}

func TestGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	made := create(t, f, r.URL, webhook.Standard)
	f.start(t, r.client())
	_, err := f.SendTest(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	require.Equal(t, webhook.Failed, <-f.sent)
	w, err := f.Get(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	assert.Equal(t, webhook.Disabled, w.State)
	assert.Equal(t, webhook.ReasonGone, w.Reason)

	enabled := true
	w, err = f.Update(t.Context(), "acme", made.ID, webhook.Change{Enabled: &enabled})
	require.NoError(t, err)
	assert.Equal(t, webhook.Active, w.State)
	assert.True(t, w.FailingSince.IsZero())
}

func TestSlack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var calls atomic.Int32
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	made := create(t, f, r.URL+"/services/T0/B0/secret-part", webhook.Slack)
	assert.Empty(t, made.Secret)
	assert.Equal(t, r.URL+"/…", made.URL)
	sender := f.start(t, r.client())
	createReview(t, f, "rev_1")
	<-r.got
	require.Equal(t, webhook.Waiting, <-f.sent)
	list, err := f.Messages(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	assert.False(t, list[0].NextAt.Before(f.clock.Now().Add(30*time.Second)), "as the receiver asks")

	f.clock.Advance(time.Minute)
	sender.Wake()
	got := <-r.got
	require.Equal(t, webhook.Delivered, <-f.sent)
	assert.Empty(t, got.header.Get("webhook-signature"))
	var body struct {
		Text   string           `json:"text"`
		Blocks []map[string]any `json:"blocks"`
	}
	require.NoError(t, json.Unmarshal(got.body, &body))
	assert.Equal(t,
		"`acme/shop` pull request 7: the review is queued. <https://prwarden.example.com/v1/reviews/rev_1|More>",
		body.Text)
	assert.Len(t, body.Blocks, 1)
}

// A redirect is an answer, and not followed.
func TestRedirect(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, "/other", http.StatusFound)
	})
	made := create(t, f, r.URL, webhook.Standard)
	f.start(t, r.client())
	_, err := f.SendTest(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	require.Equal(t, webhook.Waiting, <-f.sent)
	assert.Len(t, r.got, 1)
	list, err := f.Messages(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	assert.Equal(t, http.StatusFound, list[0].Attempts[0].Status)
}

// Nothing is sent to addresses that are not public, also when a name changes between
// the look-up and the dial, and nobody is told the address.
func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var reached atomic.Int64
	l := httptest.NewUnstartedServer(http.NotFoundHandler())
	l.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			reached.Add(1)
		}
	}
	l.StartTLS()
	t.Cleanup(l.Close)
	_, port, err := net.SplitHostPort(l.Listener.Addr().String())
	require.NoError(t, err)
	// The first answer is public, as a check before the dial would see it.
	resolver := dnstest.NewResolver(t, netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("127.0.0.1"))
	_, err = resolver.LookupNetIP(t.Context(), "ip4", "changing.example")
	require.NoError(t, err)

	f.start(t, egress.Guard{Resolver: resolver}.Client())
	hosts := []string{
		"127.0.0.1", "localhost", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254",
		"168.63.129.16", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fd00:ec2::254]",
		"changing.example",
	}
	for _, host := range hosts {
		made := create(t, f, "https://"+host+":"+port+"/", webhook.Standard)
		_, err := f.SendTest(t.Context(), "acme", made.ID)
		require.NoError(t, err)
		require.Equal(t, webhook.Waiting, <-f.sent, host)
		list, err := f.Messages(t.Context(), "acme", made.ID)
		require.NoError(t, err)
		assert.Contains(t, list[0].Attempts[0].Error, "may not be reached", host)
	}
	assert.Zero(t, reached.Load())
}

// The secrets and the address of Slack are in no file of the database, no log, and
// nothing that is answered.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const canary = "canary-that-nobody-may-read"
	var log strings.Builder
	dead := httptest.NewTLSServer(http.NotFoundHandler())
	address := dead.URL
	dead.Close()
	slack := create(t, f, address+"/services/"+canary, webhook.Slack)
	signed := create(t, f, address+"/x?token="+canary, webhook.Standard)
	sent := make(chan webhook.MessageState)
	s := webhook.NewSender(f.store, webhook.SenderOptions{
		Sealer: f.Sealer, Now: f.clock.Now,
		Log:    slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Client: egress.Guard{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}.Client(),
		OnEnd:  func(m webhook.MessageState) { sent <- m },
	})
	f.store.OnMessage(s.Wake)
	s.Start()
	shown := ""
	for _, w := range []webhook.Created{slack, signed} {
		_, err := f.SendTest(t.Context(), "acme", w.ID)
		require.NoError(t, err)
		require.Equal(t, webhook.Waiting, <-sent)
		list, err := f.Messages(t.Context(), "acme", w.ID)
		require.NoError(t, err)
		got, err := f.Get(t.Context(), "acme", w.ID)
		require.NoError(t, err)
		assert.NotEmpty(t, list[0].Attempts[0].Error)
		shown += fmt.Sprintf("%+v %+v", list, got)
	}
	require.NoError(t, s.Stop(t.Context()))

	files, err := os.ReadDir(filepath.Dir(f.database))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(f.database), file.Name()))
		require.NoError(t, err)
		shown += string(data)
	}
	shown += log.String()
	for _, secret := range []string{canary, signed.Secret, strings.TrimPrefix(signed.Secret, "whsec_")} {
		assert.False(t, strings.Contains(shown, secret), secret)
	}
	assert.Contains(t, shown, signed.ID, "what is looked at is what there is")
}

// A message that is sent again and again keeps its last attempts.
func TestKeptAttempts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := newReceiver(t, nil)
	made := create(t, f, r.URL, webhook.Standard)
	f.start(t, r.client())
	id, err := f.SendTest(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	for i := range webhook.KeptAttempts + 2 {
		<-r.got
		require.Equal(t, webhook.Delivered, <-f.sent)
		f.clock.Advance(time.Minute)
		if i <= webhook.KeptAttempts {
			require.NoError(t, f.Redeliver(t.Context(), "acme", made.ID, id))
		}
	}
	list, err := f.Messages(t.Context(), "acme", made.ID)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Len(t, list[0].Attempts, webhook.KeptAttempts)
	assert.WithinDuration(t, f.clock.Now().Add(-time.Minute), list[0].Attempts[webhook.KeptAttempts-1].At, 0)
}
