package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/rule/schema"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rest/docs"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

const jsonType = "application/json"

// streamWriteTimeout is how long a watcher may take to read one message.
const streamWriteTimeout = 30 * time.Second

// exchange is one request and what was answered. It travels in the context,
// because grpc-gateway's handlers sit in between.
type exchange struct {
	http.ResponseWriter
	call    rpc.Call
	began   time.Time
	pattern string // of the path; "" until it is known
	route   *route // nil for what is no gRPC call

	request *overload.Request        // bounds what waits to be read; nil for no bounds
	control *http.ResponseController // of a stream; nil for others

	status int // 0 until written
	bytes  int64
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// WriteHeader implements http.ResponseWriter.
func (e *exchange) WriteHeader(status int) {
	if e.status == 0 {
		e.status = status
	}
	e.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. The client may take its time to read, so
// the request is no more worked on. The server's deadline is for a whole answer,
// that of a stream for each message.
func (e *exchange) Write(p []byte) (int, error) {
	e.request.Release(overload.LimitWork)
	if e.control != nil {
		if err := e.control.SetWriteDeadline(time.Now().Add(streamWriteTimeout)); err != nil {
			return 0, err
		}
	}

	if e.status == 0 {
		e.status = http.StatusOK
	}
	n, err := e.ResponseWriter.Write(p)
	e.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (e *exchange) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// fail answers an error: of ours, or a status that came through gRPC.
func (g *Gateway) fail(e *exchange, r *http.Request, err error) {
	s := g.status(r.Context(), err)
	e.call.Reason = rpc.Reason(s)
	code := rpc.HTTPStatus(s.Code(), e.call.Reason)

	h := e.Header()
	h.Set("Content-Type", jsonType)
	if code == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	wait := rpc.RetryAfter(s)
	if wait > 0 && (code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable) {
		h.Set("Retry-After", strconv.FormatInt(int64(math.Ceil(wait.Seconds())), 10))
	}

	body, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(s.Proto())
	if err != nil {
		g.Log.Error("an error could not be encoded", "request_id", e.call.RequestID, "error", err)
	}
	e.WriteHeader(code)
	_, _ = e.Write(body) // the client may be gone
}

// callFailed is fail for a call that grpc-gateway made.
func (g *Gateway) callFailed(
	ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, _ http.ResponseWriter, r *http.Request, err error,
) {
	g.fail(exchangeOf(ctx), r, err)
}

// mismatch is what grpc-gateway says of a parameter in the path that is no number.
var mismatch = regexp.MustCompile(`type mismatch, parameter: (\w+), error:`)

// status gives every error the form that ours have. A status with one of our
// reasons was made by the chain, which logged what was unexpected.
func (g *Gateway) status(ctx context.Context, err error) *status.Status {
	if s, ok := status.FromError(err); ok && rpc.Reason(s) != "" {
		return s
	}
	if m := mismatch.FindStringSubmatch(err.Error()); m != nil {
		var bad errs.Violations
		bad.Add(m[1], "must be a whole number in the path")
		return rpc.Status(bad.Err())
	}
	if rpc.Unexpected(err) {
		g.Log.ErrorContext(ctx, "unexpected error", "request_id", exchangeOf(ctx).call.RequestID, "error", err)
	}
	return rpc.Status(err)
}

// marshaler is how answers are written. What a call answers as a whole body
// passes as it is.
type marshaler struct{ *runtime.HTTPBodyMarshaler }

func newMarshaler() marshaler {
	options := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}
	return marshaler{&runtime.HTTPBodyMarshaler{Marshaler: &runtime.JSONPb{MarshalOptions: options}}}
}

// StreamContentType implements runtime.StreamContentType: a stream is one JSON
// value on each line, which is no JSON as a whole.
func (marshaler) StreamContentType(any) string { return "application/x-ndjson" }

// forward gives a successful answer the status that the protos promise, and
// takes room for a large one. Its JSON is about twice as long as the message.
func forward(ctx context.Context, w http.ResponseWriter, m proto.Message) error {
	e := exchangeOf(ctx)
	if size := int64(2 * proto.Size(m)); size > overload.Large {
		e.request.Release(overload.LimitWork)
		if err := e.request.Hold(ctx, overload.LimitAnswers, size); err != nil {
			return err
		}
	}

	switch e.route.success {
	case http.StatusOK:
		return nil
	case http.StatusNoContent:
		w.Header().Del("Content-Type")
	}

	// Writing the body of a 204 fails, as it should, and grpc-gateway expects
	// that.
	w.WriteHeader(e.route.success)
	return nil
}

// Paths of what describes the API, and the files that it scans by. They need no
// key and are counted as requests without one are.
const (
	openAPIPath = "/openapi.json"
	docsPath    = "/docs"
	schemaPath  = "/rules.schema.json" // of the rules file, for editors
)

// document is an answer that is the same for everybody as long as the server
// runs.
type document struct {
	body   []byte
	header http.Header
}

// newDocuments makes the OpenAPI document, the page that shows it, and the
// schema.
func newDocuments(openAPI []byte) (map[string]document, error) {
	page, err := docs.New(openAPI)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", docsPath, err)
	}

	shown := newDocument("text/html; charset=utf-8", page.HTML)
	shown.header.Set("Content-Security-Policy", page.Policy)
	shown.header.Set("Referrer-Policy", "no-referrer")
	return map[string]document{
		openAPIPath: newDocument(jsonType, openAPI), docsPath: shown, docsPath + "/": shown,
		schemaPath: newDocument("application/schema+json", schema.JSON()),
	}, nil
}

func newDocument(mediaType string, body []byte) document {
	sum := sha256.Sum256(body)
	return document{body, http.Header{
		"Content-Type":  {mediaType},
		"Etag":          {strconv.Quote(hex.EncodeToString(sum[:16]))},
		"Cache-Control": {"no-cache"}, // it may be kept, and has to be asked for
	}}
}

// serve answers with the document, or with 304 for who has it.
func (d document) serve(e *exchange, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return refuseMethod(e, http.MethodGet, http.MethodHead)
	}

	maps.Copy(e.Header(), d.header)
	http.ServeContent(e, r, "", time.Time{}, bytes.NewReader(d.body))
	return nil
}

// Answered is a request that was answered. No field holds a text that a client
// can choose.
type Answered struct {
	Method string // an HTTP method of the API, or `other`
	Route  string // such as /v1/reviews/{review_id}, or `unknown`
	Status int    // 0 when the connection was cut off
	Took   time.Duration
}

// answered writes a request's line, its span and its metrics; never a body, a
// query or a header.
func (g *Gateway) answered(e *exchange, r *http.Request) {
	a := Answered{Method: "other", Route: "unknown", Status: e.status, Took: time.Since(e.began)}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodOptions:
		a.Method = r.Method
	}
	if e.pattern != "" {
		a.Route = e.pattern
	}

	g.Observe(a)
	failed := e.status == 0 || e.status >= http.StatusInternalServerError && e.status != http.StatusServiceUnavailable
	describe(trace.SpanFromContext(r.Context()), a, e.call)

	g.requests.Write(r.Context(), "request", &e.call, rpc.Outcome{
		Failed: failed, Limited: e.status == http.StatusTooManyRequests, Health: isHealth(r.URL.Path),
	},
		slog.String("method", r.Method),
		slog.String("path", shown(auth.MaskTokens(r.URL.Path))),
		slog.String("route", e.pattern),
		slog.Int("status", e.status),
		slog.Int64("bytes", e.bytes),
		slog.Duration("duration", a.Took),
	)
}

// startSpan starts the span of a request, below the one that its traceparent
// header names.
func (g *Gateway) startSpan(r *http.Request) (context.Context, trace.Span) {
	if isHealth(r.URL.Path) {
		return r.Context(), trace.SpanFromContext(r.Context())
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return g.Tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
}

// describe says what the request of a span was: no path, query or header, which
// may hold anything.
func describe(span trace.Span, a Answered, c rpc.Call) {
	span.SetName(a.Method + " " + a.Route)
	span.SetAttributes(
		attribute.Int("http.response.status_code", a.Status), attribute.String("prwarden.request_id", c.RequestID),
		attribute.String("prwarden.organization", c.Caller.Organization), attribute.String("prwarden.review_id", c.ReviewID),
	)
	if a.Status >= http.StatusInternalServerError {
		span.SetStatus(otelcodes.Error, c.Reason)
	}
}
