package scanner_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/scanner"
)

// log is a log that can be read while it is written.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), text)
}

// The log has the reason why a scanner can't be reached also when it was
// another one at first: a scanner that refuses a certificate may reset the
// connection before it is heard.
func TestWhyAScannerCantBeReached(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var speaks atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			if speaks.Load() {
				_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
				// Closed with something unread, it would be reset, and that not heard.
				_, _ = io.Copy(io.Discard, c)
			}
			_ = c.Close()
		}
	})
	t.Cleanup(func() {
		assert.NoError(t, listener.Close())
		all.Wait()
	})
	lines := &log{}
	pool := scanner.NewPool(scanner.PoolOptions{
		Scanners: []string{listener.Addr().String()}, Dial: dial, Log: slog.New(slog.NewTextHandler(lines, nil)),
	})
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	require.Eventually(t, func() bool { return lines.has("a scanner can't be reached") }, patience, time.Millisecond)
	require.False(t, lines.has("HTTP/1.1"))
	speaks.Store(true)
	require.Eventually(t, func() bool { return lines.has("HTTP/1.1") }, patience, time.Millisecond)
}
