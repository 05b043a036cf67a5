package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/servertest"
)

// As many requests as are worked on at once promise a body that they should
// not have, and don't send it: nobody waits for that.
func TestPromisedBodyThatNoCallTakes(t *testing.T) {
	for name, tc := range map[string]struct {
		header string
		within time.Duration // until all are refused
	}{
		"length":  {"Content-Length: 1", time.Millisecond},
		"chunked": {"Transfer-Encoding: chunked", 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			slowly(t, func(t *testing.T, b *servertest.Bundle) {
				_, token := b.Key(t)
				ask := func(more string) net.Conn {
					c := dial(t, b.REST)
					_, err := fmt.Fprintf(c, "GET /v1/rules HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s\r\n", token, more)
					require.NoError(t, err)
					return c
				}
				// Looked up together, some of them would wait for the first.
				_, err := b.Keys.Authenticate(t.Context(), []string{"Bearer " + token})
				require.NoError(t, err)
				start := time.Now()
				var silent []net.Conn
				for range auth.DefaultGateLimits().Working {
					silent = append(silent, ask(tc.header+"\r\n"))
				}
				synctest.Wait()
				resp, err := http.ReadResponse(bufio.NewReader(ask("")), nil)
				require.NoError(t, err)
				assert.Equal(t, http.StatusOK, resp.StatusCode)
				assert.Less(t, time.Since(start), time.Millisecond, "others don't wait")
				for _, c := range silent {
					resp, err := http.ReadResponse(bufio.NewReader(c), nil)
					require.NoError(t, err)
					assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
				}
				assert.Less(t, time.Since(start), tc.within)
			})
		})
	}
}

// A body of no known length may turn out to be none; over HTTP/2 that is what
// proxies make of many a GET.
func TestEmptyBodyOfNoKnownLength(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		c := dial(t, b.REST)
		_, err := fmt.Fprintf(c, "GET /v1/rules HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nTransfer-Encoding: chunked\r\n\r\n", token)
		require.NoError(t, err)
		pause(time.Second)
		_, err = io.WriteString(c, "0\r\n\r\n")
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		pause(time.Minute)
		_, err = fmt.Fprintf(c, "GET /v1/rules HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
		require.NoError(t, err, "the connection lives on")
		resp, err = http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode)
	})
}

func TestPromisedBodyOverHTTP2(t *testing.T) {
	underAttack(t, servertest.Options{}, func(t *testing.T, a *attack) {
		if a.gRPC {
			return // every call has a message
		}
		c := a.dial(t)
		for range auth.DefaultGateLimits().Working {
			_, err := c.Start(false, servertest.Request(false, "/v1/rules", servertest.Field{Name: "authorization", Value: "Bearer " + a.token})...)
			require.NoError(t, err)
		}
		require.Eventually(t, func() bool { s := a.Gate.State(); return s.Open == 64 && s.Working == 0 || s.Open == 0 }, patience, time.Millisecond)
		for refused := 0; refused < auth.DefaultGateLimits().Working; {
			f := c.Skip(func(f http2.Frame) bool { _, ok := f.(*http2.HeadersFrame); return ok })
			require.NotNil(t, f)
			assert.EqualValues(t, 0x80|12, f.(*http2.HeadersFrame).HeaderBlockFragment()[0], "HPACK for `:status: 400`")
			refused++
		}
	})
}
