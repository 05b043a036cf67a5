// Package dnstest has names lead where a test wants.
package dnstest

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// NewResolver returns a resolver of a name server that answers with each address once, and
// from then on with the last.
func NewResolver(t *testing.T, addresses ...netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go serveNames(conn, addresses)

	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// serveNames answers questions of one name, see RFC 1035 section 4.
func serveNames(conn net.PacketConn, addresses []netip.Addr) {
	const typeA = 1
	buffer := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		end := 12
		for buffer[end] != 0 {
			end += int(buffer[end]) + 1
		}
		end += 5 // the root, type and class
		asked := buffer[end-3]
		if n < end {
			continue
		}

		answer := append([]byte{}, buffer[:end]...)
		answer[2], answer[3] = 0x84, 0 // an authoritative answer
		copy(answer[6:12], make([]byte, 6))
		if asked == typeA {
			answer[7] = 1
			four := addresses[0].As4()
			answer = append(answer, 0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4)
			answer = append(answer, four[:]...)
			addresses = addresses[min(1, len(addresses)-1):]
		}
		_, _ = conn.WriteTo(answer, from)
	}
}
