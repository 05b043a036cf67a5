package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// slowly runs a test on a clock that moves when nothing else does, against
// both servers over pipes.
func slowly(t *testing.T, test func(*testing.T, *servertest.Bundle)) {
	t.Helper()
	onPipes(t, servertest.Options{}, test)
}

// onPipes is slowly with options. A busy machine takes no time there.
func onPipes(t *testing.T, o servertest.Options, test func(*testing.T, *servertest.Bundle)) {
	t.Helper()
	t.Parallel()
	o.Pipes = true
	synctest.Test(t, func(t *testing.T) { test(t, servertest.Start(t, o)) })
}

func pause(d time.Duration) { <-time.After(d) }

func dial(t *testing.T, p *servertest.Pipes) net.Conn {
	t.Helper()
	c, err := p.Dial()
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// closedAfter reads until the server closes and returns how long that took.
func closedAfter(t *testing.T, c net.Conn) time.Duration {
	t.Helper()
	start := time.Now()
	_, err := io.Copy(io.Discard, c)
	if err != nil {
		assert.ErrorIs(t, err, io.ErrClosedPipe)
	}
	return time.Since(start)
}

func TestSlowHeader(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		c := dial(t, b.REST)
		var writer sync.WaitGroup
		defer writer.Wait()
		writer.Go(func() {
			for _, letter := range "GET /v1/rules HTTP/1.1\r\nHost: x\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" {
				if _, err := c.Write([]byte(string(letter))); err != nil {
					return
				}
				pause(time.Second)
			}
		})
		assert.LessOrEqual(t, closedAfter(t, c), 11*time.Second)
	})
}

func TestNothingIsSent(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		assert.LessOrEqual(t, closedAfter(t, dial(t, b.REST)), 11*time.Second)
		assert.LessOrEqual(t, closedAfter(t, dial(t, b.GRPC)), 11*time.Second, "half a handshake")
	})
}

func TestIdleConnection(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		c := dial(t, b.REST)
		_, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		assert.LessOrEqual(t, closedAfter(t, c), 2*time.Minute+time.Second)

		idle := servertest.NewHTTP2(t, dial(t, b.GRPC), nil, time.Hour)
		var writing sync.Mutex // a framer takes one writer at a time
		go answerPings(idle, &writing)
		start := time.Now()
		for err = error(nil); err == nil; pause(time.Second) {
			writing.Lock()
			err = idle.WriteWindowUpdate(0, 1) // alive, and without a call
			writing.Unlock()
		}
		assert.LessOrEqual(t, time.Since(start), 3*time.Minute, "after notice")
	})
}

// answerPings keeps a connection alive and reads nothing else.
func answerPings(c *servertest.HTTP2, writing *sync.Mutex) {
	for {
		f, err := c.ReadFrame()
		if err != nil {
			return
		}
		if p, ok := f.(*http2.PingFrame); ok && !p.IsAck() {
			writing.Lock()
			err := c.WritePing(true, p.Data)
			writing.Unlock()
			if err != nil {
				return
			}
		}
	}
}

// A body that comes slowly ends, and holds no place among the requests that
// are worked on.
func TestSlowBody(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		c := dial(t, b.REST)
		var writer sync.WaitGroup
		defer writer.Wait()
		writer.Go(func() {
			_, err := fmt.Fprintf(c, "POST /v1/rules HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n", token)
			for ; err == nil; pause(time.Second) {
				_, err = c.Write([]byte{' '})
			}
		})
		pause(10 * time.Second)
		assert.Equal(t, overload.State{Open: 1}, b.Guard.State())
		assert.LessOrEqual(t, closedAfter(t, c), 21*time.Second)
		synctest.Wait()
		assert.Equal(t, overload.State{}, b.Guard.State())
	})
}

// large is a review whose answer is some MB.
func large(_, id string) (review.Review, error) {
	r := review.Review{ID: id, Status: review.Complete, CreatedAt: servertest.Epoch}
	for i := range 10_000 {
		r.Findings = append(r.Findings,
			finding.Finding{RuleID: "a/b", File: "f", Line: i + 1, Message: strings.Repeat("x", 200)})
	}
	return r, nil
}

// An answer that is read at one byte a second ends, and everybody else's work
// goes on meanwhile.
func TestSlowReader(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		b.Reviews.GetFunc = large
		_, token := b.Key(t)
		c := dial(t, b.REST)
		_, err := fmt.Fprintf(c, "GET /v1/reviews/rev_1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
		require.NoError(t, err)
		start := time.Now()
		for open := int64(1); open > 0; open = b.Guard.State().Open {
			pause(time.Second)
			_, err = c.Read(make([]byte, 1))
			require.NoError(t, err)
			synctest.Wait()
			if time.Since(start) < 50*time.Second {
				require.Equal(t, overload.State{Open: 1}, b.Guard.State())
			}
		}
		assert.LessOrEqual(t, time.Since(start), 62*time.Second)
	})
}

// More large answers than there are places for wait a little, and are refused
// before anything of them is written.
func TestLargeAnswersHavePlaces(t *testing.T) {
	limits := overload.Limits{overload.LimitAnswers: {Total: 1, Wait: time.Second}}
	onPipes(t, servertest.Options{Limits: limits}, func(t *testing.T, b *servertest.Bundle) {
		b.Reviews.GetFunc = large
		_, token := b.Key(t)
		ask := func() net.Conn {
			c := dial(t, b.REST)
			_, err := fmt.Fprintf(c, "GET /v1/reviews/rev_1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
			require.NoError(t, err)
			return c
		}
		ask() // and reads nothing
		synctest.Wait()
		resp, err := http.ReadResponse(bufio.NewReader(ask()), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
		assert.NotEmpty(t, resp.Header.Get("Retry-After"))
		assert.NotEmpty(t, resp.Header.Get("X-RateLimit-Remaining"))
		pause(time.Minute)
		resp, err = http.ReadResponse(bufio.NewReader(ask()), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode)
	})
}

// get sends a request for a path and returns the connection, from which nothing
// was read.
func get(t *testing.T, b *servertest.Bundle, path, token string) net.Conn {
	t.Helper()
	c := dial(t, b.REST)
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	require.NoError(t, err)
	return c
}

// answered reads the status of an answer.
func answered(t *testing.T, c net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	return resp.StatusCode
}

// A client that reads nothing keeps what he may have for himself, and nothing
// that others need.
func TestUnreadAnswersLeavePlacesForOthers(t *testing.T) {
	for name, tc := range map[string]struct {
		path  string
		keyed bool
	}{
		"the document, without a key": {"/openapi.json", false},
		"reviews, with one key":       {"/v1/reviews/rev_1", true},
	} {
		t.Run(name, func(t *testing.T) {
			slowly(t, func(t *testing.T, b *servertest.Bundle) {
				b.Reviews.GetFunc = func(org, id string) (review.Review, error) {
					r, err := large(org, id)
					r.Findings = r.Findings[:1_500] // more than a connection holds
					return r, err
				}
				_, token := b.Key(t)
				_, other := b.KeyOf(t, "other")
				if !tc.keyed {
					token = ""
				}
				for range 40 {
					get(t, b, tc.path, token)
				}
				pause(100 * time.Millisecond)
				start := time.Now()
				assert.Equal(t, http.StatusOK, answered(t, get(t, b, "/v1/reviews/rev_1", other)))
				assert.Less(t, time.Since(start), 100*time.Millisecond)
			})
		})
	}
}
