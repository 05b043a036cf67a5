package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// serveREST serves HTTP over TLS: what the faults let through goes to the
// server at target. It returns its address and how to end it.
func serveREST(cert tls.Certificate, target string, f *faults) (string, func(), error) {
	to, err := url.Parse(target)
	if err != nil {
		return "", nil, err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1, // a watch is a stream
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			starts := r.Method == http.MethodPost && r.URL.Path == "/v1/reviews"
			if starts {
				f.started(r.Header.Get("Idempotency-Key"))
			}
			call := r.Method + " " + reviewID.ReplaceAllString(r.URL.Path, "rev_…")
			will := f.next(call, starts || r.Method == http.MethodGet)
			if will == away && strings.HasSuffix(r.URL.Path, ":watch") {
				w = &breaking{ResponseWriter: w}
			} else if refuse(w, will) {
				return
			}
			proxy.ServeHTTP(w, r)
		}),
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	return "https://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// breaking is an answer whose connection breaks after the first piece of its
// body.
type breaking struct {
	http.ResponseWriter
	wrote bool
}

// Write implements http.ResponseWriter.
func (b *breaking) Write(piece []byte) (int, error) {
	if b.wrote {
		panic(http.ErrAbortHandler)
	}
	b.wrote = true
	return b.ResponseWriter.Write(piece)
}

// Flush implements http.Flusher.
func (b *breaking) Flush() { _ = http.NewResponseController(b.ResponseWriter).Flush() }

// refuse answers as the server would, and reports whether it did.
func refuse(w http.ResponseWriter, f fault) bool {
	code, grpcCode, reason, message, after := http.StatusTooManyRequests, 8, "RATE_LIMITED", "The key made more requests than it may.", 0
	switch f {
	case none:
		return false
	case away:
		code, grpcCode, reason, message = http.StatusServiceUnavailable, 14, "UNAVAILABLE", "The database can't be reached; try again."
	case hourOff:
		after = 3600
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", fmt.Sprint(after))
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"code": %d, "message": %q, "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": %q, "domain": "prwarden"}]}`,
		grpcCode, message, reason)
	return true
}
