package git

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/egress"
)

// TestTunnel holds that a tunnel is for whom it was opened, and leads to one place.
func TestTunnel(t *testing.T) {
	t.Parallel()

	there := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(there.Close)
	guard := egress.Guard{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	tunnel, err := openTunnel(t.Context(), guard, there.URL+"/a/b.git")
	require.NoError(t, err)
	t.Cleanup(tunnel.close)

	ask := func(t *testing.T, user *url.Userinfo, address string) (*http.Response, error) {
		t.Helper()
		transport := there.Client().Transport.(*http.Transport).Clone()
		transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", User: user, Host: tunnel.address})
		defer transport.CloseIdleConnections()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		response, err := transport.RoundTrip(request)
		if err == nil {
			require.NoError(t, response.Body.Close())
		}
		return response, err
	}

	right := url.UserPassword(tunnelUser, tunnel.password)
	response, err := ask(t, right, there.URL)
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotFound, response.StatusCode)

	for name, user := range map[string]*url.Userinfo{"none": nil, "another": url.UserPassword(tunnelUser, "x")} {
		_, err = ask(t, user, there.URL)
		require.ErrorContains(t, err, http.StatusText(http.StatusProxyAuthRequired), name)
	}
	_, err = ask(t, right, "https://127.0.0.2:1")
	require.ErrorContains(t, err, http.StatusText(http.StatusForbidden))
	response, err = ask(t, right, "http://"+there.Listener.Addr().String())
	require.NoError(t, err)
	assert.Equal(t, http.StatusForbidden, response.StatusCode)
	require.NoError(t, err)
	assert.NoError(t, asError(tunnel), "nothing that was asked for failed to be dialed")

	// A connection that is open ends with the tunnel.
	conn, err := net.Dial("tcp", tunnel.address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	request := &http.Request{Method: http.MethodConnect, Host: tunnel.place, URL: &url.URL{Opaque: tunnel.place}, Header: http.Header{}}
	request.SetBasicAuth(tunnelUser, tunnel.password)
	request.Header["Proxy-Authorization"] = request.Header["Authorization"]
	require.NoError(t, request.Write(conn))
	answer := make([]byte, len("HTTP/1.1 200"))
	_, err = conn.Read(answer)
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 200", string(answer))
	tunnel.close()
	for err == nil {
		_, err = conn.Read(answer)
	}
}

// asError is the failure of a tunnel, nil for none.
func asError(t *tunnel) error {
	if f := t.failure(nil); f != nil {
		return f
	}

	return nil
}
