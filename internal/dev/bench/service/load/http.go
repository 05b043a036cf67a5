package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// HTTP is a Caller over HTTP/1.1. It writes the same bytes each time and looks
// at no more of an answer than its status and its length: Go's own client would
// take more of the machine than the server.
type HTTP struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
	want    []byte // begin of the status line
	body    io.Writer
}

// Request is what an HTTP caller sends.
type Request struct {
	Method, Path string
	Header       map[string]string
	Body         string
	Want         int // status of a success
}

// DialHTTP connects to addr (HOST:PORT). Bodies of answers are written to body.
func DialHTTP(ctx context.Context, addr string, r Request, body io.Writer) (*HTTP, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Path, addr)
	for name, value := range r.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", name, value)
	}
	if r.Body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(r.Body))
	}
	b.WriteString("\r\n" + r.Body)
	return &HTTP{
		conn: conn, in: bufio.NewReaderSize(conn, 64<<10), request: []byte(b.String()),
		want: fmt.Appendf(nil, "HTTP/1.1 %d ", r.Want), body: body,
	}, nil
}

// Close closes the connection.
func (h *HTTP) Close() error { return h.conn.Close() }

// Call implements Caller. The connection has no deadline: the server's end.
func (h *HTTP) Call(context.Context) error {
	if _, err := h.conn.Write(h.request); err != nil {
		return err
	}
	line, err := h.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	ok := bytes.HasPrefix(line, h.want)
	status := string(bytes.TrimSpace(line))
	length, chunked, err := h.header()
	if err != nil {
		return err
	}
	body := h.body
	var said bytes.Buffer
	if !ok {
		body = &said
	}
	if chunked {
		err = h.chunks(body)
	} else {
		_, err = io.CopyN(body, h.in, length)
	}
	if err == nil && !ok {
		err = fmt.Errorf("answered %s: %s", status, said.String())
	}
	return err
}

// header reads the header and says how the body's end is found.
func (h *HTTP) header() (length int64, chunked bool, err error) {
	for {
		line, err := h.in.ReadSlice('\n')
		if err != nil {
			return 0, false, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return length, chunked, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "Content-Length":
			if length, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return 0, false, err
			}
		case "Transfer-Encoding":
			chunked = true
		}
	}
}

func (h *HTTP) chunks(body io.Writer) error {
	for {
		line, err := h.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return errors.New("a chunk has no length")
		}
		if _, err := io.CopyN(body, h.in, n); err != nil {
			return err
		}
		if _, err := h.in.Discard(len("\r\n")); err != nil || n == 0 {
			return err
		}
	}
}
