package hook_test

import (
	"fmt"
	"io"
	"net"
	"strings"
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

// begin sends the header of a delivery and the beginning of its body.
func begin(t *testing.T, b *servertest.Bundle, id string, length, sent int) net.Conn {
	t.Helper()
	c := b.Dial(t, false)
	_, err := fmt.Fprintf(c, "POST %s%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		hook.Path, id, length, strings.Repeat("x", sent))
	require.NoError(t, err)
	synctest.Wait()

	return c
}

// Nothing is read for a connection that there is not, and nobody's work waits while one
// is looked for.
func TestSendersAreFoundBeforeTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := servertest.Start(t, servertest.Options{Pipes: true})
		found := make(chan struct{})
		b.Hooks.Looking = func() { <-found }
		c := begin(t, b, "con_b", 1<<20, 0)
		assert.EqualValues(t, 1, b.Guard.Used(overload.LimitHooks))
		assert.Zero(t, b.Guard.Used(overload.LimitWork))
		close(found)
		began := time.Now()
		answer, err := io.ReadAll(c)
		require.NoError(t, err)
		assert.Contains(t, string(answer), "404 Not Found")
		assert.Less(t, time.Since(began), 5*time.Second)
	})
}

// Of one connection there is one large body at a time, and it has to come.
func TestLargeBodiesThatDontCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := servertest.Start(t, servertest.Options{Pipes: true})
		b.Hooks.Set(known, "new")
		began := time.Now()
		first := begin(t, b, known, 2<<20, 600<<10)
		begin(t, b, known, 2<<20, 600<<10)
		assert.EqualValues(t, 1, b.Guard.Used(overload.LimitLargeHooks))
		line := make([]byte, len("HTTP/1.1 400"))
		_, err := io.ReadFull(first, line)
		require.NoError(t, err)
		assert.Equal(t, "HTTP/1.1 400", string(line))
		assert.Equal(t, time.Second, time.Since(began).Round(100*time.Millisecond))
	})
}

func TestFailuresAreRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := servertest.Start(t, servertest.Options{Pipes: true})
		b.Hooks.Set(known, "new")
		b.Hooks.Fail(errs.New(errs.FailedPrecondition, "X", "its secrets can't be opened"))
		for range 20 {
			require.Equal(t, 503, deliver(t, b, "d1", body, "new").Status)
		}
		assert.EqualValues(t, 1, b.Hooks.Queries.Load())
		b.Hooks.Fail(nil)
		<-time.After(time.Second)
		assert.Equal(t, 202, deliver(t, b, "d1", body, "new").Status)
	})
}

// What is no identifier is counted together, so that it takes no memory.
func TestIdentifiersOfNothingAreCountedTogether(t *testing.T) {
	t.Parallel()
	b := start(t)
	for i := range hook.PerMinute {
		require.NotEqual(t, 200, b.Do(t, "POST", hook.Path+strings.Repeat("x", i%7*1000+1), body).Status)
	}
	assert.Equal(t, 429, b.Do(t, "POST", hook.Path+"another", body).Status)
}
