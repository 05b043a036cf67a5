package clients_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/chaos/clients"
	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
)

// service is a server as the clients see it over REST; over gRPC it can't be
// reached. Every second creation is refused for now.
type service struct {
	mu      sync.Mutex
	ids     map[string]string // idempotency key: review
	bodies  map[string]string
	calls   int
	spoiled func(http.ResponseWriter, *http.Request) bool // answers instead, when it returns true
}

func (s *service) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spoiled != nil && s.spoiled(w, q) {
		return
	}
	switch {
	case q.Method == http.MethodPost && q.URL.Path == "/v1/reviews":
		var body json.RawMessage
		_ = json.NewDecoder(q.Body).Decode(&body)
		s.calls++
		key := q.Header.Get("Idempotency-Key")
		if s.calls%2 == 1 {
			w.Header().Set("Retry-After", "60")
			http.Error(w, `{"message":"busy"}`, http.StatusServiceUnavailable)
			return
		}
		if old, ok := s.bodies[key]; ok && old != string(body) {
			http.Error(w, `{"message":"other","details":[{"reason":"IDEMPOTENCY_CONFLICT"}]}`, http.StatusConflict)
			return
		}
		if s.ids[key] == "" {
			s.ids[key], s.bodies[key] = fmt.Sprintf("rev_%d", len(s.ids)), string(body)
		}
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"review_id":%q,"status":"queued","estimated_ms":5}`, s.ids[key])
	case strings.HasSuffix(q.URL.Path, ":watch"):
		fmt.Fprint(w, `{"result":{"status":"queued"}}`+"\n"+`{"result":{"status":"complete"}}`+"\n")
	case strings.HasSuffix(q.URL.Path, ":cancel"):
		http.Error(w, `{"message":"done","details":[{"reason":"REVIEW_FINISHED"}]}`, http.StatusConflict)
	default:
		fmt.Fprint(w, `{"status":"complete","findings":[{"rule_id":"a/b","severity":"high","file":"x","line":2,"snippet":"y"}],"summary":{"high":1,"low":0}}`)
	}
}

func pool(t *testing.T, s *service) *clients.Pool {
	t.Helper()
	s.ids, s.bodies = map[string]string{}, map[string]string{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	p, err := clients.New(clients.Options{
		Servers: []clients.Server{{HTTP: strings.TrimPrefix(server.URL, "http://"), GRPC: "127.0.0.1:1"}},
		Keys:    map[string]string{"o": "prw_x"}, Clients: 4, Seed: 1, Run: "run",
		Pulls: &pulls.Set{Pulls: []pulls.Pull{{Organization: "o", Repo: "o/r", Number: 1}, {Organization: "o", Repo: "o/r", Number: 2}}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Close()) })
	return p
}

// patience bounds waits; it is only reached when something is broken.
const patience = 5 * time.Minute

// run lets the clients work until so many reviews were accepted, or one
// complains.
func run(t *testing.T, p *clients.Pool, reviews int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	enough, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- p.Run(ctx, enough) }()
	require.Eventually(t, func() bool {
		accepted, _, _ := p.Counts()
		return accepted >= reviews || len(p.Complaints()) > 0
	}, patience, time.Millisecond)
	close(enough)
	require.NoError(t, <-done)
}

func TestClientsInsist(t *testing.T) {
	t.Parallel()
	s := &service{}
	p := pool(t, s)
	run(t, p, 40)
	assert.Empty(t, p.Complaints())
	accepted, ended, again := p.Counts()
	assert.GreaterOrEqual(t, accepted, 40)
	assert.Equal(t, accepted, ended)
	assert.Positive(t, again, "refusals for now, and gRPC")
	watched := 0
	for _, rec := range p.Records() {
		assert.Equal(t, s.ids[rec.Key], rec.ID)
		assert.Equal(t, "complete", rec.Final)
		if rec.Watched {
			watched++
		}
	}
	assert.Positive(t, watched)
	assert.Less(t, watched, accepted, "others ask again and again")

	all, err := p.ReadAll(t.Context())
	require.NoError(t, err)
	assert.Len(t, all, accepted)
	for _, r := range all {
		assert.Equal(t, []pulls.Finding{{RuleID: "a/b", Severity: "high", File: "x", Line: 2, Snippet: "y"}}, r.Findings)
		assert.Equal(t, 1, r.Total)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	p := pool(t, &service{})
	took, err := p.Probe(t.Context(), []int{0})
	require.NoError(t, err)
	assert.Positive(t, took)
	require.Len(t, p.Records(), 1)
	assert.NotEmpty(t, p.Records()[0].ID)
	assert.Empty(t, p.Records()[0].Final)
	p.FollowRest(t.Context())
	assert.Equal(t, "complete", p.Records()[0].Final)
}

func TestClientsComplain(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w http.ResponseWriter, q *http.Request) bool{
		"of a 500": func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, `{"message":"Oops."}`, http.StatusInternalServerError)
			return true
		},
		"of a 503 that does not say when": func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, `{"message":"busy"}`, http.StatusServiceUnavailable)
			return true
		},
		"of an answer without an id": func(w http.ResponseWriter, q *http.Request) bool {
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"status":"queued","estimated_ms":5}`)
			return q.Method == http.MethodPost
		},
		"of a text instead of JSON": func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `<html>`)
			return true
		},
		"of a watch that goes on": func(w http.ResponseWriter, q *http.Request) bool {
			if !strings.HasSuffix(q.URL.Path, ":watch") {
				return false
			}
			fmt.Fprint(w, `{"result":{"status":"complete"}}`+"\n"+`{"result":{"status":"queued"}}`+"\n"+`{"result":{"status":"complete"}}`+"\n")
			return true
		},
		"of a replay with another answer": func(w http.ResponseWriter, q *http.Request) bool {
			if q.Method != http.MethodPost {
				return false
			}
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(w, `{"review_id":"rev_%d","status":"queued","estimated_ms":5}`, time.Now().UnixNano())
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pool(t, &service{spoiled: spoil})
			run(t, p, 1_000_000)
			assert.NotEmpty(t, p.Complaints())
		})
	}
}
