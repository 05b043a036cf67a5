package codehost_test

import (
	"context"
	"encoding/pem"
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/dev/dnstest"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// guardedHost is a code host on loopback that speaks TLS under the name example.com.
type guardedHost struct {
	port    string
	reached *atomic.Int64 // connections
	env     []string      // with which git believes its certificate
}

func newGuardedHost(t *testing.T, handler http.Handler) guardedHost {
	t.Helper()
	h := guardedHost{reached: &atomic.Int64{}}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			h.reached.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)

	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(ca, block, 0o600))
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	h.port = port
	// What would lead git elsewhere is there to be left out.
	h.env = []string{"GIT_SSL_CAINFO=" + ca, "https_proxy=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=*", "no_proxy=*"}

	return h
}

// source opens pull requests of a name at the host by a guard.
func (h guardedHost) source(t *testing.T, name string, guard egress.Guard) scan.Source {
	t.Helper()
	limits := git.DefaultLimits()
	limits.LowSpeed = time.Hour
	store, err := git.New(git.Options{Dir: t.TempDir(), Limits: limits, Env: h.env, Guard: guard})
	require.NoError(t, err)

	return guardedSource{atHost{store, organization.Host{
		Kind: organization.KindGit, URL: "https://" + name + ":" + h.port + "/{repo}.git",
	}}}
}

type guardedSource struct{ scan.Source }

func (s guardedSource) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	t.Guarded = true
	return s.Source.Open(ctx, t)
}

// TestGuardedFetch reads a pull request from an address that is let through.
func TestGuardedFetch(t *testing.T) {
	t.Parallel()
	r := New(t)
	base, _ := r.Change(Text("a", "0\n", "old", numbered(20)), Text("a", "0\n1\n", "new", numbered(20)+"x\n"))
	h := newGuardedHost(t, &Server{Repo: r, Token: "s3cr3t-t0k3n"})
	private := target
	private.Credential = codehost.Credential{Token: "s3cr3t-t0k3n"}
	s := h.source(t, "example.com", egress.Guard{
		Resolver: dnstest.NewResolver(t, netip.MustParseAddr("127.0.0.1")),
		Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})

	c, err := s.Open(t.Context(), private)
	require.NoError(t, err)
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "1"}}, {path: "new", lines: map[int]string{21: "x"}}}, files(t, c))
	r.Pull(1, r.Commit(Text("a", "0\n2\n"), base))
	c, err = s.Open(t.Context(), private)
	require.NoError(t, err)
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "2"}}}, files(t, c))
	assert.Positive(t, h.reached.Load())

	// What the host answers counts as without a tunnel.
	private.Credential.Token = "wr0ng"
	_, err = s.Open(t.Context(), private)
	var f *scan.Failure
	require.ErrorAs(t, err, &f)
	assert.Equal(t, scan.CodeAccessDenied, f.Code, "%v", f)
}

// TestGuardedHosts holds that git reaches no address that isn't public, whatever leads
// to it.
func TestGuardedHosts(t *testing.T) {
	t.Parallel()
	r := New(t)
	r.Change(Text("a", "0\n"), Text("a", "1\n"))
	public, loopback := netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("127.0.0.1")

	for name, resolver := range map[string]*net.Resolver{
		"example.com":        dnstest.NewResolver(t, loopback),
		"changing.example":   lookedUp(t, dnstest.NewResolver(t, public, loopback), "changing.example"),
		"127.0.0.1":          nil,
		"localhost":          nil,
		"0.0.0.0":            nil,
		"[::1]":              nil,
		"[::ffff:127.0.0.1]": nil,
		"2130706433":         dnstest.NewResolver(t, loopback),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newGuardedHost(t, &Server{Repo: r})
			f := failure(t, t.Context(), h.source(t, name, egress.Guard{Resolver: resolver}))
			if name != "2130706433" { // curl takes it for an address, and Go for no name at all
				assert.Equal(t, scan.CodeHostMisconfigured, f.Code, "%v", f)
				assert.Contains(t, f.Message, "may not be reached")
				assert.True(t, f.Lasting)
			}
			assert.Zero(t, h.reached.Load())
		})
	}
}

// lookedUp is a resolver that has answered once.
func lookedUp(t *testing.T, resolver *net.Resolver, name string) *net.Resolver {
	t.Helper()
	_, err := resolver.LookupNetIP(t.Context(), "ip4", name)
	require.NoError(t, err)

	return resolver
}

// TestGuardedSchemes holds that a guarded host is reached by https only.
func TestGuardedSchemes(t *testing.T) {
	t.Parallel()
	r := New(t)
	r.Change(Text("a", "0\n"), Text("a", "1\n"))
	plain := serve(t, &Server{Repo: r})
	for _, host := range []organization.Host{plain, fileHost(r)} {
		f := failure(t, t.Context(), guardedSource{source(t, host)})
		assert.Equal(t, scan.CodeHostMisconfigured, f.Code, "%v", f)
		assert.True(t, strings.Contains(f.Message, "https only"), f.Message)
	}
}
