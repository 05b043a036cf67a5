package restclient

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// setup returns a client of a server with that handler.
func setup(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return New(server.URL+"/", "prw_key", "prwarden/test", nil, func(error) {})
}

// transport is a server without a network, so that time can be made up.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answers is a transport to a handler.
func answers(handler http.HandlerFunc) transport {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		handler(w, r)
		return w.Result(), nil
	}
}

func fails(err error) transport {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

var errRefused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}

// client returns a client over a transport.
func client(transport http.RoundTripper, trouble func(error)) *Client {
	c := New("http://prwarden.test", "prw_key", "prwarden/test", nil, trouble)
	c.http.Transport = transport
	return c
}

func quiet(error) {}

func TestCreateReview(t *testing.T) {
	t.Parallel()
	c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.Equal(t, "POST /v1/reviews", r.Method+" "+r.URL.Path)
		assert.JSONEq(t, `{"repo":"acme/web","pr_number":17}`, string(body))
		assert.Equal(t, "Bearer prw_key", r.Header.Get("Authorization"))
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		assert.Equal(t, "prwarden/test", r.Header.Get("User-Agent"))
		w.Header().Set("Date", "Fri, 20 Nov 2026 09:41:03 GMT")
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, `{"review_id":"rev_1","status":"queued","estimated_ms":1500}`)
	})
	created, raw, err := c.CreateReview(t.Context(), NewReview{Repo: "acme/web", PRNumber: 17}, "")
	require.NoError(t, err)
	assert.Equal(t,
		Created{ReviewID: "rev_1", Status: "queued", EstimatedMS: 1500, At: time.Date(2026, 11, 20, 9, 41, 3, 0, time.UTC)},
		created)
	assert.Contains(t, string(raw), "rev_1")
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"own key": "", "a key that was given": "mine"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var keys []string
				c := client(answers(func(w http.ResponseWriter, r *http.Request) {
					switch keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) {
					case 1:
						w.Header().Set("Retry-After", "7")
						w.WriteHeader(http.StatusTooManyRequests)
					case 2:
						w.WriteHeader(http.StatusServiceUnavailable)
					default:
						io.WriteString(w, `{"review_id":"rev_1"}`)
					}
				}), quiet)

				began := time.Now()
				_, _, err := c.CreateReview(t.Context(), NewReview{}, key)
				require.NoError(t, err)
				assert.GreaterOrEqual(t, time.Since(began), 7*time.Second)
				assert.Less(t, time.Since(began), 11*time.Second)
				require.Len(t, keys, 3)
				assert.Equal(t, []string{keys[0], keys[0]}, keys[1:], "a retry must not start a second scan")
				assert.NotEmpty(t, keys[0])
				assert.True(t, key == "" || key == keys[0])
			})
		})
	}
}

func TestGivesUp(t *testing.T) {
	t.Parallel()
	status := func(code int, header string) transport {
		return answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(code)
		})
	}
	unknown := &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "prwarden.test", IsNotFound: true}}
	distrusted := &tls.CertificateVerificationError{Err: errors.New("who are you")}

	for name, tt := range map[string]struct {
		transport transport
		answered  bool // the server answered before
		says      string
		waits     bool
	}{
		"too many requests":         {status(http.StatusTooManyRequests, ""), true, "Too Many Requests", true},
		"bad gateway":               {status(http.StatusBadGateway, ""), true, "Bad Gateway", true},
		"unavailable":               {status(http.StatusServiceUnavailable, ""), true, "Service Unavailable", true},
		"gateway timeout":           {status(http.StatusGatewayTimeout, ""), true, "Gateway Timeout", true},
		"an hour is not waited for": {status(http.StatusServiceUnavailable, "3600"), true, "Service Unavailable", false},
		"an error of the server":    {status(http.StatusInternalServerError, ""), true, "Internal Server Error", false},
		"nobody listens": {
			fails(errRefused), false, "http://prwarden.test can't be reached: dial: connection refused", true,
		},
		"an unknown name":            {fails(unknown), false, "no such host", false},
		"a name that was known":      {fails(unknown), true, "no such host", true},
		"a certificate that is none": {fails(distrusted), true, "who are you", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				troubles := 0
				c := client(tt.transport, func(error) { troubles++ })
				c.answered.Store(tt.answered)
				began := time.Now()
				_, _, err := c.GetReview(t.Context(), "rev_1")
				require.ErrorContains(t, err, tt.says)
				assert.NotContains(t, err.Error(), "rev_1", "the address is enough")

				if !tt.waits {
					assert.Zero(t, time.Since(began))
					return
				}
				assert.Greater(t, time.Since(began), Patience-2*maxBackoff)
				assert.LessOrEqual(t, time.Since(began), Patience)
				assert.Equal(t, 1, troubles, "once is enough")
			})
		})
	}
}

// A server that restarts refuses connections for a while.
func TestRidesOutARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := client(transport(func(r *http.Request) (*http.Response, error) {
			if time.Since(began) < time.Minute {
				return nil, errRefused
			}
			return answers(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"review_id":"rev_1"}`) })(r)
		}), quiet)
		r, _, err := c.CreateReview(t.Context(), NewReview{}, "")
		require.NoError(t, err)
		assert.Equal(t, "rev_1", r.ReviewID)
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{
			"status with details", 403,
			`{"code":7,"message":"No.","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"REPOSITORY_NOT_ALLOWED","domain":"prwarden"}]}`,
			"No. (REPOSITORY_NOT_ALLOWED, HTTP 403)",
		},
		{"no JSON", 500, `<html>`, "The server answered Internal Server Error. (HTTP 500)"},
		{
			"TLS", 400, "Client sent an HTTP request to an HTTPS server.\n",
			"The server answered Bad Request: Client sent an HTTP request to an HTTPS server. " +
				"Does it speak TLS? Then its address begins with https://. (HTTP 400)",
		},
		{"a text", 403, "blocked\nby policy", "The server answered Forbidden: blocked. (HTTP 403)"},
		{"a redirect is not followed", 302, ``, "The server answered Found. (HTTP 302)"},
		{"not the API", 200, `<html>`, "does not talk like a prwarden server"},
		{"another API", 200, `[]`, "does not talk like a prwarden server"},
		{"an empty answer", 200, `null`, "does not talk like a prwarden server: its answer has no status"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			_, _, err := c.GetReview(t.Context(), "rev_1")
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestAnswerThatIsTooLarge(t *testing.T) {
	t.Parallel()
	c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"status":"complete","repo":"`+strings.Repeat("a", 1<<20)+`"}`)
	})
	c.maxBody = 1 << 20
	_, _, err := c.GetReview(t.Context(), "rev_1")
	require.EqualError(t, err, "the answer of "+c.base+" is over 1 MiB, which is too large to be read")
	c.maxBody *= 2
	_, _, err = c.GetReview(t.Context(), "rev_1")
	require.NoError(t, err)
}

func TestWatchReview(t *testing.T) {
	t.Parallel()
	c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/reviews/rev_1:watch", r.URL.Path)
		io.WriteString(w, `{"result":{"review_id":"rev_1","status":"queued","files_done":0}}
{"result":{"status":"in_progress","files_done":1,"files_total":3}}
{"result":{"status":"complete"}}
`)
	})
	var got []Update
	require.NoError(t, c.WatchReview(t.Context(), "rev_1", func(u Update) { got = append(got, u) }))
	assert.Equal(t, []Update{
		{ReviewID: "rev_1", Status: "queued"}, {Status: "in_progress", FilesDone: 1, FilesTotal: 3}, {Status: "complete"},
	}, got)
}

func TestWatchReviewErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"refused":         {404, `{"message":"No such review."}`, "No such review. (HTTP 404)"},
		"broken off":      {200, `{"error":{"message":"The server is stopping."}}` + "\n", "The server is stopping."},
		"not JSON":        {200, "nonsense\n", "not JSON"},
		"an endless line": {200, strings.Repeat("x", maxWatchLine+2), "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			err := c.WatchReview(t.Context(), "rev_1", func(Update) {})
			assert.ErrorContains(t, err, tt.want)
		})
	}
}
