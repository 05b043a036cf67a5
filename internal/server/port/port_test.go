package port

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience bounds every wait; it is only reached when something is broken.
const patience = 5 * time.Minute

// echo is a port that sends back what comes, and counts its connections.
type echo struct {
	addr    string
	serving atomic.Int64
}

func startEcho(t *testing.T, o Options) *echo {
	t.Helper()
	e := &echo{}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := Wrap(inner, o)
	e.addr = inner.Addr().String()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				e.serving.Add(1)
				defer e.serving.Add(-1)
				defer c.Close()
				_, _ = io.Copy(c, c)
			})
		}
	})

	t.Cleanup(func() {
		assert.NoError(t, l.Close())
		_ = l.Close()
		all.Wait()
	})

	return e
}

// dial connects from an address of the loopback network.
func (e *echo) dial(t *testing.T, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
	c, err := d.Dial("tcp", e.addr)
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { c.Close() })
	return c
}

// serves reports whether a new connection from an address is served. One that
// is closed at once may be so before the client knows that it has it.
func (e *echo) serves(from string) bool {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
	c, err := d.Dial("tcp", e.addr)
	if err != nil {
		return false
	}

	defer c.Close()
	return answers(c)
}

// answers reports whether a connection is served; it waits until it is or is
// closed.
func answers(c net.Conn) bool {
	_, err := c.Write([]byte{7})
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, 1))
	}

	return err == nil
}

func TestOneAddressCantTakeAllConnections(t *testing.T) {
	t.Parallel()
	e := startEcho(t, Options{Total: 10, PerAddress: 3})
	var greedy []net.Conn
	for range 3 {
		c := e.dial(t, "127.0.0.2")
		require.True(t, answers(c))
		greedy = append(greedy, c)
	}

	for range 20 {
		assert.False(t, e.serves("127.0.0.2"), "closed at once")
	}

	assert.True(t, answers(e.dial(t, "127.0.0.3")))
	require.NoError(t, greedy[0].Close())
	require.Eventually(t, func() bool { return e.serves("127.0.0.2") }, patience, time.Millisecond)
}

func TestConnectionsBeyondAllWait(t *testing.T) {
	t.Parallel()
	e := startEcho(t, Options{Total: 3, PerAddress: 3, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}})
	var proxy []net.Conn
	for range 3 {
		c := e.dial(t, "127.0.0.9")
		require.True(t, answers(c))
		proxy = append(proxy, c)
	}

	waiting := e.dial(t, "127.0.0.9")
	served := make(chan bool, 1)
	go func() { served <- answers(waiting) }()
	select {
	case <-served:
		t.Fatal("a fourth was served")
	case <-time.After(50 * time.Millisecond):
	}

	require.NoError(t, proxy[1].Close())
	assert.True(t, <-served, "a proxy may have all, and one more waits for its turn")
}

// Idle connections from a few addresses must not shut a port: those that have
// been idle for longest end first.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	const each = 500
	e := startEcho(t, Options{Total: 4 * each, PerAddress: each, MinIdle: time.Millisecond})
	var idle []net.Conn
	for _, from := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"} {
		for range each {
			c := e.dial(t, from)
			require.True(t, answers(c))
			idle = append(idle, c)
		}
	}

	require.True(t, answers(idle[0]), "the first is used again")
	assert.True(t, e.serves("127.0.0.6"), "another address is served")
	assert.True(t, e.serves("127.0.0.5"), "and one that has as many as it may")
	ended := 0 // not surely the second: a server may note late that it answered
	for _, c := range idle[1:each] {
		if !answers(c) {
			ended++
		}
	}
	assert.Equal(t, 1, ended, "one of those that were idle for longest has ended")
	assert.True(t, answers(idle[0]))
}

// Who has many connections to a full port loses one sooner than who has few.
func TestCrowdsMakeRoomFirst(t *testing.T) {
	t.Parallel()
	e := startEcho(t, Options{Total: 8, PerAddress: 4, MinIdle: 10 * time.Second})
	few := e.dial(t, "127.0.0.2")
	require.True(t, answers(few))
	var many []net.Conn
	for i := range 7 {
		c := e.dial(t, []string{"127.0.0.3", "127.0.0.4"}[i/4])
		require.True(t, answers(c))
		many = append(many, c)
	}

	assert.True(t, e.serves("127.0.0.5"))
	assert.True(t, answers(few), "it was idle for longest")
	assert.False(t, answers(many[0]))
	assert.True(t, answers(many[6]))
}

// A connection that is used is not ended for another.
func TestBusyConnectionsStay(t *testing.T) {
	t.Parallel()
	e := startEcho(t, Options{Total: 10, PerAddress: 1, MinIdle: time.Hour})
	busy := e.dial(t, "127.0.0.2")
	require.True(t, answers(busy))
	assert.False(t, e.serves("127.0.0.2"))
	assert.True(t, answers(busy))
}

func TestClosedPortAcceptsNothing(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := Wrap(inner, Options{Total: 1, PerAddress: 1})
	client, err := net.Dial("tcp", inner.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	c, err := l.Accept()
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { _, err := l.Accept(); ended <- err }() // waits for a place
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
	require.NoError(t, c.Close())
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}
