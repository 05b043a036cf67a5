// Package port makes a network listener fit for strangers: it bounds the
// connections, in all and from each address, and speaks TLS. Under pressure it
// ends the connection that has been idle for longest.
package port

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prwarden/prwarden/internal/auth"
)

// Limits of a port.
const (
	// MaxConnections is how many connections are served at once; 27 KB for an
	// idle one were measured.
	MaxConnections = 2_000

	// MaxPerAddress is how many of them one client address may have.
	MaxPerAddress = 500

	// MinIdle is how long a connection has carried nothing before it may be
	// ended for another. Most requests are answered in less. On a full port those
	// of an address that has half of MaxPerAddress go after a tenth of it.
	MinIdle = 5 * time.Second

	// pollEvery is how often a full port looks for room.
	pollEvery = 50 * time.Millisecond
)

// Options say what a port is.
type Options struct {
	// Trusted are proxies: they may have all connections.
	Trusted []netip.Prefix

	// TLS is for every connection; nil for plain text.
	TLS *tls.Config

	// Total, PerAddress and MinIdle are MaxConnections, MaxPerAddress and MinIdle
	// when 0.
	Total, PerAddress int
	MinIdle           time.Duration
}

// Listener is a port.
type Listener struct {
	net.Listener
	options Options
	closed  chan struct{}
	close   func()

	mu    sync.Mutex
	conns map[*conn]struct{}
}

// Wrap makes a port of a TCP listener.
func Wrap(l net.Listener, o Options) net.Listener {
	o.Total, o.PerAddress = cmp.Or(o.Total, MaxConnections), cmp.Or(o.PerAddress, MaxPerAddress)
	o.MinIdle = cmp.Or(o.MinIdle, MinIdle)
	p := &Listener{Listener: l, options: o, closed: make(chan struct{}), conns: make(map[*conn]struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	if o.TLS == nil {
		return p
	}
	return tls.NewListener(p, o.TLS)
}

// Accept implements net.Listener. One more connection of an address that has too
// many, of which none is idle, is closed. One for which there is no room waits
// until there is, and others wait where they cost nothing here.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}

		c := &conn{Conn: inner, listener: l}
		c.touch()
		peer := inner.RemoteAddr().String()
		if !auth.IsTrusted(peer, l.options.Trusted) {
			c.addr = auth.ClientAddress(peer, nil, nil)
		}
		if c.addr.IsValid() && !l.hasRoom(c.addr, l.options.PerAddress) {
			c.cutOff()
			continue
		}

		for !l.hasRoom(netip.Addr{}, l.options.Total) {
			select {
			case <-time.After(pollEvery):
			case <-l.closed:
				c.cutOff()
				return nil, net.ErrClosed
			}
		}

		l.mu.Lock()
		defer l.mu.Unlock()
		l.conns[c] = struct{}{}
		return c, nil
	}
}

// hasRoom reports whether there are fewer connections than limit, those of one
// address if that is valid. If need be it ends the one that has been idle for
// longest over its time.
func (l *Listener) hasRoom(addr netip.Addr, limit int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) < limit {
		return true
	}

	counts := make(map[netip.Addr]int)
	for c := range l.conns {
		counts[c.addr]++
	}
	if addr.IsValid() && counts[addr] < limit {
		return true
	}

	var ended *conn
	var longest time.Duration
	for c := range l.conns {
		over := time.Since(time.Unix(0, c.used.Load())) - l.options.MinIdle
		switch {
		case addr.IsValid() && c.addr != addr:
			continue
		case !addr.IsValid() && c.addr.IsValid() && counts[c.addr] >= l.options.PerAddress/2:
			over += l.options.MinIdle / 10 * 9
		}
		if over >= longest {
			ended, longest = c, over
		}
	}
	if ended == nil {
		return false
	}

	delete(l.conns, ended)
	ended.cutOff()
	return true
}

// Close implements net.Listener. Connections stay.
func (l *Listener) Close() error {
	l.close()
	return l.Listener.Close()
}

// conn notes when it was last used, and is counted until it is closed.
type conn struct {
	net.Conn
	listener *Listener
	addr     netip.Addr   // invalid when it is not counted for one
	used     atomic.Int64 // nanoseconds since 1970
}

func (c *conn) touch() { c.used.Store(time.Now().UnixNano()) }

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.touch()
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.touch()
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// cutOff ends the connection at once; nothing is kept for it.
func (c *conn) cutOff() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Conn.Close() // there is nothing more to do about it
}
