package rest

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The server's deadlines for whole requests and answers must not end a stream:
// here, on a clock that the test moves, they pass many times between messages.
func TestStreamOutlivesTheDeadlinesOfTheServer(t *testing.T) {
	t.Parallel()
	const pause, messages = 10 * time.Minute, 4
	handler := func(ended chan<- error, wrap func(http.ResponseWriter) http.ResponseWriter) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			s := wrap(&recorder{ResponseWriter: w, r: r})
			for range messages {
				_, _ = s.Write([]byte("message\n"))
				_ = http.NewResponseController(s).Flush()
				time.Sleep(pause) //nolint:forbidigo // on the clock of the test: nothing waits
			}
			ended <- r.Context().Err()
		}
	}
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		server := NewServer(handler(ended, func(w http.ResponseWriter) http.ResponseWriter { return newStreamWriter(w) }),
			log)
		received, took := exchangeLines(t, server)
		assert.NoError(t, <-ended)
		assert.Equal(t, messages, received)
		assert.Equal(t, messages*pause, took)
	})
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		server := NewServer(handler(ended, func(w http.ResponseWriter) http.ResponseWriter { return w }), log)
		received, _ := exchangeLines(t, server)
		<-ended
		assert.Equal(t, 1, received, "without it they do, so this test tells the difference")
	})
}

// exchangeLines sends one request over a pipe, which keeps deadlines on the
// clock of the test, and counts the lines of the answer.
func exchangeLines(t *testing.T, server *http.Server) (lines int, took time.Duration) {
	t.Helper()
	pipes := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(pipes) }()
	transport := &http.Transport{DialContext: pipes.dial}
	start := time.Now()
	resp, err := (&http.Client{Transport: transport}).Get("http://pipe/")
	if err == nil {
		for s := bufio.NewScanner(resp.Body); s.Scan(); lines++ {
		}
		_ = resp.Body.Close()
	}
	took = time.Since(start)
	transport.CloseIdleConnections()
	require.NoError(t, server.Close())
	require.ErrorIs(t, <-served, http.ErrServerClosed)
	return lines, took
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	server, client := net.Pipe()
	l.conns <- server
	return client, nil
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }
