// Package rest is the REST API: grpc-gateway's translation to gRPC, called
// in memory, inside of what it leaves to its users: admission of every
// request, strict reading of bodies and queries, errors in one form, and the
// paths that are not gRPC calls.
package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// Config is what a Gateway needs.
type Config struct {
	// Conn is rpc.Server's connection for callers in this process.
	Conn grpc.ClientConnInterface
	// Admitter admits and counts every request but those for health. Gate sheds
	// some before that, when there are too many.
	Admitter *auth.Admitter
	Gate     *auth.Gate
	// OpenAPI is the document at /openapi.json, which /docs shows to people.
	OpenAPI []byte
	// Ready says why the server can't answer calls now; nil when it can.
	Ready func(context.Context) error
	Log   *slog.Logger
	// Observe hears of every request when it was answered, for metrics; nil for
	// nobody.
	Observe func(Answered)
	// Tracer makes a span for every request but those for health; nil for none.
	Tracer trace.TracerProvider
}

// Gateway is the handler of the REST API.
type Gateway struct {
	mux      *runtime.ServeMux
	routes   routes
	admitter *auth.Admitter
	gate     *auth.Gate
	busy     refusal // what is told to a request that is shed
	refusals *auth.Refusals
	statics  map[string]*static // by path
	ready    func(context.Context) error
	log      *slog.Logger
	observe  func(Answered)
	tracer   trace.Tracer
}

// New makes a gateway. It fails for protos whose requests can't be checked.
func New(c Config) (*Gateway, error) {
	rs, err := readRoutes()
	if err != nil {
		return nil, err
	}
	statics, err := newStatics(c.OpenAPI)
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		routes: rs, admitter: c.Admitter, gate: c.Gate, statics: statics, ready: c.Ready, log: c.Log,
		observe: c.Observe, tracer: newTracer(c.Tracer), refusals: auth.NewRefusals(c.Log),
	}
	if g.observe == nil {
		g.observe = func(Answered) {}
	}
	if g.busy, err = encode(shape(auth.Shed())); err != nil {
		return nil, err
	}
	g.mux = runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, marshaler{&runtime.JSONPb{
			MarshalOptions:   protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true},
			UnmarshalOptions: protojson.UnmarshalOptions{DiscardUnknown: false},
		}}),
		runtime.WithMiddlewares(g.checked),
		runtime.WithMetadata(g.metadata),
		runtime.WithIncomingHeaderMatcher(noHeader),
		runtime.WithOutgoingHeaderMatcher(noHeader),
		runtime.WithOutgoingTrailerMatcher(noHeader),
		runtime.WithForwardResponseOption(g.setStatus),
		runtime.WithErrorHandler(func(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
			g.fail(w, r, err)
		}),
		runtime.WithStreamErrorHandler(g.shapeStream),
		runtime.WithRoutingErrorHandler(g.routingFailed),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithDisableHTTPMethodOverride(),
	)
	conn := admittedConn{c.Conn, g}
	for _, err := range []error{
		prwardenv1.RegisterReviewServiceHandlerClient(context.Background(), g.mux, prwardenv1.NewReviewServiceClient(conn)),
		prwardenv1.RegisterRuleServiceHandlerClient(context.Background(), g.mux, prwardenv1.NewRuleServiceClient(conn)),
		prwardenv1.RegisterKeyServiceHandlerClient(context.Background(), g.mux, prwardenv1.NewKeyServiceClient(conn)),
	} {
		if err != nil {
			return nil, fmt.Errorf("register REST handlers: %w", err)
		}
	}
	return g, nil
}

// noHeader keeps every header on its side: what has to cross is passed by
// name.
func noHeader(string) (string, bool) { return "", false }

// metadata is what a call to the gRPC server carries.
func (g *Gateway) metadata(ctx context.Context, _ *http.Request) metadata.MD {
	e := exchangeOf(ctx)
	if len(e.idempotency) == 0 || e.route.method != idempotentMethod {
		return nil
	}
	return metadata.MD{rpc.IdempotencyKey: e.idempotency}
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	e := &exchange{
		requestID:   rpc.ChooseRequestID(r.Header.Get(rpc.RequestIDKey)),
		peer:        r.RemoteAddr,
		idempotency: r.Header.Values(rpc.IdempotencyKey),
	}
	rec := &recorder{ResponseWriter: w}
	h := rec.Header()
	h.Set("X-Request-Id", e.requestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	ctx, span := g.startSpan(r)
	defer span.End()
	r = r.WithContext(withExchange(ctx, e))
	defer func() { g.record(rec, r, e, time.Since(start)) }()
	defer func() { g.recovered(rec, r, recover()) }()
	if isHealth(r.URL.Path) {
		g.health(rec, r)
		return
	}
	credentials := auth.Credentials{
		Authorization: r.Header.Values("Authorization"), PeerAddr: r.RemoteAddr, ForwardedFor: r.Header.Values("X-Forwarded-For"),
	}
	pass, err := g.gate.Enter(r.Context(), credentials)
	if err != nil {
		e.shed = true
		setRateHeaders(h, g.admitter.Peek(credentials))
		g.shed(rec, r, err)
		return
	}
	defer pass.Leave()
	e.pass = pass
	rec.bound(r.Context(), pass, func(err error) { g.fail(rec, r, err) })
	policy, document := auth.KeyRequired, g.statics[r.URL.Path]
	if document != nil {
		policy = auth.Open
	}
	caller, decision, err := g.admitter.Admit(r.Context(), credentials, policy)
	e.caller = caller
	pass.Admitted(caller)
	setRateHeaders(h, decision)
	switch {
	case err != nil:
		e.refused = true
		g.fail(rec, r, err)
	case document != nil:
		if g.readOnly(rec, r) {
			document.serve(rec, r)
		}
	default:
		g.route(rec, r)
	}
}

// route hands a request to grpc-gateway, without the headers that it or its
// users could take for something: a timeout, a method, metadata, trailers.
func (g *Gateway) route(w http.ResponseWriter, r *http.Request) {
	r = r.Clone(r.Context())
	kept := http.Header{}
	for _, name := range []string{"Content-Type", "Content-Encoding"} {
		if v := r.Header.Values(name); len(v) > 0 {
			kept[name] = v
		}
	}
	r.Header = kept
	switch r.Method {
	case http.MethodHead:
		// As GET; net/http keeps the body back. A stream is nothing without.
		if rt := g.probe(r, http.MethodGet); rt != nil && !rt.stream {
			r.Method = http.MethodGet
		}
	case http.MethodOptions:
		if allowed := g.allowed(r); len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	g.mux.ServeHTTP(w, r)
}

// recovered answers a request whose handler panicked.
func (g *Gateway) recovered(w *recorder, r *http.Request, p any) {
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p) // the way to cut a connection off, not a fault
	}
	err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	if w.status == 0 {
		g.fail(w, r, err)
		return
	}
	g.log.Error("unexpected error", "request_id", exchangeOf(r.Context()).requestID, "error", err)
	panic(http.ErrAbortHandler) // a half answer must not look whole
}

// record writes one line for each request; never a body, a query or a header.
func (g *Gateway) record(w *recorder, r *http.Request, e *exchange, took time.Duration) {
	if e.shed { // the gate tells how many
		g.observe(answered(r, e, w.status, took))
		return
	}
	level, pattern := slog.LevelInfo, ""
	if e.route != nil {
		pattern = e.route.pattern
	}
	switch {
	case w.status >= http.StatusInternalServerError && w.status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case isHealth(r.URL.Path), e.refused && !g.refusals.Tell():
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("request_id", e.requestID), slog.String("method", r.Method), slog.String("path", shown(auth.MaskTokens(r.URL.Path))),
		slog.String("route", pattern), slog.Int("status", w.status), slog.Int64("bytes", w.bytes),
		slog.Duration("duration", took), slog.String("key_id", e.caller.KeyID),
		slog.String("organization", e.caller.Organization), slog.String("peer", e.peer),
	}
	if e.reason != "" {
		attrs = append(attrs, slog.String("reason", e.reason))
	}
	if e.reviewID != "" {
		attrs = append(attrs, slog.String("review_id", e.reviewID))
	}
	g.log.LogAttrs(r.Context(), level, "request", attrs...)
	a := answered(r, e, w.status, took)
	a.describe(trace.SpanFromContext(r.Context()), e)
	g.observe(a)
}

// Paths of health.
const (
	alivePath = "/healthz"
	readyPath = "/readyz"
)

func isHealth(path string) bool { return path == alivePath || path == readyPath }

// health answers whether the process runs (/healthz) and whether it can answer
// calls (/readyz). Neither is counted, so both say nothing more.
func (g *Gateway) health(w http.ResponseWriter, r *http.Request) {
	if !g.readOnly(w, r) {
		return
	}
	word := `{"status":"ok"}`
	if r.URL.Path == readyPath {
		if err := g.ready(r.Context()); err != nil {
			g.log.Debug("not ready", "error", err)
			g.fail(w, r, errs.New(errs.Unavailable, errs.ReasonUnavailable, "The server is not ready."))
			return
		}
		word = `{"status":"ready"}`
	}
	w.Header().Set("Content-Type", jsonType)
	_, _ = w.Write([]byte(word)) // the client may be gone
}

func (g *Gateway) readOnly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	g.refuseMethod(w, r, []string{http.MethodGet, http.MethodHead})
	return false
}
