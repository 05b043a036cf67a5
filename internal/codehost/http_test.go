package codehost_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/git"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/dev/steady"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// serve starts a server on loopback and returns the settings that lead to it.
func serve(t *testing.T, handler http.Handler) organization.Host {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // before Close, which waits for them
	return organization.Host{Kind: organization.KindGit, URL: server.URL + "/{repo}.git"}
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Server){
		"plain":                   func(*Server) {},
		"no filter":               func(s *Server) { s.NoFilter = true },
		"old protocol":            func(s *Server) { s.Old = true },
		"old protocol, no filter": func(s *Server) { s.Old, s.NoFilter = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New(t)
			base, _ := r.Change(
				Text("a", "0\n", "old", numbered(20), ".prwarden/rules.yml", "version: 1\n"),
				Text("a", "0\n1\n", "new", numbered(20)+"x\n"),
			)
			server := &Server{Repo: r}
			change(server)
			s := source(t, serve(t, server))
			want := []seen{{path: "a", lines: map[int]string{2: "1"}}, {path: "new", lines: map[int]string{21: "x"}}}
			for range 2 { // cold and warm
				c, err := s.Open(t.Context(), target)
				require.NoError(t, err)
				rules, found, err := c.ReadFile(t.Context(), scan.Base, ".prwarden/rules.yml", 100)
				assert.Equal(t, "version: 1\n", string(rules))
				assert.True(t, found)
				require.NoError(t, err)
				assert.Equal(t, want, files(t, c))
			}
			r.Pull(1, r.Commit(Text("a", "0\n2\n"), base))
			c, err := s.Open(t.Context(), target)
			require.NoError(t, err)
			assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "2"}}}, files(t, c))
		})
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-t0k3n"
	r := New(t)
	r.Change(Text("a", "0\n"), Text("a", "1\n"))
	settings := serve(t, &Server{Repo: r, Token: secret})

	f := failure(t, t.Context(), source(t, settings))
	assert.Equal(t, scan.CodeAccessDenied, f.Code, "%v", f)
	assert.True(t, f.Lasting)

	for token, code := range map[string]string{secret: "", "wr0ng-t0k3n": scan.CodeAccessDenied} {
		dir := t.TempDir()
		limits := git.DefaultLimits()
		limits.LowSpeed = time.Hour
		store, err := git.New(git.Options{Dir: dir, Limits: limits})
		require.NoError(t, err)
		private := target
		private.Credential = codehost.Credential{Token: token}
		c, err := atHost{store, settings}.Open(t.Context(), private)
		if code == "" {
			require.NoError(t, err)
			files(t, c)
		} else {
			var f *scan.Failure
			require.ErrorAs(t, err, &f)
			assert.Equal(t, code, f.Code)
			assert.NotContains(t, f.Error(), token)
		}
		require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.NotContains(t, string(data), token, path)
			}
			return err
		}))
	}
}

// status answers everything with one status.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", code) }
}

func TestServersThatRefuse(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	t.Cleanup(elsewhere.Close)

	tests := map[string]struct {
		handler http.Handler
		code    string
		lasting bool
	}{
		"unauthorized": {status(401), scan.CodeAccessDenied, true},
		"forbidden":    {status(403), scan.CodeAccessDenied, true},
		"not found":    {status(404), scan.CodeRepositoryNotFound, true},
		"gone":         {status(410), scan.CodeRepositoryNotFound, true},
		"too many":     {status(429), scan.CodeHostUnreachable, false},
		"broken":       {status(500), scan.CodeHostUnreachable, false},
		"unavailable":  {status(503), scan.CodeHostUnreachable, false},
		"moved":        {http.RedirectHandler(elsewhere.URL, http.StatusMovedPermanently), scan.CodeRepositoryNotFound, true},
		"garbage": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<!DOCTYPE html>\n<html>Welcome</html>\n")
		}), scan.CodeHostUnreachable, false},
		"garbage of the right type": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			fmt.Fprint(w, "001e# service=git-upload-pack\n0000zzzz")
		}), scan.CodeHostUnreachable, false},
		"cut off": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "001e#")
		}), scan.CodeHostUnreachable, false},
		"garbage for a pack": {&PackServer{
			Refs: []string{strings.Repeat("1", 40) + " HEAD", strings.Repeat("2", 40) + " refs/pull/1/head"},
			Pack: []byte(strings.Repeat("PACK", 100)),
		},
			scan.CodeRepositoryInvalid, true},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := failure(t, t.Context(), source(t, serve(t, test.handler)))
			assert.Equal(t, test.code, f.Code, "%v", f)
			assert.Equal(t, test.lasting, f.Lasting, "%v", f)
		})
	}
}

func TestNothingListens(t *testing.T) {
	t.Parallel()
	port, err := steady.ReservePort()
	require.NoError(t, err)
	defer port.Close()
	f := failure(
		t, t.Context(),
		source(t, organization.Host{Kind: organization.KindGit, URL: "http://" + port.Addr() + "/{repo}"}),
	)

	assert.Equal(t, scan.CodeHostUnreachable, f.Code)
	assert.False(t, f.Lasting)
}

// hang answers nothing, or a byte at a time, and tells when it was asked.
func hang(asked chan<- struct{}, drip bool) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-q.Context().Done():
				return
			case <-tick.C:
				if drip {
					_, _ = w.Write([]byte("0"))
					_ = http.NewResponseController(w).Flush()
				}
			}
		}
	}
}

func TestSlowServers(t *testing.T) {
	t.Parallel()
	for name, drip := range map[string]bool{"hangs": false, "drips": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source(t, serve(t, hang(make(chan struct{}, 1), drip)), func(l *git.Limits) { l.LowSpeed = time.Second })
			f := failure(t, t.Context(), s)
			assert.Equal(t, scan.CodeHostUnreachable, f.Code, "%v", f)
			assert.False(t, f.Lasting)
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	settings := serve(t, hang(asked, false))
	s := source(t, settings, func(l *git.Limits) { l.LowSpeed = 24 * time.Hour }) // nothing else ends it
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Open(ctx, target)
		done <- err
	}()
	<-asked
	cancel()
	err := <-done
	require.ErrorIs(t, err, context.Canceled)
	var f *scan.Failure
	require.ErrorAs(t, err, &f)
	assert.False(t, f.Lasting)
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	s := source(t, serve(t, hang(make(chan struct{}, 1), false)))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	f := failure(t, ctx, s)
	assert.Equal(t, scan.CodeScanTimeout, f.Code, "%v", f)
	assert.True(t, f.Lasting)
}
