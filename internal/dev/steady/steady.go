// Package steady keeps tests steady on machines that have other things to do: it reserves ports, hears servers out that
// hang up early, and measures the least of several times.
package steady

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"syscall"
	"time"
)

// Port is a TCP port of 127.0.0.1 that nobody else is given until Close: not who listens on port 0, not another
// ReservePort. Whoever names it may listen on it, in any process, and nobody answers there while none does.
type Port struct{ number, socket int }

// ReservePort binds a socket and does not listen on it. Linux chooses no port that is bound, and lets others who name
// it bind it, too, as long as every one has SO_REUSEADDR, as Go's listeners and Postgres have, and one listens at
// most.
func ReservePort() (*Port, error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", err)
	}

	err = errors.Join(
		syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	bound, nameErr := syscall.Getsockname(socket)
	if err := errors.Join(err, nameErr); err != nil {
		return nil, fmt.Errorf("reserve a port: %w", errors.Join(err, syscall.Close(socket)))
	}
	return &Port{bound.(*syscall.SockaddrInet4).Port, socket}, nil
}

// Number is the port's number.
func (p *Port) Number() int { return p.number }

// Addr is the port as HOST:PORT.
func (p *Port) Addr() string { return fmt.Sprintf("127.0.0.1:%d", p.number) }

// Close gives the port back.
func (p *Port) Close() error { return syscall.Close(p.socket) }

// DialContext connects as net.Dialer does. A server that refuses a large request reads no more of it, and the client
// that still writes may fail before it reads the answer that is there. On such a connection writing goes on.
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

// Least does something until that takes less than limit, three times at most, and returns the least time that it took.
func Least(limit time.Duration, do func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		do()
		if least = min(least, time.Since(start)); least < limit {
			break
		}
	}
	return least
}
