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

	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// As many requests as are worked on at once promise a body that they should
// not have, and don't send it: nobody waits for that.
func TestPromisedBodyThatNoCallTakes(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		ask := func(more string) net.Conn {
			c := dial(t, b.REST)
			_, err := fmt.Fprintf(c, "GET /v1/rules HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s\r\n", token, more)
			require.NoError(t, err)
			return c
		}
		start := time.Now()
		var silent []net.Conn
		for range overload.DefaultLimits()[overload.LimitWork].Total {
			silent = append(silent, ask("Content-Length: 1\r\n"))
		}
		synctest.Wait()
		resp, err := http.ReadResponse(bufio.NewReader(ask("")), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode)
		for _, c := range silent {
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
		}
		assert.Less(t, time.Since(start), 100*time.Millisecond, "nobody waits")
	})
}

// A body of no known length may turn out to be none; over HTTP/2 that is what
// proxies make of many a GET.
func TestEmptyBodyOfNoKnownLength(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		c := dial(t, b.REST)
		_, err := fmt.Fprintf(c, "GET /v1/rules HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
			"Transfer-Encoding: chunked\r\n\r\n", token)
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
