// Package port makes a network listener fit for strangers: it bounds the
// connections, in all and from each address, and speaks TLS.
package port

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"

	"github.com/prwarden/prwarden/internal/auth"
)

// Limits of a port.
const (
	// MaxConnections is how many connections are served at once; 27 KB for an
	// idle one were measured. More wait to be accepted.
	MaxConnections = 2_000
	// MaxPerAddress is how many of them one client address may have, so that
	// one can't take all. One more is closed at once.
	MaxPerAddress = 500
)

// Options say what a port is.
type Options struct {
	// Trusted are proxies: they may have all connections.
	Trusted []netip.Prefix
	// TLS is for every connection; nil for plain text.
	TLS *tls.Config
	// Refused hears of each connection that was closed because its address has
	// too many; nil for nobody.
	Refused func()
	// Total and PerAddress bound the connections that are served at once, in all
	// and of one client address; 0 for MaxConnections and MaxPerAddress.
	Total, PerAddress int
}

// Listener is a port.
type Listener struct {
	net.Listener
	options   Options
	addresses *auth.Quota[netip.Addr]
	places    chan struct{}
	closed    chan struct{}
	once      sync.Once
}

// Wrap makes a port of a TCP listener.
func Wrap(l net.Listener, o Options) net.Listener {
	o.Total, o.PerAddress = cmp.Or(o.Total, MaxConnections), cmp.Or(o.PerAddress, MaxPerAddress)
	if o.Refused == nil {
		o.Refused = func() {}
	}
	p := &Listener{
		Listener: l, options: o, addresses: auth.NewQuota[netip.Addr](o.PerAddress),
		places: make(chan struct{}, o.Total), closed: make(chan struct{}),
	}
	if o.TLS == nil {
		return p
	}
	return tls.NewListener(p, o.TLS)
}

// Accept implements net.Listener. It waits for a place before it accepts, so
// that further connections wait where they cost nothing here.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			<-l.places
			return nil, err
		}
		addr, ok := l.enter(inner)
		if ok {
			return &conn{Conn: inner, listener: l, addr: addr}, nil
		}
		l.options.Refused()
		if tcp, ok := inner.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // nothing was sent, and nothing is to be kept for it
		}
		_ = inner.Close() // there is nothing more to do about it
	}
}

// enter counts a connection for its address, if that may have one more. The
// address is invalid when it is not counted.
func (l *Listener) enter(c net.Conn) (netip.Addr, bool) {
	peer := c.RemoteAddr().String()
	addr := auth.ClientAddress(peer, nil, nil)
	if !addr.IsValid() || auth.IsTrusted(peer, l.options.Trusted) {
		return netip.Addr{}, true
	}
	return addr, l.addresses.Take(addr)
}

// Close implements net.Listener. Connections stay.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

func (l *Listener) leave(addr netip.Addr) {
	<-l.places
	if addr.IsValid() {
		l.addresses.GiveBack(addr)
	}
}

// conn gives its place back when it is closed.
type conn struct {
	net.Conn
	listener *Listener
	addr     netip.Addr
	once     sync.Once
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { c.listener.leave(c.addr) })
	return err
}
