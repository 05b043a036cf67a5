package egress_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/dnstest"
	"github.com/prwarden/prwarden/internal/egress"
)

// listener is a server on loopback that counts what reaches it, connections too.
type listener struct {
	*httptest.Server
	reached atomic.Int64
}

func newListener(t *testing.T, handler http.HandlerFunc) *listener {
	t.Helper()
	l := &listener{}
	l.Server = httptest.NewUnstartedServer(handler)
	l.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			l.reached.Add(1)
		}
	}
	l.StartTLS()
	t.Cleanup(l.Close)

	return l
}

func (l *listener) port(t *testing.T) string {
	t.Helper()
	_, port, err := net.SplitHostPort(l.Listener.Addr().String())
	require.NoError(t, err)

	return port
}

// trusting is the transport of a client that believes the listener's certificate.
func (l *listener) trusting(t *testing.T, transport http.RoundTripper) http.RoundTripper {
	t.Helper()
	settings := l.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	settings.ServerName = "example.com"

	return egress.WithTLS(transport, settings)
}

func get(t *testing.T, c *http.Client, address string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	resp, err := c.Do(r)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}

	return resp, err
}

func answered(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") }

// TestClientRefusesAddresses asks for all kinds of addresses that are not public, in all
// ways of writing them.
func TestClientRefusesAddresses(t *testing.T) {
	t.Parallel()

	hosts := []string{
		"127.0.0.1", "127.255.255.254", "localhost", "localhost.", "0.0.0.0", "0.1.2.3",
		"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
		"100.64.0.1", "100.100.100.200", "169.254.169.254", "168.63.129.16", "192.0.0.192",
		"192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1",
		"224.0.0.1", "240.0.0.1", "255.255.255.255",
		"[::]", "[::1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:0:127.0.0.1]",
		"[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[100::1]", "[2001::1]", "[2001:db8::1]", "[2002:7f00:1::]",
		"[3fff::1]", "[5f00::1]", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25lo]", "[fec0::1]", "[ff02::1]",
		"0x7f000001", // which Go takes for a name
	}
	l := newListener(t, answered)
	client := egress.Guard{Resolver: dnstest.NewResolver(t, netip.MustParseAddr("127.0.0.1"))}.Client()
	client.Transport = l.trusting(t, client.Transport)
	for _, host := range hosts {
		_, err := get(t, client, "https://"+host+":"+l.port(t)+"/")
		var refused *egress.Refused
		assert.ErrorAs(t, err, &refused, host)
	}
	for _, host := range []string{"127.1", "2130706433", "0177.0.0.1"} { // which Go takes for no name at all
		_, err := get(t, client, "https://"+host+":"+l.port(t)+"/")
		assert.Error(t, err, host)
	}
	assert.Zero(t, l.reached.Load())
}

// TestChangingName asks for a name that is public when it is looked up and is this
// machine when it is dialed.
func TestChangingName(t *testing.T) {
	t.Parallel()

	l := newListener(t, answered)
	resolver := dnstest.NewResolver(t, netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("127.0.0.1"))
	found, err := resolver.LookupNetIP(t.Context(), "ip4", "changing.example")
	require.NoError(t, err)
	require.Equal(t, "93.184.215.14", found[0].String())

	_, err = get(t, egress.Guard{Resolver: resolver}.Client(), "https://changing.example:"+l.port(t)+"/")
	var refused *egress.Refused
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, err.Error(), "changing.example")
	assert.NotContains(t, err.Error(), "127.0.0.1", "whoever chose the name isn't told what it leads to")
	assert.Zero(t, l.reached.Load())
}

// TestListed reaches what the operator listed, and nothing beside it.
func TestListed(t *testing.T) {
	t.Parallel()

	l := newListener(t, answered)
	plain := httptest.NewServer(http.HandlerFunc(answered))
	t.Cleanup(plain.Close)
	local := dnstest.NewResolver(t, netip.MustParseAddr("127.0.0.1"))
	name := "https://git.corp.example:" + l.port(t)
	origin := func(address string) string {
		o, err := egress.ParseOrigin(address)
		require.NoError(t, err)
		return o
	}

	for what, test := range map[string]struct {
		guard   egress.Guard
		address string
		reached bool
	}{
		"origin":         {egress.Guard{Origins: []string{origin(name)}}, name, true},
		"in capitals":    {egress.Guard{Origins: []string{origin(name)}}, strings.Replace(name, "git", "GIT", 1), true},
		"another name":   {egress.Guard{Origins: []string{origin(name)}}, strings.Replace(name, "git", "x", 1), false},
		"another port":   {egress.Guard{Origins: []string{origin("https://git.corp.example")}}, name, false},
		"network":        {egress.Guard{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, name, true},
		"other network":  {egress.Guard{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, name, false},
		"http origin":    {egress.Guard{Origins: []string{origin(plain.URL)}}, plain.URL, true},
		"http elsewhere": {egress.Guard{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, plain.URL, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()

			test.guard.Resolver = local
			client := test.guard.Client()
			client.Transport = l.trusting(t, client.Transport)
			resp, err := get(t, client, test.address)
			if !test.reached {
				var refused *egress.Refused
				require.ErrorAs(t, err, &refused)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, resp.StatusCode)
		})
	}
}

// TestClientAnswers holds that no redirect is followed and no answer read without end.
func TestClientAnswers(t *testing.T) {
	t.Parallel()

	l := newListener(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
			return
		}
		piece := make([]byte, 1<<20)
		for range egress.MaxAnswer>>20 + 1 {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})

	client := egress.Guard{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}.Client()
	client.Transport = l.trusting(t, client.Transport)
	resp, err := get(t, client, l.URL+"/away")
	require.NoError(t, err)
	assert.Equal(t, http.StatusTemporaryRedirect, resp.StatusCode)

	resp, err = get(t, client, l.URL)
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, resp.Body)
	require.Error(t, err)
	assert.EqualValues(t, egress.MaxAnswer, n)
}

func TestParseOrigin(t *testing.T) {
	t.Parallel()

	for address, want := range map[string]string{
		"https://git.corp.example":        "https://git.corp.example:443",
		"https://GIT.corp.example/":       "https://git.corp.example:443",
		"http://[::1]:8080":               "http://[::1]:8080",
		"https://git.corp.example:8443":   "https://git.corp.example:8443",
		"git.corp.example":                "",
		"file:///srv":                     "",
		"https://user@git.corp.example":   "",
		"https://git.corp.example/api/v1": "",
		"https://":                        "",
	} {
		got, err := egress.ParseOrigin(address)
		assert.Equal(t, want, got, address)
		assert.Equal(t, want == "", err != nil, address)
	}

	listed := egress.Guard{Origins: []string{"https://git.corp.example:443"}}
	assert.True(t, listed.Lists(&url.URL{Scheme: "https", Host: "git.corp.example", Path: "/a/b.git"}))
	assert.False(t, listed.Lists(&url.URL{Scheme: "http", Host: "git.corp.example:443"}))
}

func TestTrustedClient(t *testing.T) {
	t.Parallel()

	plain := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusFound))
	t.Cleanup(plain.Close)
	resp, err := get(t, egress.NewTrustedClient(), plain.URL)
	require.NoError(t, err)
	assert.Equal(t, http.StatusFound, resp.StatusCode)
}
