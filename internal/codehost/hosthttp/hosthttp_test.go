package hosthttp_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/hosthttp"
	"github.com/prwarden/prwarden/internal/egress"
)

const token = "s3cr3t-t0k3n"

// serve makes a client of a handler.
func serve(t *testing.T, handler http.HandlerFunc) *hosthttp.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return hosthttp.New(server.Client(), server.URL+"/api/", "Bearer "+token)
}

func TestCall(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		assert.Equal(t, "POST /api/a%2Fb?x=1+2", q.Method+" "+q.RequestURI)
		assert.JSONEq(t, `{"in": 1}`, string(body))
		assert.Equal(t, "Bearer "+token, q.Header.Get("Authorization"))
		assert.Equal(t, "application/json", q.Header.Get("Content-Type"))
		w.Header().Set("X-Total-Count", "3")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"out": 2}`)
	})
	var out struct {
		Out int `json:"out"`
	}
	h, err := c.Do(t.Context(), hosthttp.Call{
		Method: http.MethodPost, Path: "/a%2Fb", Query: url.Values{"x": {"1 2"}}, In: map[string]int{"in": 1}, Out: &out,
	})
	require.NoError(t, err)
	assert.Equal(t, 2, out.Out)
	assert.Equal(t, "3", h.Get("X-Total-Count"))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	header := func(name, value string) http.Header { return http.Header{name: {value}} }
	const words = `{"message": "no, by\nno \u202e means"}`
	tests := map[string]struct {
		status      int
		header      http.Header
		body        string
		read, write codehost.Fault
		after       time.Duration
		scope, text string
	}{
		"moved":         {status: 301, read: codehost.Moved, write: codehost.Moved},
		"found":         {status: 302, read: codehost.Moved, write: codehost.Moved},
		"see other":     {status: 303, read: codehost.Moved, write: codehost.Moved},
		"redirected":    {status: 307, read: codehost.Moved, write: codehost.Moved},
		"for good":      {status: 308, read: codehost.Moved, write: codehost.Moved},
		"bad request":   {status: 400, read: codehost.Invalid, write: codehost.Invalid, body: words, text: "no, by no means"},
		"unauthorized":  {status: 401, read: codehost.Revoked, write: codehost.Revoked},
		"forbidden":     {status: 403, read: codehost.Forbidden, write: codehost.Forbidden, body: words, scope: "no, by no means"},
		"without words": {status: 403, read: codehost.Forbidden, write: codehost.Forbidden, scope: "403 Forbidden"},
		"not found":     {status: 404, read: codehost.Gone, write: codehost.Gone},
		"conflict":      {status: 409, read: codehost.Passing, write: codehost.Passing},
		"gone":          {status: 410, read: codehost.Gone, write: codehost.Gone},
		"unprocessable": {
			status: 422, read: codehost.Invalid, write: codehost.Invalid,
			body: `{"error": {"message": "the line"}}`, text: "the line",
		},
		"list of errors": {
			status: 400, read: codehost.Invalid, write: codehost.Invalid,
			body: `{"errors": [{"message": "one"}, {"message": "two"}]}`, text: "one",
		},
		"other errors": {
			status: 400, read: codehost.Invalid, write: codehost.Invalid,
			body: `{"message": "said", "errors": ["one"]}`, text: "said",
		},
		"message that is none": {
			status: 400, read: codehost.Invalid, write: codehost.Invalid,
			body: `{"message": {"base": ["is wrong"]}}`, text: `{"base": ["is wrong"]}`,
		},
		"no message": {status: 400, read: codehost.Invalid, write: codehost.Invalid, body: `{"message": null}`},
		"error that is a text": {
			status: 400, read: codehost.Invalid, write: codehost.Invalid, body: `{"error": "body is missing"}`,
			text: "body is missing",
		},
		"as OAuth says it": {
			status: 403, read: codehost.Forbidden, write: codehost.Forbidden,
			body:  `{"error": "insufficient_scope", "error_description": "Too little.", "scope": "api"}`,
			scope: "Too little. Scope: api",
		},
		"archived":     {status: 423, read: codehost.Forbidden, write: codehost.Forbidden, scope: "423 Locked"},
		"too many":     {status: 429, read: codehost.Limited, write: codehost.Limited},
		"broken":       {status: 500, read: codehost.Passing, write: codehost.Passing},
		"no gateway":   {status: 502, read: codehost.Passing, write: codehost.Unknown},
		"unavailable":  {status: 503, read: codehost.Passing, write: codehost.Passing},
		"slow gateway": {status: 504, read: codehost.Passing, write: codehost.Unknown},
		"in seconds": {
			status: 429, header: header("Retry-After", "30"), read: codehost.Limited, write: codehost.Limited,
			after: 30 * time.Second,
		},
		"much too long": {
			status: 503, header: header("Retry-After", "4000000000"), read: codehost.Passing, write: codehost.Passing,
			after: 24 * time.Hour,
		},
		"at a time": {
			status: 503, read: codehost.Passing, write: codehost.Passing, after: time.Minute, header: http.Header{
				"Retry-After": {"Tue, 03 Nov 2026 10:01:00 GMT"}, "Date": {"Tue, 03 Nov 2026 10:00:00 GMT"},
			},
		},
		"in the past": {
			status: 503, header: header("Retry-After", "Tue, 03 Nov 2015 10:01:00 GMT"), read: codehost.Passing,
			write: codehost.Passing,
		},
		"limit as forbidden": {
			status: 403, header: header("Retry-After", "60"), read: codehost.Limited, write: codehost.Limited,
			after: time.Minute,
		},
		"limit in words": {
			status: 403, body: `{"message": "API Rate Limit exceeded"}`, read: codehost.Limited, write: codehost.Limited,
		},
		"page of a proxy": {status: 400, body: "<b>" + token, read: codehost.Invalid, write: codehost.Invalid},
		"repeats the token": {
			status: 403, body: `{"message": "bad ` + token + `"}`, read: codehost.Forbidden, write: codehost.Forbidden,
			scope: "bad ***",
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range test.header {
					w.Header()[name] = values
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			for method, want := range map[string]codehost.Fault{http.MethodGet: test.read, http.MethodPost: test.write} {
				_, err := c.Do(t.Context(), hosthttp.Call{Method: method, Path: "/x"})
				var e *codehost.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, want, e.Fault, "%s: %v", method, err)
				assert.Equal(t, test.after, e.After)
				assert.Equal(t, test.scope, e.Scope)
				assert.Contains(t, err.Error(), method+" /x: the host answered")
				assert.Contains(t, err.Error(), test.text)
				assert.NotContains(t, err.Error(), token)
			}
		})
	}
}

func TestAnswersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"not JSON":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>"+token) },
		"cut short": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "9") },
		"too long": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(" ", 16<<20)+"{}")
		},
		"hung up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, handler)
			for method, want := range map[string]codehost.Fault{
				http.MethodGet: codehost.Passing, http.MethodPost: codehost.Unknown, http.MethodDelete: codehost.Unknown,
			} {
				var out struct{}
				_, err := c.Do(t.Context(), hosthttp.Call{Method: method, Path: "/x", Out: &out})
				require.Error(t, err)
				assert.Equal(t, want, codehost.FaultOf(err), "%s: %v", method, err)
				assert.NotContains(t, err.Error(), token)
			}
		})
	}
}

// TestNothingListens checks that what was never sent isn't unknown.
func TestNothingListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	c := hosthttp.New(http.DefaultClient, "http://"+l.Addr().String(), "")
	_, err = c.Do(t.Context(), hosthttp.Call{Method: http.MethodPost, Path: "/x"})
	assert.Equal(t, codehost.Passing, codehost.FaultOf(err), "%v", err)
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	defer close(done)
	c := serve(t, func(http.ResponseWriter, *http.Request) { cancel(); <-done })
	_, err := c.Do(ctx, hosthttp.Call{Method: http.MethodPost, Path: "/x"})
	assert.Equal(t, codehost.Unknown, codehost.FaultOf(err), "%v", err)
}

// TestRefusedAddress holds that nothing is sent to an address that may not be reached,
// and that this doesn't pass.
func TestRefusedAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the host was reached")
	}))
	t.Cleanup(server.Close)
	c := hosthttp.New(egress.Guard{}.Client(), server.URL, "Bearer "+token)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		_, err := c.Do(t.Context(), hosthttp.Call{Method: method, Path: "/"})
		var refused *egress.Refused
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, codehost.Invalid, codehost.FaultOf(err))
	}
}

// TestBasic checks that a password is in no error, and which scopes Bitbucket asks for.
func TestBasic(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error": {"message": "no `+token+`.", "detail": {"required": ["a", "b"]}}}`)
	}))
	t.Cleanup(server.Close)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("bot@example.com:"+token))
	_, err := hosthttp.New(server.Client(), server.URL, basic).Do(t.Context(), hosthttp.Call{Method: http.MethodGet})
	var e *codehost.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "no ***. a, b", e.Scope)
	assert.NotContains(t, err.Error(), token)
}

func TestIsSigned(t *testing.T) {
	t.Parallel()
	// The example of docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries.
	const sum = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	secret, body := []byte("It's a Secret to Everybody"), []byte("Hello, World!")
	assert.True(t, hosthttp.IsSigned("sha256="+sum, "sha256=", body, [][]byte{[]byte("new"), secret}))
	assert.True(t, hosthttp.IsSigned(sum, "", body, [][]byte{secret, nil}))
	// That of support.atlassian.com/bitbucket-cloud/docs/manage-webhooks.
	const atlassians = "a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9"
	assert.True(t, hosthttp.IsSigned("sha256="+atlassians, "sha256=", []byte("Hello World!"), [][]byte{secret}))
	assert.False(t, hosthttp.IsSigned(sum, "sha256=", body, [][]byte{secret}))
	assert.False(t, hosthttp.IsSigned(sum, "", body, nil))
	assert.False(t, hosthttp.IsSigned(sum, "", body[1:], [][]byte{secret}))
	none := hmac.New(sha256.New, nil)
	none.Write(body)
	assert.False(t, hosthttp.IsSigned(hex.EncodeToString(none.Sum(nil)), "", body, [][]byte{nil, {}}))
}
