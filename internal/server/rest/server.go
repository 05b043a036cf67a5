package rest

import (
	"log/slog"
	"net/http"
	"time"
)

// Limits of the HTTP server. Those for whole requests and answers don't hold
// for watches, which have their own for each message.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
)

// Limits of HTTP/2, which there is over TLS only. They are those of the gRPC
// port.
const (
	// maxStreams bounds the requests that one connection has at once: a key may
	// have 100 watches, and needs some for other calls beside them.
	maxStreams = 128
	// streamWindow and connWindow are how many bytes of bodies a stream and a
	// connection take before they are asked for.
	streamWindow = 64 << 10
	connWindow   = 1 << 20
	// headerTable is how many bytes a client may have remembered of headers.
	headerTable = 4 << 10
	// silence is after how long a silent connection is asked whether it lives,
	// and pingTimeout how long it may take to say so.
	silence     = time.Minute
	pingTimeout = 20 * time.Second
	// writeByteTimeout is how long a connection may take none of the bytes that
	// there are for it.
	writeByteTimeout = 30 * time.Second
)

// NewServer makes an HTTP server for a handler, with limits on everything that
// a client can make it wait for or keep. Its listener bounds the connections
// (see package port).
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: connWindow,
			MaxDecoderHeaderTableSize:     headerTable,
			MaxEncoderHeaderTableSize:     headerTable,
			SendPingTimeout:               silence,
			PingTimeout:                   pingTimeout,
			WriteByteTimeout:              writeByteTimeout,
		},
		// `OPTIONS *` is a request like any other.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
