package hook_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/hook"
	"github.com/prwarden/prwarden/internal/server/overload"
)

const (
	known = "con_a"
	body  = `{"number":7}`
)

// start starts a transport with one connection, whose secret is `new` or `old`.
func start(t *testing.T) *servertest.Bundle {
	t.Helper()
	b := servertest.Start(t, servertest.Options{})
	b.Hooks.Set(known, "new", "old")

	return b
}

// deliver sends a body that is signed by a secret.
func deliver(t *testing.T, b *servertest.Bundle, id, text, secret string, headers ...string) servertest.Answer {
	t.Helper()
	headers = append(headers, "X-Gitea-Delivery: "+id, "X-Gitea-Signature: "+servertest.Sign(text, secret))

	return b.Do(t, "POST", hook.Path+known, text, headers...)
}

func TestDeliveriesAreKeptOnce(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, tc := range []struct{ id, text, secret, want string }{
		{"d1", body, "new", "accepted"}, {"d2", body, "old", "accepted"}, {"d1", body, "new", "duplicate"},
		{"d1", body, "old", "duplicate"}, {"d3", `{"number":0}`, "new", "ignored"},
	} {
		a := deliver(t, b, tc.id, tc.text, tc.secret)
		assert.Equal(t, 202, a.Status, a.Body)
		assert.JSONEq(t, `{"status":"`+tc.want+`"}`, a.Body)
		assert.Equal(t, "application/json", a.Header.Get("Content-Type"))
		assertCommonHeaders(t, a)
	}

	assert.Equal(t, []string{"d1", "d2"}, b.Hooks.Kept())
	lines := b.Logs.Lines("request")
	require.Len(t, lines, 5)
	assert.Equal(t, hook.Route, lines[0]["route"])
}

// assertCommonHeaders checks what every response of the port bears.
func assertCommonHeaders(t *testing.T, a servertest.Answer) {
	t.Helper()
	assert.Empty(t, a.Header.Get("X-RateLimit-Limit"), "a host has no use for it")
	assert.NotEmpty(t, a.Header.Get("X-Request-Id"))
	assert.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
	assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	sign := func(text string) string { return "X-Gitea-Signature: " + servertest.Sign(text, "new") }
	const id = "X-Gitea-Delivery: d1"
	tests := map[string]struct {
		method, path, body string
		headers            []string
		status             int
		reason             string
	}{
		"another method":       {"GET", known, "", nil, 405, errs.ReasonMethodNotAllowed},
		"no headers":           {"POST", known, body, nil, 401, errs.ReasonSignatureInvalid},
		"no signature":         {"POST", known, body, []string{id}, 401, errs.ReasonSignatureInvalid},
		"empty signature":      {"POST", known, body, []string{id, "X-Gitea-Signature: "}, 401, errs.ReasonSignatureInvalid},
		"another secret":       {"POST", known, body, []string{id, "X-Gitea-Signature: " + servertest.Sign(body, "x")}, 401, errs.ReasonSignatureInvalid},
		"another body":         {"POST", known, body + " ", []string{id, sign(body)}, 401, errs.ReasonSignatureInvalid},
		"no body":              {"POST", known, "", []string{id, sign(body)}, 401, errs.ReasonSignatureInvalid},
		"no identifier":        {"POST", known, body, []string{sign(body)}, 400, errs.ReasonInvalidArgument},
		"a long identifier":    {"POST", known, body, []string{"X-Gitea-Delivery: " + strings.Repeat("x", 201), sign(body)}, 400, errs.ReasonInvalidArgument},
		"no JSON":              {"POST", known, "{", []string{id, sign("{")}, 400, errs.ReasonInvalidArgument},
		"an unknown one":       {"POST", "con_b", body, []string{id, sign(body)}, 404, errs.ReasonConnectionNotFound},
		"no identifier of one": {"POST", "", body, []string{id, sign(body)}, 404, errs.ReasonConnectionNotFound},
		"a path behind it":     {"POST", known + "/x", body, []string{id, sign(body)}, 404, errs.ReasonConnectionNotFound},
		"bytes":                {"POST", "con_%00%ff", body, []string{id, sign(body)}, 404, errs.ReasonConnectionNotFound},
	}

	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			a := b.Do(t, tc.method, hook.Path+tc.path, tc.body, tc.headers...)
			assert.Equal(t, tc.status, a.Status, a.Body)
			assert.Equal(t, tc.reason, a.Reason())
			assertCommonHeaders(t, a)
			assert.Empty(t, b.Hooks.Kept())
		})
	}
}

// A delivery that is compressed is what it is: signed as it came, and no JSON.
func TestNothingIsDecompressed(t *testing.T) {
	t.Parallel()
	b := start(t)
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, err := io.CopyN(w, zeros{}, 1<<30)
	require.NoError(t, err)
	require.NoError(t, w.Close())

	a := deliver(t, b, "d1", bomb.String(), "new", "Content-Encoding: gzip")
	assert.Equal(t, 400, a.Status, a.Body)
	assert.Empty(t, b.Hooks.Kept())
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestFloodOfWrongSignatures(t *testing.T) {
	t.Parallel()
	b := start(t)
	text := strings.Repeat("x", 20<<10)
	var limited, refused atomic.Int32
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 1_000 {
				switch a := deliver(t, b, "d", text, "wrong"); a.Status {
				case 401:
					refused.Add(1)
				case 429:
					limited.Add(1)
				}
			}
		})
	}
	all.Wait()

	assert.EqualValues(t, hook.PerMinute, refused.Load())
	assert.EqualValues(t, 10_000-hook.PerMinute, limited.Load())
	assert.Empty(t, b.Hooks.Kept())
	assert.Less(t, b.Hooks.Queries.Load(), int32(100), "not one each")
	other := b.Do(t, "GET", "/healthz", "")
	assert.Equal(t, 200, other.Status)
}

// Whoever looks for connections finds none, and soon may not look any more.
func TestUnknownConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.Equal(t, 202, deliver(t, b, "d1", body, "new").Status)
	statuses := map[int]int{}
	for i := range 200 {
		statuses[b.Do(t, "POST", fmt.Sprintf("%scon_x%d", hook.Path, i), body).Status]++
	}

	assert.Equal(t, map[int]int{404: 60, 429: 140}, statuses)
	assert.EqualValues(t, 61, b.Hooks.Queries.Load())
	assert.Equal(t, 202, deliver(t, b, "d2", body, "new").Status, "known ones go on")
}

func TestSecretsAreChangedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := servertest.Start(t, servertest.Options{Pipes: true})
		b.Hooks.Set(known, "old")
		require.Equal(t, 202, deliver(t, b, "d1", body, "old").Status)
		<-time.After(2 * time.Second)
		b.Hooks.Set(known, "new")
		assert.Equal(t, 202, deliver(t, b, "d2", body, "new").Status)
		assert.Equal(t, 401, deliver(t, b, "d3", body, "old").Status)
		assert.EqualValues(t, 2, b.Hooks.Queries.Load())
	})
}

func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	away := &errs.Error{Kind: errs.Unavailable, Reason: errs.ReasonUnavailable, Message: "away", RetryAfter: time.Second}
	b := start(t)
	b.Hooks.Accept = func(string) error { return away }
	a := deliver(t, b, "d1", body, "new")
	assert.Equal(t, 503, a.Status, a.Body)
	assert.NotEmpty(t, a.Header.Get("Retry-After"))

	for name, err := range map[string]error{
		"away": away, "broken": errs.New(errs.FailedPrecondition, "X", "its secrets can't be opened"),
	} {
		b := start(t)
		b.Hooks.Fail(err)
		assert.Equal(t, 503, deliver(t, b, "d1", body, "new").Status, name)
	}

	b = start(t)
	b.Hooks.Accept = func(string) error { return errors.New("a secret") }
	a = deliver(t, b, "d1", body, "new")
	assert.Equal(t, 500, a.Status)
	assert.NotContains(t, a.Body, "a secret")
}

// Of large bodies only a few are in memory at a time; the others wait or are refused.
func TestLargeBodiesAtOnce(t *testing.T) {
	t.Parallel()
	b := start(t)
	var atOnce, most atomic.Int64
	b.Hooks.Busy = func() {
		now := atOnce.Add(1)
		defer atOnce.Add(-1)
		for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
		}
	}
	statuses := make(chan int, 40)
	for i := range 40 {
		go func() {
			req, err := http.NewRequestWithContext(t.Context(), "POST", b.URL+hook.Path+known,
				io.LimitReader(zeros{}, hook.MaxBody))
			if !assert.NoError(t, err) {
				statuses <- 0
				return
			}
			if i%2 == 0 { // the others say no length
				req.ContentLength = hook.MaxBody
			}
			resp, err := b.Client.Do(req)
			if err != nil { // the server may answer and close before the body is sent
				statuses <- 503
				return
			}
			_ = resp.Body.Close()
			statuses <- resp.StatusCode
		}()
	}
	counts := map[int]int{}
	for range 40 {
		counts[<-statuses]++
	}

	assert.Equal(t, 40, counts[401]+counts[503], "%v", counts)
	assert.NotZero(t, counts[401])
	assert.LessOrEqual(t, most.Load(), overload.DefaultLimits()[overload.LimitLargeHooks].Total)
	assert.Zero(t, b.Guard.Used(overload.LimitLargeHooks))
	assert.Zero(t, b.Guard.Used(overload.LimitHooks))
}

func TestBodiesOverTheLimit(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, length := range []int64{hook.MaxBody + 1, -1} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", b.URL+hook.Path+known,
			io.LimitReader(zeros{}, hook.MaxBody+1))
		require.NoError(t, err)
		req.ContentLength = length
		resp, err := b.Client.Do(req)
		if err != nil {
			continue // it was answered before all of it was sent
		}
		assert.Equal(t, 413, resp.StatusCode)
		require.NoError(t, resp.Body.Close())
	}
	assert.Equal(t, 202, deliver(t, b, "d1", `{"number":7,"x":"`+strings.Repeat("x", 3<<20)+`"}`, "new").Status)
}

// A body that doesn't come keeps its place for ten seconds.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := servertest.Start(t, servertest.Options{Pipes: true})
		b.Hooks.Set(known, "new")
		began := time.Now()
		c := b.Dial(t, false)
		_, err := fmt.Fprintf(c, "POST %s%s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", hook.Path, known)
		require.NoError(t, err)
		synctest.Wait()
		assert.EqualValues(t, 1, b.Guard.Used(overload.LimitHooks))
		assert.Zero(t, b.Guard.Used(overload.LimitWork))
		answer, err := io.ReadAll(c)
		require.NoError(t, err)
		assert.Contains(t, string(answer), "400 Bad Request")
		assert.Equal(t, 10*time.Second, time.Since(began).Round(time.Second))
		assert.Zero(t, b.Guard.Used(overload.LimitHooks))
	})
}
