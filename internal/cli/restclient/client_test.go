package restclient

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// setup returns a client of a server with that handler, and the waits that
// the client would have made.
func setup(t *testing.T, handler http.HandlerFunc) (*Client, *[]time.Duration) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return patient(server.URL+"/", func(error) {})
}

// patient is a client whose waits take no time.
func patient(base string, trouble func(error)) (*Client, *[]time.Duration) {
	c := New(base, "prw_key", "prwarden/test", nil, trouble)
	var waits []time.Duration
	now := time.Now()
	c.now = func() time.Time { return now }
	c.sleep = func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		now = now.Add(d)
		return nil
	}
	return c, &waits
}

func TestCreateReview(t *testing.T) {
	t.Parallel()
	c, _ := setup(t, func(w http.ResponseWriter, r *http.Request) {
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
	assert.Equal(t, Created{ReviewID: "rev_1", Status: "queued", EstimatedMS: 1500, At: time.Date(2026, 11, 20, 9, 41, 3, 0, time.UTC)}, created)
	assert.Contains(t, string(raw), "rev_1")
}

func TestRetries(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var keys []string
	c, waits := setup(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		switch calls.Add(1) {
		case 1:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			io.WriteString(w, `{"review_id":"rev_1"}`)
		}
	})
	_, _, err := c.CreateReview(t.Context(), NewReview{}, "")
	require.NoError(t, err)
	require.Len(t, *waits, 2)
	assert.GreaterOrEqual(t, (*waits)[0], 7*time.Second)
	assert.Less(t, (*waits)[1], 2*time.Second)
	require.Len(t, keys, 3)
	assert.NotEmpty(t, keys[0])
	assert.Equal(t, keys[0], keys[1], "a retry must not start a second scan")
	assert.Equal(t, keys[0], keys[2])
}

func TestGivesUp(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		c, waits := setup(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		_, _, err := c.GetReview(t.Context(), "rev_1")
		require.ErrorContains(t, err, http.StatusText(status))
		var all time.Duration
		for _, d := range *waits {
			all += d
		}
		assert.Greater(t, all, Patience-maxBackoff)
		assert.LessOrEqual(t, all, Patience)
	}
	impatient, waits := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	_, _, err := impatient.GetReview(t.Context(), "rev_1")
	require.Error(t, err)
	assert.Empty(t, *waits, "an hour is not waited for")
}

// nobody is where nobody listens. A port that was free a moment ago may be
// another test's by now.
const nobody = "127.0.0.1:1"

// A server that restarts refuses connections for a while.
func TestRidesOutARestart(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"review_id":"rev_1"}`)
	}))
	t.Cleanup(server.Close)
	var troubles []error
	c, waits := patient(server.URL, func(err error) { troubles = append(troubles, err) })
	c.http.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if len(*waits) < 5 {
			address = nobody
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	r, _, err := c.CreateReview(t.Context(), NewReview{}, "")
	require.NoError(t, err)
	assert.Equal(t, "rev_1", r.ReviewID)
	assert.Len(t, *waits, 5)
	require.Len(t, troubles, 1, "once is enough")
	assert.ErrorContains(t, troubles[0], "can't be reached")
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
		{"TLS", 400, "Client sent an HTTP request to an HTTPS server.\n", "The server answered Bad Request: Client sent an HTTP request to an HTTPS server. Does it speak TLS? Then its address begins with https://. (HTTP 400)"},
		{"a text", 403, "blocked\nby policy", "The server answered Forbidden: blocked. (HTTP 403)"},
		{"a redirect is not followed", 302, ``, "The server answered Found. (HTTP 302)"},
		{"not the API", 200, `<html>`, "does not talk like a prwarden server"},
		{"another API", 200, `[]`, "does not talk like a prwarden server"},
		{"an empty answer", 200, `null`, "does not talk like a prwarden server: its answer has no status"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, _ := setup(t, func(w http.ResponseWriter, _ *http.Request) {
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
	c, _ := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"status":"complete","repo":"`+strings.Repeat("a", 1<<20)+`"}`)
	})
	c.maxBody = 1 << 20
	_, _, err := c.GetReview(t.Context(), "rev_1")
	require.EqualError(t, err, "the answer of "+c.base+" is over 1 MiB, which is too large to be read")
	c.maxBody *= 2
	_, _, err = c.GetReview(t.Context(), "rev_1")
	require.NoError(t, err)
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	c, waits := patient("http://"+nobody, func(error) {})
	_, _, err := c.GetReview(t.Context(), "rev_1")
	var unreachable *UnreachableError
	require.ErrorAs(t, err, &unreachable)
	assert.ErrorContains(t, err, "can't be reached")
	assert.NotContains(t, err.Error(), "rev_1", "the address is enough")
	assert.NotEmpty(t, *waits)
}

// A name that there is not is a mistake, unless there was a server of that name
// a moment ago.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	c, waits := patient("http://prwarden.invalid", func(error) {})
	c.http.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "prwarden.invalid", IsNotFound: true}}
	}}
	_, _, err := c.GetReview(t.Context(), "rev_1")
	require.ErrorContains(t, err, "no such host")
	assert.Empty(t, *waits)
	c.answered.Store(true)
	_, _, err = c.GetReview(t.Context(), "rev_1")
	require.Error(t, err)
	assert.NotEmpty(t, *waits)
}

func TestWatchReview(t *testing.T) {
	t.Parallel()
	c, _ := setup(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/reviews/rev_1:watch", r.URL.Path)
		io.WriteString(w, `{"result":{"review_id":"rev_1","status":"queued","files_done":0}}
{"result":{"status":"in_progress","files_done":1,"files_total":3}}
{"result":{"status":"complete"}}
`)
	})
	var got []Update
	require.NoError(t, c.WatchReview(t.Context(), "rev_1", func(u Update) { got = append(got, u) }))
	assert.Equal(t, []Update{
		{ReviewID: "rev_1", Status: "queued"},
		{Status: "in_progress", FilesDone: 1, FilesTotal: 3},
		{Status: "complete"},
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
			c, _ := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			err := c.WatchReview(t.Context(), "rev_1", func(Update) {})
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// A caller's own idempotency key goes with every attempt.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	var keys []string
	c, _ := setup(t, func(w http.ResponseWriter, r *http.Request) {
		if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, `{"review_id":"rev_1"}`)
	})
	_, _, err := c.CreateReview(t.Context(), NewReview{}, "mine")
	require.NoError(t, err)
	assert.Equal(t, []string{"mine", "mine"}, keys)
}
