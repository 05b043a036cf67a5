package auth_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)} }

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

// keyStore is a KeyStore in memory that counts questions and can be away.
type keyStore struct {
	mu    sync.Mutex
	now   func() time.Time
	keys  map[string]auth.Key // by hash
	asked int

	organizationLimit int // of all organizations

	down    error
	hold    chan struct{} // when not nil, KeyByHash waits for it after reading
	reading chan struct{} // when not nil, told when KeyByHash has read
	touched []map[string]time.Time
}

func newKeyStore(now func() time.Time) *keyStore {
	return &keyStore{now: now, keys: map[string]auth.Key{}}
}

func (s *keyStore) CreateKey(_ context.Context, k auth.Key, _ int) (auth.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return auth.Key{}, s.down
	}
	k.CreatedAt = s.now()
	s.keys[k.Hash] = k
	return k, nil
}

func (s *keyStore) KeyByHash(_ context.Context, hash string) (auth.Key, bool, error) {
	s.mu.Lock()
	s.asked++
	k, ok := s.keys[hash]
	k.OrganizationLimit = s.organizationLimit
	down, hold, reading := s.down, s.hold, s.reading
	s.mu.Unlock()

	if reading != nil {
		reading <- struct{}{}
	}
	if hold != nil {
		<-hold
	}

	return k, ok, down
}

func (s *keyStore) ListKeys(_ context.Context, org string) ([]auth.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []auth.Key
	for _, k := range s.keys {
		if k.RevokedAt.IsZero() && (org == "" || k.Organization == org) {
			out = append(out, k)
		}
	}
	return out, nil
}

func (s *keyStore) RevokeKey(_ context.Context, org, id string, _ bool) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h, k := range s.keys {
		if k.ID == id && k.RevokedAt.IsZero() && (org == "" || k.Organization == org) {
			k.RevokedAt = s.now()
			s.keys[h] = k
			return []string{id}, nil
		}
	}
	return nil, errs.New(errs.NotFound, errs.ReasonKeyNotFound, "no such key")
}

func (s *keyStore) TouchKeys(_ context.Context, used map[string]time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return s.down
	}
	s.touched = append(s.touched, used)
	return nil
}

func (s *keyStore) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *keyStore) setDown(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

type bundle struct {
	clock *clock // the store's
	store *keyStore
	keys  *auth.Keys
}

func setup(t *testing.T) bundle {
	t.Helper()
	c := newClock()
	s := newKeyStore(c.Now)

	return bundle{clock: c, store: s, keys: auth.NewKeys(s, c.Now, slog.New(slog.DiscardHandler))}
}

// advance lets time pass on the store's clock and, in a bubble of synctest, on
// this machine's.
func (b bundle) advance(d time.Duration) {
	b.clock.Advance(d)
	<-time.After(d)
}

// issue makes a key and returns it with its Authorization header.
func (b bundle) issue(t *testing.T, n auth.NewKey) (auth.Key, []string) {
	t.Helper()
	if n.Name == "" {
		n.Name = "ci"
	}
	k, token, err := b.keys.Issue(t.Context(), "acme", n)
	require.NoError(t, err)
	return k, []string{"Bearer " + token}
}
