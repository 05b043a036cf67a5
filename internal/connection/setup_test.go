package connection_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/seal"
	"github.com/prwarden/prwarden/internal/store"
)

// host is a code host that answers what a test says.
type host struct {
	codehost.Host
	options connection.Options
	service *fixture
}

func (h host) Access(context.Context) (codehost.Access, error) {
	return h.service.access, h.service.fails
}

func (h host) Repositories(context.Context, int) ([]codehost.Repository, error) {
	return []codehost.Repository{{Name: "acme/shop"}, {Name: "other/shop"}}, h.service.fails
}

// fixture is a service over a real store.
type fixture struct {
	*connection.Service
	store    *store.Store
	database string // file

	mu     sync.Mutex
	opened []connection.Options
	access codehost.Access
	fails  error

	guarded, trusted *http.Client
}

var (
	tenant   = connection.Caller{Organization: "acme"}
	operator = connection.Caller{Organization: "acme", Operator: true}
)

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		database: filepath.Join(t.TempDir(), "prwarden.db"), guarded: &http.Client{}, trusted: &http.Client{},
		access: codehost.Access{Account: "bot"},
	}
	var err error
	f.store, err = store.Open(t.Context(), store.Options{Database: "sqlite:" + f.database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.store.Close()) })
	require.NoError(t, f.store.Migrate(t.Context()))
	f.Service = f.with(seal.Beside(f.database, nil))

	return f
}

// with is another service over the same store, as another process has it.
func (f *fixture) with(s *seal.Sealer) *connection.Service {
	open := func(o connection.Options) (codehost.Host, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.opened = append(f.opened, o)

		return host{options: o, service: f}, nil
	}

	return connection.NewService(connection.Config{
		Store: f.store, Sealer: s, Client: f.guarded, TrustedClient: f.trusted, Log: slog.New(slog.DiscardHandler),
		Hosts: connection.Factory{
			codehost.GitHub: open, codehost.GitLab: open, codehost.Gitea: open, codehost.Forgejo: open,
			codehost.BitbucketCloud: open, codehost.BitbucketServer: open,
		},
		Listed: func(u *url.URL) bool { return u.Host == "listed.corp.example" },
	})
}

const (
	token     = "a-token-that-nobody-may-read"
	gitToken  = "a-git-token-that-nobody-may-read"
	given     = "a-webhook-secret-that-was-given"
	installed = 1 << 30
)

// gitea is a connection that may be made.
func gitea() connection.Connection {
	return connection.Connection{
		Name: "gitea", Kind: codehost.Gitea, URL: "https://git.example.com/", Repositories: []string{"acme/*"},
	}
}

func create(t *testing.T, f *fixture, by connection.Caller, c connection.Connection) connection.Created {
	t.Helper()
	out, err := f.Create(t.Context(), by, c, connection.Secrets{Token: token, GitToken: gitToken})
	require.NoError(t, err)

	return out
}

// newPrivateKey is the key of a GitHub App.
func newPrivateKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)

	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}
