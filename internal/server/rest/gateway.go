// Package rest is the REST API: grpc-gateway's translation to gRPC, called in
// memory, inside of an HTTP handler that admits every request and makes the
// checks that grpc-gateway leaves to its users.
package rest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/hook"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// Config is what a Gateway needs.
type Config struct {
	// Conn is rpc.Server's connection for callers in this process.
	Conn grpc.ClientConnInterface

	// Admission admits and counts every request but those for health.
	Admission rpc.Admission

	// OpenAPI is the document at /openapi.json, which /docs shows to people.
	OpenAPI []byte

	// Hooks takes what code hosts deliver at hook.Path; nil for nothing. It counts and
	// admits by itself.
	Hooks Hooks

	// Setup answers at connection.SetupPath and SetupDonePath, without a key; nil for
	// nothing.
	Setup http.Handler

	// Pages are the dashboard; nil for none. They admit by themselves.
	Pages Pages

	// NoPage reports whether a path is one of pages that are switched off: there is
	// nothing, whoever asks. It is nil where they are on.
	NoPage func(path string) bool

	// Ready says why the server can't answer calls now; nil when it can.
	Ready func(context.Context) error
	// Scanner reports whether a scanner can be reached.
	Scanner func() bool

	Log *slog.Logger

	// Observe is called for every request that was answered, for metrics.
	Observe func(Answered)

	// Tracer makes a span for every request but those for health.
	Tracer trace.Tracer
}

// Hooks takes deliveries of code hosts; see hook.Handler.
type Hooks interface {
	Receive(w http.ResponseWriter, r *http.Request) (status string, err error)
}

// Pages are what people see in a browser; see web.Handler.
type Pages interface {
	http.Handler
	// Serves reports whether a path is one of theirs.
	Serves(path string) bool
	// Route returns the pattern of a request's path, for logs and metrics.
	Route(r *http.Request) string
}

// Gateway is the handler of the REST API.
type Gateway struct {
	Config
	mux       *runtime.ServeMux
	routes    []*route
	documents map[string]document // by path
	requests  *rpc.RequestLog
	delayed   atomic.Int64 // refusals that wait
}

// New makes a gateway.
func New(c Config) (*Gateway, error) {
	routes, err := readRoutes()
	if err != nil {
		return nil, err
	}
	documents, err := newDocuments(c.OpenAPI)
	if err != nil {
		return nil, err
	}

	g := &Gateway{Config: c, routes: routes, documents: documents, requests: rpc.NewRequestLog(c.Log)}
	g.mux = runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, newMarshaler()),
		runtime.WithMetadata(callMetadata),
		runtime.WithIncomingHeaderMatcher(noHeader),
		runtime.WithOutgoingHeaderMatcher(noHeader),
		runtime.WithForwardResponseOption(forward),
		runtime.WithErrorHandler(g.callFailed),
		runtime.WithStreamErrorHandler(g.status),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithDisableHTTPMethodOverride(),
	)

	ctx := context.Background()
	return g, errors.Join(
		prwardenv1.RegisterReviewServiceHandlerClient(ctx, g.mux, prwardenv1.NewReviewServiceClient(c.Conn)),
		prwardenv1.RegisterRuleServiceHandlerClient(ctx, g.mux, prwardenv1.NewRuleServiceClient(c.Conn)),
		prwardenv1.RegisterKeyServiceHandlerClient(ctx, g.mux, prwardenv1.NewKeyServiceClient(c.Conn)),
		prwardenv1.RegisterAccountServiceHandlerClient(ctx, g.mux, prwardenv1.NewAccountServiceClient(c.Conn)),
		prwardenv1.RegisterMemberServiceHandlerClient(ctx, g.mux, prwardenv1.NewMemberServiceClient(c.Conn)),
		prwardenv1.RegisterTriageServiceHandlerClient(ctx, g.mux, prwardenv1.NewTriageServiceClient(c.Conn)),
		prwardenv1.RegisterPolicyServiceHandlerClient(ctx, g.mux, prwardenv1.NewPolicyServiceClient(c.Conn)),
		prwardenv1.RegisterStatsServiceHandlerClient(ctx, g.mux, prwardenv1.NewStatsServiceClient(c.Conn)),
		prwardenv1.RegisterPullRequestServiceHandlerClient(ctx, g.mux, prwardenv1.NewPullRequestServiceClient(c.Conn)),
		prwardenv1.RegisterWebhookServiceHandlerClient(ctx, g.mux, prwardenv1.NewWebhookServiceClient(c.Conn)),
		prwardenv1.RegisterConnectionServiceHandlerClient(ctx, g.mux, prwardenv1.NewConnectionServiceClient(c.Conn)),
		prwardenv1.RegisterAuditServiceHandlerClient(ctx, g.mux, prwardenv1.NewAuditServiceClient(c.Conn)),
	)
}

// noHeader keeps every header on its side: what has to cross is passed by
// name.
func noHeader(string) (string, bool) { return "", false }

// callMetadata is what a call to the gRPC server carries.
func callMetadata(_ context.Context, r *http.Request) metadata.MD {
	if keys := r.Header["Idempotency-Key"]; len(keys) > 0 {
		return metadata.MD{"idempotency-key": keys}
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := &exchange{
		ResponseWriter: w,
		call:           rpc.Call{RequestID: rpc.ChooseRequestID(r.Header.Get(rpc.RequestIDKey)), Peer: r.RemoteAddr},
		began:          time.Now(),
	}
	h := w.Header()
	h.Set("X-Request-Id", e.call.RequestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")

	ctx, span := g.startSpan(r)
	defer span.End()
	r = r.WithContext(rpc.WithCall(context.WithValue(ctx, exchangeKey{}, e), &e.call))
	defer func() { g.answered(e, r) }()
	defer func() {
		p := recover()
		cause, _ := p.(error)
		switch {
		case p == nil:
		case errors.Is(cause, http.ErrAbortHandler), e.status != 0: // what has begun can only be cut off
			panic(p)
		default:
			g.fail(e, r, rpc.Recovered(r.Context(), p))
		}
	}()

	serve := g.admit
	switch {
	case isHealth(r.URL.Path):
		serve = g.health
	case g.Pages != nil && g.Pages.Serves(r.URL.Path):
		serve = g.page
	case g.NoPage != nil && g.NoPage(r.URL.Path):
		serve = noPage
	case g.Hooks != nil && strings.HasPrefix(r.URL.Path, hook.Path):
		serve = g.hook
	}
	if err := serve(e, r); err != nil {
		g.fail(e, r, err)
	}
}

// refusalDelay is how long a request that there is no room for waits for its
// answer: clients that try again at once would leave no time for work.
const refusalDelay = 2 * time.Second

// maxDelayed bounds how many refusals wait: three quarters of the connections of
// a port. Others are answered at once. Where nearly all were, ten times the load
// left a quarter of the speed for work.
const maxDelayed = 1_500

func (g *Gateway) delay(ctx context.Context) {
	defer g.delayed.Add(-1)
	if g.delayed.Add(1) > maxDelayed {
		return
	}

	select {
	case <-time.After(refusalDelay):
	case <-ctx.Done():
	}
}

// admit admits a request, says in its headers how many there may be, and hands
// it on.
func (g *Gateway) admit(e *exchange, r *http.Request) error {
	credentials := auth.Credentials{
		Authorization: r.Header.Values("Authorization"),
		PeerAddr:      r.RemoteAddr,
		ForwardedFor:  r.Header.Values("X-Forwarded-For"),
	}
	request, err := g.Admission.Guard.Open(r.Context(), overload.LimitOpen, credentials)
	if err != nil {
		setRateHeaders(e.Header(), g.Admission.Admitter.Peek(credentials))
		g.delay(r.Context())
		return err
	}
	defer request.Close()

	ctx := overload.NewContext(r.Context(), request)
	caller, decision, err := g.Admission.Admit(ctx, credentials)
	setRateHeaders(e.Header(), decision)
	document, static := g.documents[r.URL.Path]
	page := g.Setup != nil && (r.URL.Path == connection.SetupPath || r.URL.Path == connection.SetupDonePath)
	switch {
	case err != nil && (!static && !page || errs.KindOf(err) != errs.Unauthenticated): // these need no key
		return err
	case page:
		e.pattern = r.URL.Path
		if r.Method != http.MethodGet {
			return refuseMethod(e, http.MethodGet)
		}
		g.Setup.ServeHTTP(e, r)
		return nil
	case static:
		e.pattern = r.URL.Path
		request.Close() // the client may take its time to read
		return document.serve(e, r)
	}

	e.request = request
	return g.dispatch(e, r.WithContext(rpc.Admitted(ctx, caller)))
}

// page has a page answered. Errors are pages, too.
func (g *Gateway) page(e *exchange, r *http.Request) error {
	e.pattern = g.Pages.Route(r)
	g.Pages.ServeHTTP(e, r)
	return nil
}

// noPage answers for a page that is switched off. It asks nobody who calls.
func noPage(e *exchange, _ *http.Request) error {
	e.pattern = "/"

	return errNoRoute
}

// errNoRoute is answered where there is nothing.
var errNoRoute = errs.New(errs.NotFound, errs.ReasonRouteNotFound,
	"There is nothing at this path; /docs shows what there is, and /openapi.json lists it for programs.")

// hook has a delivery of a code host taken.
func (g *Gateway) hook(e *exchange, r *http.Request) error {
	e.pattern = hook.Route
	status, err := g.Hooks.Receive(e, r)
	if err != nil {
		return err
	}

	e.Header().Set("Content-Type", jsonType)
	e.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(e, `{"status":"`+status+`"}`) // the client may be gone
	return nil
}

// setRateHeaders writes a decision in the spelling that the API documents.
func setRateHeaders(h http.Header, d auth.Decision) {
	md := rpc.RateMetadata(d)
	h["X-RateLimit-Limit"] = md.Get(rpc.RateLimitKey)
	h["X-RateLimit-Remaining"] = md.Get(rpc.RateRemainingKey)
	h["X-RateLimit-Reset"] = md.Get(rpc.RateResetKey)
}

// dispatch finds the route of a request, checks what it brings, and lets
// grpc-gateway call the method.
func (g *Gateway) dispatch(e *exchange, r *http.Request) error {
	rt, allowed := match(g.routes, r.Method, r.URL.Path)
	switch {
	case rt == nil && len(allowed) == 0, !utf8.ValidString(r.URL.Path), strings.ContainsRune(r.URL.Path, 0):
		return errNoRoute
	case rt == nil && r.Method == http.MethodOptions:
		e.Header().Set("Allow", strings.Join(allowed, ", "))
		e.WriteHeader(http.StatusNoContent)
		return nil
	case rt == nil:
		return refuseMethod(e, allowed...)
	}

	e.route, e.pattern = rt, rt.pattern
	if err := g.readInput(e, r); err != nil {
		return err
	}

	if rt.stream {
		e.control = http.NewResponseController(e.ResponseWriter)
		// A deadline for reading would end the request's context when it passes.
		_ = e.control.SetReadDeadline(time.Time{})
		e.Header().Set("X-Accel-Buffering", "no") // nginx would hold messages back
	}

	r.Method = rt.verb // HEAD is answered as GET; net/http keeps the body back
	// grpc-gateway would take others for instructions, such as a timeout.
	headers := http.Header{}
	for _, name := range []string{"Content-Type", "Content-Encoding", "Accept", "Idempotency-Key"} {
		headers[name] = r.Header[name]
	}

	r.Header = headers
	g.mux.ServeHTTP(e, r)
	return nil
}

func refuseMethod(e *exchange, allowed ...string) error {
	list := strings.Join(allowed, ", ")
	e.Header().Set("Allow", list)
	return errs.New(errs.Unimplemented, errs.ReasonMethodNotAllowed, "This path takes %s only.", list)
}

// Paths of health.
const (
	alivePath = "/healthz"
	readyPath = "/readyz"
)

func isHealth(path string) bool { return path == alivePath || path == readyPath }

// health answers whether the process runs (/healthz) and whether it can answer
// calls (/readyz). Neither is counted, so both say nothing more.
func (g *Gateway) health(e *exchange, r *http.Request) error {
	e.pattern = r.URL.Path
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return refuseMethod(e, http.MethodGet, http.MethodHead)
	}

	answer := `{"status":"ok"}`
	if r.URL.Path == readyPath {
		if err := g.Ready(r.Context()); err != nil {
			g.Log.Debug("not ready", "error", err)
			return errs.New(errs.Unavailable, errs.ReasonUnavailable, "The server is not ready.")
		}

		answer = `{"status":"ready"}`
		if !g.Scanner() { // what is accepted waits, and all else works
			answer = `{"status":"ready","warning":"no scanner can be reached; reviews wait until one can"}`
		}
	}

	e.Header().Set("Content-Type", jsonType)
	_, _ = io.WriteString(e, answer) // the client may be gone
	return nil
}

// NewServer makes an HTTP server for a handler, with limits on everything that
// a client can make it wait for or keep. Its listener bounds the connections
// (see package port). Those of HTTP/2, which there is over TLS only, are the
// same as on the gRPC port.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute, // watches have one for each message
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          128, // a key may have 100 watches, and other calls beside them
			MaxReceiveBufferPerStream:     64 << 10,
			MaxReceiveBufferPerConnection: 1 << 20,
			MaxDecoderHeaderTableSize:     4 << 10,
			MaxEncoderHeaderTableSize:     4 << 10,
			SendPingTimeout:               time.Minute,
			PingTimeout:                   20 * time.Second,
			WriteByteTimeout:              30 * time.Second,
		},
		// `OPTIONS *` is a request like any other.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
