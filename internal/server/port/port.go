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
	// ended for another. Most requests are answered in less.
	MinIdle = 5 * time.Second
	// pollEvery is how often a full port looks for idle connections.
	pollEvery = 100 * time.Millisecond
)

// Options say what a port is.
type Options struct {
	// Trusted are proxies: they may have all connections.
	Trusted []netip.Prefix
	// TLS is for every connection; nil for plain text.
	TLS *tls.Config
	// Refused hears of each connection that was closed at once because its
	// address has too many; nil for nobody.
	Refused func()
	// Total, PerAddress and MinIdle are MaxConnections, MaxPerAddress and MinIdle
	// when 0.
	Total, PerAddress int
	MinIdle           time.Duration
}

// Listener is a port.
type Listener struct {
	net.Listener
	options Options
	left    chan struct{} // told when a connection has ended
	closed  chan struct{}
	once    sync.Once

	mu        sync.Mutex
	conns     map[*conn]struct{}
	addresses map[netip.Addr]int
}

// Wrap makes a port of a TCP listener.
func Wrap(l net.Listener, o Options) net.Listener {
	o.Total, o.PerAddress = cmp.Or(o.Total, MaxConnections), cmp.Or(o.PerAddress, MaxPerAddress)
	o.MinIdle = cmp.Or(o.MinIdle, MinIdle)
	if o.Refused == nil {
		o.Refused = func() {}
	}
	p := &Listener{
		Listener: l, options: o, left: make(chan struct{}, 1), closed: make(chan struct{}),
		conns: make(map[*conn]struct{}), addresses: make(map[netip.Addr]int),
	}
	if o.TLS == nil {
		return p
	}
	return tls.NewListener(p, o.TLS)
}

// Accept implements net.Listener. A connection for which there is no room waits
// until there is, and others wait where they cost nothing here.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: inner, listener: l, addr: l.counted(inner)}
		c.touch()
		if err := l.waitForRoom(); err != nil {
			c.cutOff()
			return nil, err
		}

		if l.enter(c) {
			return c, nil
		}
		l.options.Refused()
		c.cutOff()
	}
}

// counted is the address that a connection counts for; invalid for none.
func (l *Listener) counted(c net.Conn) netip.Addr {
	peer := c.RemoteAddr().String()
	if auth.IsTrusted(peer, l.options.Trusted) {
		return netip.Addr{}
	}
	return auth.ClientAddress(peer, nil, nil)
}

// waitForRoom waits until there is room for one more connection, if need be that
// of an idle one.
func (l *Listener) waitForRoom() error {
	for {
		l.mu.Lock()
		room := len(l.conns) < l.options.Total || l.endIdle(netip.Addr{})
		l.mu.Unlock()
		if room {
			return nil
		}
		select {
		case <-l.left:
		case <-time.After(pollEvery):
		case <-l.closed:
			return net.ErrClosed
		}
	}
}

// enter counts a connection; false when its address has too many, of which none
// is idle.
func (l *Listener) enter(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.addr.IsValid() && l.addresses[c.addr] >= l.options.PerAddress && !l.endIdle(c.addr) {
		return false
	}
	l.conns[c] = struct{}{}
	l.addresses[c.addr]++
	return true
}

// endIdle ends the connection that has been idle for longest, of one address if
// that is valid; false when none has been idle for long enough. The caller holds
// mu.
func (l *Listener) endIdle(addr netip.Addr) bool {
	var oldest *conn
	for c := range l.conns {
		if addr.IsValid() && c.addr != addr {
			continue
		}
		if oldest == nil || c.used.Load() < oldest.used.Load() {
			oldest = c
		}
	}

	if oldest == nil || time.Since(time.Unix(0, oldest.used.Load())) < l.options.MinIdle {
		return false
	}
	l.remove(oldest)
	oldest.cutOff()
	return true
}

// remove counts a connection no more, if it was. The caller holds mu.
func (l *Listener) remove(c *conn) {
	if _, ok := l.conns[c]; !ok {
		return
	}
	delete(l.conns, c)
	if l.addresses[c.addr]--; l.addresses[c.addr] == 0 {
		delete(l.addresses, c.addr)
	}
	select {
	case l.left <- struct{}{}:
	default:
	}
}

// Close implements net.Listener. Connections stay.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
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
	err := c.Conn.Close()
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.remove(c)
	return err
}

// cutOff ends the connection at once; nothing is kept for it.
func (c *conn) cutOff() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Conn.Close() // there is nothing more to do about it
}
