// Package eager connects clients of tests to servers that may hang up early.
package eager

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// DialContext connects as net.Dialer does. A client listens on such a connection
// even when the other end has hung up on what it says: a server that refuses a
// large request reads no more, which the end that still writes may notice before
// the answer that is there.
func DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

type conn struct{ net.Conn }

// Write implements net.Conn.
func (c conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return len(p), nil
	}
	return n, err
}
