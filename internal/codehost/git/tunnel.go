package git

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/scan"
)

// tunnel is a proxy on loopback through which one git command reaches one host. git
// looks names up by itself, so this is where an address can be checked when it is
// dialed. Nobody but that command knows the password.
type tunnel struct {
	guard    egress.Guard
	place    string // HOST:PORT
	password string
	address  string
	server   *http.Server

	done  context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu     sync.Mutex
	failed error // of the last dial
}

const tunnelUser = "git"

// openTunnel opens a tunnel to the host of a remote, for which git uses https.
func openTunnel(ctx context.Context, guard egress.Guard, remote string) (*tunnel, error) {
	u, err := url.Parse(remote)
	if err != nil || u.Scheme != "https" {
		return nil, lasting(scan.CodeHostMisconfigured, "The code host of this connection is reached by https only.")
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}

	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, passing(scan.CodeScanFailed, "The scanner can't listen on this machine.", err)
	}

	t := &tunnel{
		guard: guard, place: net.JoinHostPort(u.Hostname(), port), password: rand.Text(),
		address: listener.Addr().String(),
	}
	t.done, t.end = context.WithCancel(ctx)
	t.server = &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second}
	t.tasks.Go(func() { _ = t.server.Serve(listener) }) // it ends by close
	return t, nil
}

// close ends the tunnel and what goes through it.
func (t *tunnel) close() {
	t.mu.Lock()
	t.end()
	t.mu.Unlock()
	_ = t.server.Close()
	t.tasks.Wait()
}

// lead has a command go through the tunnel.
func (t *tunnel) lead(c *command) {
	u := url.URL{Scheme: "http", User: url.UserPassword(tunnelUser, t.password), Host: t.address}
	c.set("http.proxy", u.String())
	c.set("http.proxyAuthMethod", "basic")
	c.secrets, c.guarded = append(c.secrets, t.password), true
}

// failure is why the command could not get through; nil when it could.
func (t *tunnel) failure(cause error) *scan.Failure {
	t.mu.Lock()
	defer t.mu.Unlock()

	refused, isRefused := errors.AsType[*egress.Refused](t.failed)
	switch {
	case t.failed == nil:
		return nil
	case isRefused:
		f := lasting(scan.CodeHostMisconfigured, "The code host isn't used: %s.", refused)
		f.Err = cause
		return f
	}

	return passing(scan.CodeHostUnreachable, unreachable, t.failed)
}

// begin counts a task, unless the tunnel is closed.
func (t *tunnel) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.done.Err() != nil {
		return false
	}
	t.tasks.Add(1)
	return true
}

// ServeHTTP implements http.Handler.
func (t *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !t.begin() {
		return
	}
	defer t.tasks.Done()

	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(tunnelUser+":"+t.password))
	switch {
	case subtle.ConstantTimeCompare([]byte(r.Header.Get("Proxy-Authorization")), []byte(want)) != 1:
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	case r.Method != http.MethodConnect || !strings.EqualFold(r.Host, t.place):
		w.WriteHeader(http.StatusForbidden)
		return
	}

	there, err := t.guard.DialContext(t.done, "tcp", t.place)
	t.mu.Lock()
	t.failed = err
	t.mu.Unlock()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = there.Close() }() // a second time is none

	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // git is gone
	}
	defer func() { _ = here.Close() }()

	stop := context.AfterFunc(t.done, func() {
		_ = here.Close()
		_ = there.Close()
	})
	defer stop()
	if _, err := io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n"); err == nil {
		join(here, buffered, there)
	}
}

// join copies both ways until both ends have said all. What breaks one way ends it, and
// the other by that.
func join(here net.Conn, fromHere io.Reader, there net.Conn) {
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(here, there)
		closeWrite(here)
	})
	_, _ = io.Copy(there, fromHere)
	closeWrite(there)
	back.Wait()
}

// closeWrite says that nothing more comes.
func closeWrite(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}
