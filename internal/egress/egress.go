// Package egress makes connections to places that others name. Each address is
// checked when it is dialed, after the look-up of its name, so a name that changes in
// between leads nowhere else.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	dialTimeout = 5 * time.Second
	// timeout bounds a request of a client whose caller sets no deadline.
	timeout    = time.Minute
	maxHeaders = 256 << 10

	// MaxAnswer is how much a client reads of an answer, in bytes.
	MaxAnswer = 32 << 20
)

// Guard says where connections may go: to public addresses by https, and to what is
// listed. The zero Guard lists nothing.
type Guard struct {
	// Networks may be reached though their addresses are not public.
	Networks []netip.Prefix

	// Origins may be reached wherever they are, and by http when they say so. They are
	// as ParseOrigin returns them, such as https://git.corp.example:443.
	Origins []string

	// Resolver looks names up; nil for the system's.
	Resolver *net.Resolver
}

// Refused is the error of a place that connections may not go to. It doesn't tell the
// address that a name has, which is nothing for whoever chose the name.
type Refused struct {
	Place string // as it was asked for
	Why   string
}

// Error says where a connection was not made to, and why.
func (e *Refused) Error() string {
	return fmt.Sprintf("%s may not be reached: %s; the operator of prwarden can allow it", e.Place, e.Why)
}

// ParseOrigin brings an address of a scheme, a host and perhaps a port to the one form
// of Guard.Origins, with the port.
func ParseOrigin(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" ||
		u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", fmt.Errorf("%q is not an origin; write one such as https://git.corp.example", address)
	}

	return originOf(u), nil
}

// originOf is the scheme, host and port of an address.
func originOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}

	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// Lists tells whether the operator listed the origin of an address.
func (g Guard) Lists(address *url.URL) bool { return g.listed(originOf(address)) }

func (g Guard) listed(origin string) bool { return slices.Contains(g.Origins, origin) }

// DialContext dials a HOST:PORT. It fails with a *Refused when that leads to an address
// that may not be reached.
func (g Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	place := strings.ToLower(address)
	listed := g.listed("https://"+place) || g.listed("http://"+place)
	d := net.Dialer{Timeout: dialTimeout, Resolver: g.Resolver}
	d.ControlContext = func(_ context.Context, _, at string, _ syscall.RawConn) error {
		if listed {
			return nil
		}
		return g.check(address, at)
	}

	conn, err := d.DialContext(ctx, network, address)
	if refused, ok := errors.AsType[*Refused](err); ok {
		return nil, refused // without the address, which net.OpError tells
	}

	return conn, err
}

// check judges an address that a place leads to.
func (g Guard) check(place, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Refused{Place: place, Why: "it has no address"}
	}

	why := kindOf(at.Addr())
	in := func(p netip.Prefix) bool { return p.Contains(at.Addr().Unmap()) }
	if why == "" || at.Addr().Zone() == "" && slices.ContainsFunc(g.Networks, in) {
		return nil
	}

	return &Refused{Place: place, Why: "its address is " + why}
}

// Client makes requests to where the guard lets it, by https but for listed origins.
// It uses no proxy and follows no redirect, which is an answer like others. An answer of
// more than MaxAnswer bytes fails to be read. Requests of one client share connections.
func (g Guard) Client() *http.Client {
	return client(guarded{guard: g, next: transport(g.DialContext, nil)})
}

// NewTrustedClient is a Client without a guard, for places that the operator chose. It
// uses the proxy of the environment.
func NewTrustedClient() *http.Client {
	d := net.Dialer{Timeout: dialTimeout}
	return client(bounded{transport(d.DialContext, http.ProxyFromEnvironment)})
}

func client(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: t, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func transport(
	dial func(context.Context, string, string) (net.Conn, error), proxy func(*http.Request) (*url.URL, error),
) *http.Transport {
	return &http.Transport{
		Proxy: proxy, DialContext: dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: dialTimeout,
		MaxResponseHeaderBytes: maxHeaders, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
	}
}

// guarded refuses what isn't https before anything is sent.
type guarded struct {
	guard Guard
	next  *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (t guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !t.guard.Lists(r.URL) {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, &Refused{Place: r.URL.Host, Why: "it is not https"}
	}

	return bounded{t.next}.RoundTrip(r)
}

// CloseIdleConnections lets http.Client close them.
func (t guarded) CloseIdleConnections() { t.next.CloseIdleConnections() }

// bounded bounds the answers.
type bounded struct{ next *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, MaxAnswer)

	return resp, nil
}

// CloseIdleConnections lets http.Client close them.
func (t bounded) CloseIdleConnections() { t.next.CloseIdleConnections() }
