package servertest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/inbox"
)

// Hooks are connections with webhook secrets, and an inbox for what they deliver.
type Hooks struct {
	connection.Hosts // only what deliveries need is there

	Queries atomic.Int32                // of connections
	Looking func()                      // called while a connection is read; may be nil
	Busy    func()                      // called while a signature is checked; may be nil
	Accept  func(id string) (err error) // of the inbox; nil for success

	mu      sync.Mutex
	secrets map[string][]string // by connection
	err     error
	kept    []string
}

// Set gives a connection webhook secrets; it is there from then on.
func (f *Hooks) Set(id string, secrets ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.secrets == nil {
		f.secrets = map[string][]string{}
	}
	f.secrets[id] = secrets
}

// Fail makes every look at connections fail.
func (f *Hooks) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// Kept are the identifiers of the deliveries that were kept.
func (f *Hooks) Kept() []string {
	f.mu.Lock()
	defer f.mu.Unlock()

	return append([]string{}, f.kept...)
}

// WebhookSecrets implements connection.Hosts.
func (f *Hooks) WebhookSecrets(_ context.Context, id string) (connection.Connection, [][]byte, error) {
	f.Queries.Add(1)
	if f.Looking != nil {
		f.Looking()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	texts, ok := f.secrets[id]
	switch {
	case f.err != nil:
		return connection.Connection{}, nil, f.err
	case !ok:
		return connection.Connection{}, nil, errs.New(errs.NotFound, errs.ReasonConnectionNotFound, "There is none.")
	}
	var secrets [][]byte
	for _, text := range texts {
		secrets = append(secrets, []byte(text))
	}

	return connection.Connection{ID: id, Organization: "acme"}, secrets, nil
}

// Open implements connection.Hosts.
func (f *Hooks) Open(_ context.Context, id string) (connection.Connection, codehost.Host, error) {
	return connection.Connection{ID: id, Organization: "acme"}, &host{hooks: f}, nil
}

// host is one whose deliveries are signed as Gitea's are.
type host struct {
	codehost.Host
	hooks *Hooks
}

// Sign returns the signature of a body.
func Sign(body, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))

	return hex.EncodeToString(mac.Sum(nil))
}

// Verify implements codehost.Host.
func (h *host) Verify(header http.Header, body []byte, secrets [][]byte, _ time.Time) (string, error) {
	if h.hooks.Busy != nil {
		h.hooks.Busy()
	}
	for _, secret := range secrets {
		if hmac.Equal([]byte(header.Get("X-Gitea-Signature")), []byte(Sign(string(body), string(secret)))) {
			return header.Get("X-Gitea-Delivery"), nil
		}
	}

	return "", codehost.ErrSignature
}

// Hints implements codehost.Host.
func (h *host) Hints(_ http.Header, body []byte) ([]codehost.Hint, error) {
	var message struct{ Number int32 }
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, err
	}
	if message.Number == 0 {
		return nil, nil
	}

	return []codehost.Hint{{Kind: codehost.HintPullRequest, Number: message.Number}}, nil
}

// hookStore is the store of the inbox.
type hookStore struct {
	inbox.Store
	hooks *Hooks
}

// KeepDelivery implements inbox.Store.
func (s hookStore) KeepDelivery(_ context.Context, d inbox.Delivery) (bool, error) {
	if s.hooks.Accept != nil {
		if err := s.hooks.Accept(d.ID); err != nil {
			return false, err
		}
	}
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	for _, id := range s.hooks.kept {
		if id == d.ID {
			return false, nil
		}
	}
	s.hooks.kept = append(s.hooks.kept, d.ID)

	return true, nil
}
