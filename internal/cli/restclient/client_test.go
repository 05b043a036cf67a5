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

// setup returns a client over a transport, and how often it told of trouble.
func setup(transport http.RoundTripper) (c *Client, troubles *int) {
	troubles = new(int)
	c = New("http://prwarden.test/", "prw_key", nil, func(error) { *troubles++ })
	c.http.Transport = transport
	return c, troubles
}

func TestCreateReview(t *testing.T) {
	t.Parallel()
	c, _ := setup(answers(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.Equal(t, "POST /v1/reviews", r.Method+" "+r.URL.Path)
		assert.JSONEq(t, `{"repo":"acme/web","pr_number":17}`, string(body))
		assert.Equal(t, "Bearer prw_key", r.Header.Get("Authorization"))
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		assert.Regexp(t, `^prwarden/\S+$`, r.Header.Get("User-Agent"))
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, `{"review_id":"rev_1","status":"queued","estimated_ms":1500}`)
	}))
	created, raw, err := c.CreateReview(t.Context(), NewReview{Repo: "acme/web", PRNumber: 17}, "")
	require.NoError(t, err)
	assert.Equal(t, Created{ReviewID: "rev_1", Status: "queued", EstimatedMS: 1500}, created)
	assert.Contains(t, string(raw), "rev_1")
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"own key": "", "a key that was given": "mine"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var keys []string
				c, troubles := setup(answers(func(w http.ResponseWriter, r *http.Request) {
					switch keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) {
					case 1:
						w.Header().Set("Retry-After", "7")
						w.WriteHeader(http.StatusTooManyRequests)
					case 2:
						w.WriteHeader(http.StatusServiceUnavailable)
					default:
						io.WriteString(w, `{"review_id":"rev_1"}`)
					}
				}))

				began := time.Now()
				_, _, err := c.CreateReview(t.Context(), NewReview{}, key)
				require.NoError(t, err)
				assert.GreaterOrEqual(t, time.Since(began), 7*time.Second)
				assert.Less(t, time.Since(began), 11*time.Second)
				assert.Equal(t, 1, *troubles, "once is enough")

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
		says      string
		waits     bool
	}{
		"too many requests":         {status(http.StatusTooManyRequests, ""), "Too Many Requests", true},
		"bad gateway":               {status(http.StatusBadGateway, ""), "Bad Gateway", true},
		"unavailable":               {status(http.StatusServiceUnavailable, ""), "Service Unavailable", true},
		"gateway timeout":           {status(http.StatusGatewayTimeout, ""), "Gateway Timeout", true},
		"an hour is not waited for": {status(http.StatusServiceUnavailable, "3600"), "Service Unavailable", false},
		"an error of the server":    {status(http.StatusInternalServerError, ""), "Internal Server Error", false},
		"nobody listens": {
			fails(errRefused), "http://prwarden.test can't be reached: dial: connection refused", true,
		},
		"an unknown name":            {fails(unknown), "no such host", false},
		"a certificate that is none": {fails(distrusted), "who are you", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := setup(tt.transport)
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
			})
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const refusal = `{"code":7,"message":"No.","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"REPOSITORY_NOT_ALLOWED","domain":"prwarden"}]}`
	for name, tt := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"status with details":        {403, refusal, "No. (REPOSITORY_NOT_ALLOWED, HTTP 403)"},
		"no JSON":                    {500, `<html>`, "The server answered Internal Server Error. (HTTP 500)"},
		"a text":                     {403, "blocked\nby policy", "The server answered Forbidden: blocked. (HTTP 403)"},
		"a redirect is not followed": {302, ``, "The server answered Found. Check --server: this is not how a prwarden server answers. (HTTP 302)"},
		"not the API":                {200, `<html>`, "does not talk like a prwarden server"},
		"another API":                {200, `[]`, "does not talk like a prwarden server"},
		"an empty answer":            {200, `null`, "does not talk like a prwarden server: its answer has no status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			}))
			defer server.Close()
			_, _, err := New(server.URL, "prw_key", nil, nil).GetReview(t.Context(), "rev_1")
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// A stream ends with the first message that is none.
func TestWatchReview(t *testing.T) {
	t.Parallel()
	for _, end := range []string{
		"", `{"error":{"message":"The server is stopping."}}` + "\n", "nonsense\n", strings.Repeat("x", maxWatchLine+2),
	} {
		c, _ := setup(answers(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "/v1/reviews/rev_1:watch", r.URL.Path)
			io.WriteString(w, `{"result":{"review_id":"rev_1","status":"queued","files_done":0}}
{"result":{"status":"in_progress","files_done":1,"files_total":3}}
`+end)
		}))
		var got []Update
		c.WatchReview(t.Context(), "rev_1", func(u Update) { got = append(got, u) })
		assert.Equal(t, []Update{
			{ReviewID: "rev_1", Status: "queued"}, {Status: "in_progress", FilesDone: 1, FilesTotal: 3},
		}, got)
	}
}
