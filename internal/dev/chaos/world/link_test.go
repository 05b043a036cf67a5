package world

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// echo listens and sends back what it gets. It returns its address.
func echo(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// dial connects to a link; one that is cut may reset it before that is known.
func dial(t *testing.T, l *Link) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr())
	if err != nil {
		c, _ = net.Pipe()
		require.NoError(t, c.Close())
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// passes tells whether a byte comes back within a time.
func passes(t *testing.T, c net.Conn, within time.Duration) error {
	t.Helper()
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	require.NoError(t, c.SetReadDeadline(time.Now().Add(within)))
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

const (
	plenty   = 3 * time.Minute
	noAnswer = 100 * time.Millisecond // of a black hole
)

func TestLink(t *testing.T) {
	t.Parallel()
	l, err := NewLink(t.Context(), "127.0.0.1:0", echo(t))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	first := dial(t, l)
	require.NoError(t, passes(t, first, plenty))
	assert.False(t, l.Impaired())

	l.Cut()
	assert.True(t, l.Impaired())
	require.Error(t, passes(t, first, plenty))
	require.Error(t, passes(t, dial(t, l), plenty), "new ones are reset, too")
	l.Mend(false)
	second := dial(t, l)
	require.NoError(t, passes(t, second, plenty))

	l.Hold()
	assert.True(t, l.Impaired())
	var timeout net.Error
	require.ErrorAs(t, passes(t, second, noAnswer), &timeout)
	assert.True(t, timeout.Timeout(), "the connection is there, and silent")
	third := dial(t, l)
	require.ErrorAs(t, passes(t, third, noAnswer), &timeout)
	assert.True(t, timeout.Timeout())
	l.Mend(false)
	for _, c := range []net.Conn{second, third} { // what was held comes now
		require.NoError(t, c.SetReadDeadline(time.Now().Add(plenty)))
		_, err := io.ReadFull(c, make([]byte, 1))
		require.NoError(t, err)
	}

	l.Hold()
	l.Mend(true)
	require.Error(t, passes(t, second, plenty), "it was forgotten")
	require.NoError(t, passes(t, dial(t, l), plenty))
}

func TestLinkToNobody(t *testing.T) {
	t.Parallel()
	l, err := NewLink(t.Context(), "127.0.0.1:0", "127.0.0.1:1")
	require.NoError(t, err)
	require.Error(t, passes(t, dial(t, l), plenty))
	require.NoError(t, l.Close())
}
