package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// fault is what becomes of one attempt of a call.
type fault int

const (
	none     fault = iota // it goes on to the server
	overRate              // refused over the rate limit; a moment later it is not
	away                  // the server is away; a moment later it is back
	hourOff               // refused over the rate limit for an hour
)

// plan decides what becomes of an attempt, counted from 1, of a call.
type plan func(call string, attempt int) fault

// refuseFirst refuses the first attempt of every call over the rate limit, and the second as from a server that is
// away, where a client may try again then: it may repeat the other calls only when it knows that nothing happened.
func refuseFirst(call string, attempt int) fault {
	switch {
	case attempt == 1:
		return overRate
	case attempt == 2 && call != "CreateRule" && !strings.HasPrefix(call, "Delete"):
		return away
	}
	return none
}

// refuseForAnHour refuses every call over the rate limit.
func refuseForAnHour(string, int) fault { return hourOff }

// outageOf refuses one call, always, as from a server that is away.
func outageOf(name string) plan {
	return func(call string, _ int) fault {
		if call == name {
			return away
		}
		return none
	}
}

// proxy passes REST or gRPC on to a server, over TLS, as far as its plan lets it, and remembers what it saw.
type proxy struct {
	*httptest.Server
	rest    bool
	backend *httputil.ReverseProxy

	mu       sync.Mutex
	plan     plan
	attempts map[string]int
	keys     []string // idempotency keys of attempts to start a review
}

// newProxy starts a proxy before a server at HOST:PORT. The certificate of the proxy goes to a file.
func newProxy(server string, rest bool, certificate string) (*proxy, error) {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(rest)
	transport.Protocols.SetUnencryptedHTTP2(!rest)
	to := &url.URL{Scheme: "http", Host: server}
	p := &proxy{rest: rest, backend: &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:     transport,
		FlushInterval: -1, // a watch is a stream
	}}

	p.follow(refuseFirst)
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.EnableHTTP2 = true
	p.StartTLS()
	block := &pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}
	return p, os.WriteFile(certificate, pem.EncodeToMemory(block), 0o600)
}

// follow goes by another plan from now on, and forgets what it saw.
func (p *proxy) follow(next plan) { p.plan, p.attempts, p.keys = next, map[string]int{}, nil }

// check says whether a client that scanned once did as it should.
func (p *proxy) check() error {
	if len(p.keys) != 3 || p.keys[0] == "" || len(slices.Compact(slices.Clone(p.keys))) != 1 {
		return fmt.Errorf("the three attempts to start a review have the idempotency keys %q, not one and the same", p.keys)
	}
	if n := p.attempts["WatchReview"]; n != 3 {
		return fmt.Errorf("the watch was opened %d times, not 3: refused, broken, whole", n)
	}
	return nil
}

// next is what becomes of this attempt of a call.
func (p *proxy) next(call, key string) fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if call == "CreateReview" {
		p.keys = append(p.keys, key)
	}
	p.attempts[call]++
	return p.plan(call, p.attempts[call])
}

// callOf names a call of either protocol.
func (p *proxy) callOf(r *http.Request) string {
	switch name := r.Method + " " + r.URL.Path; {
	case !p.rest:
		return path.Base(r.URL.Path)
	case name == "POST /v1/rules":
		return "CreateRule"
	case name == "POST /v1/reviews":
		return "CreateReview"
	case strings.HasSuffix(name, ":watch"):
		return "WatchReview"
	case r.Method == http.MethodDelete:
		return "Delete"
	default:
		return name
	}
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	call := p.callOf(r)
	will := p.next(call, r.Header.Get("Idempotency-Key"))
	switch {
	case will == none:
		p.backend.ServeHTTP(w, r)
	case call == "WatchReview" && will == away:
		defer func() {
			if cause := recover(); cause != nil && p.rest {
				panic(cause) // the connection breaks
			}
			setStatus(w.Header(), http.TrailerPrefix, refusal(away))
		}()
		p.backend.ServeHTTP(&breaking{w, !p.rest}, r)
	case p.rest:
		refuse(w, refusal(will))
	default:
		w.Header().Set("Content-Type", "application/grpc")
		setStatus(w.Header(), "", refusal(will))
	}
}

// breaking is an answer that fails after the first message of its stream.
type breaking struct {
	http.ResponseWriter
	gRPC bool
}

// Write implements http.ResponseWriter.
func (b *breaking) Write(piece []byte) (int, error) {
	first := bytes.IndexByte(piece, '\n') + 1
	if b.gRPC { // a byte for the compression, and the length
		first = 5 + int(binary.BigEndian.Uint32(piece[1:]))
	}
	n, err := b.ResponseWriter.Write(piece[:first])
	flushed := http.NewResponseController(b.ResponseWriter).Flush()
	return n, errors.Join(err, flushed, errors.New("broken"))
}

// Unwrap lets http.ResponseController find the connection.
func (b *breaking) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// refusal is what the server would say.
func refusal(f fault) *status.Status {
	code, reason, message := codes.ResourceExhausted, "RATE_LIMITED", "The key made more requests than it may."
	delay := 10 * time.Millisecond
	switch f {
	case away:
		code, reason, message = codes.Unavailable, "UNAVAILABLE", "The database can't be reached; try again."
	case hourOff:
		delay = time.Hour
	}
	s, err := status.New(code, message).WithDetails(
		&errdetails.ErrorInfo{Reason: reason, Domain: "prwarden"}, &errdetails.RetryInfo{RetryDelay: durationpb.New(delay)})
	if err != nil {
		panic(err) // never: the details are messages
	}
	return s
}

// setStatus answers gRPC; in trailers when prefix says so.
func setStatus(h http.Header, prefix string, s *status.Status) {
	details, _ := proto.Marshal(s.Proto()) // it has no fields that could fail
	h.Set(prefix+"Grpc-Status", fmt.Sprint(int(s.Code())))
	h.Set(prefix+"Grpc-Message", s.Message())
	h.Set(prefix+"Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(details))
}

// refuse answers REST.
func refuse(w http.ResponseWriter, s *status.Status) {
	code := http.StatusTooManyRequests
	if s.Code() == codes.Unavailable {
		code = http.StatusServiceUnavailable
	}
	body, _ := protojson.MarshalOptions{UseProtoNames: true}.Marshal(s.Proto())
	delay := s.Details()[1].(*errdetails.RetryInfo).GetRetryDelay().GetSeconds()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", fmt.Sprint(delay))
	w.WriteHeader(code)
	_, _ = w.Write(body) // the client notices
}
