package servertest

import (
	"bytes"
	"crypto/tls"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// HTTP2 is a client that speaks frames, so that it can misbehave. Its methods
// may not be called at the same time, but for those of Framer that read beside
// others.
type HTTP2 struct {
	net.Conn
	*http2.Framer
	block bytes.Buffer
	hpack *hpack.Encoder
	next  uint32
}

// DialHTTP2 connects to a port of HTTP/2, over TLS when config is not nil, and
// says hello. The connection fails after patience.
func DialHTTP2(
	t testing.TB, addr string, config *tls.Config, patience time.Duration, settings ...http2.Setting,
) *HTTP2 {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	return NewHTTP2(t, conn, config, patience, settings...)
}

// NewHTTP2 is DialHTTP2 on a connection that is there.
func NewHTTP2(
	t testing.TB, conn net.Conn, config *tls.Config, patience time.Duration, settings ...http2.Setting,
) *HTTP2 {
	t.Helper()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { conn.Close() })
	if config != nil {
		secure := tls.Client(conn, config)
		require.NoError(t, secure.HandshakeContext(t.Context()))
		require.Equal(t, "h2", secure.ConnectionState().NegotiatedProtocol)
		conn = secure
	}
	c := &HTTP2{Conn: conn, Framer: http2.NewFramer(conn, conn), next: 1}
	c.AllowIllegalWrites = true
	c.hpack = hpack.NewEncoder(&c.block)
	_, err := conn.Write([]byte(http2.ClientPreface))
	require.NoError(t, err)
	require.NoError(t, c.WriteSettings(settings...))
	return c
}

// Field is a header field.
type Field = hpack.HeaderField

// Encode returns fields as a header block. What the encoder remembers of
// earlier blocks it refers to.
func (c *HTTP2) Encode(fields ...Field) []byte {
	c.block.Reset()
	for _, f := range fields {
		if err := c.hpack.WriteField(f); err != nil {
			panic(err) // a buffer takes everything
		}
	}
	return bytes.Clone(c.block.Bytes())
}

// Request returns the fields of a request; its kind is that of the port.
func Request(gRPC bool, path string, more ...Field) []Field {
	fields := []Field{
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"},
		{Name: ":path", Value: path}, {Name: ":authority", Value: "localhost"},
	}
	if gRPC {
		fields[0].Value = "POST"
		fields = append(fields, Field{Name: "content-type", Value: "application/grpc"}, Field{Name: "te", Value: "trailers"})
	}
	return append(fields, more...)
}

// Start sends the header of a request and returns its stream.
func (c *HTTP2) Start(end bool, fields ...Field) (stream uint32, err error) {
	stream = c.next
	c.next += 2
	return stream, c.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: c.Encode(fields...), EndHeaders: true, EndStream: end,
	})
}

// Skip reads frames until want holds for one, which it returns; nil when the
// connection ended before.
func (c *HTTP2) Skip(want func(http2.Frame) bool) http2.Frame {
	for {
		f, err := c.ReadFrame()
		if err != nil {
			return nil
		}
		if want(f) {
			return f
		}
	}
}

// Status returns the status in a header block, 0 for none.
func Status(block []byte) (status int) {
	d := hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if f.Name == ":status" {
			status, _ = strconv.Atoi(f.Value)
		}
	})
	if _, err := d.Write(block); err != nil {
		return 0
	}
	return status
}
