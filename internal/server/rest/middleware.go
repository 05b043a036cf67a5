package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// exchange is what is known of one request on its way. It travels in the
// context, because grpc-gateway's handlers sit in between.
type exchange struct {
	rpc.Call
	idempotency []string // values of the Idempotency-Key header
	route       *route   // nil until found
	reason      string   // of the error that was answered
	probe       bool     // only asks which route there is
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	if e, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return e
	}
	return &exchange{}
}

func withExchange(ctx context.Context, e *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	e := &exchange{
		Call:        rpc.Call{RequestID: rpc.ChooseRequestID(r.Header.Get(rpc.RequestIDKey)), Peer: r.RemoteAddr},
		idempotency: r.Header.Values(rpc.IdempotencyKey),
	}
	rec := &recorder{ResponseWriter: w, r: r, gateway: g}
	h := rec.Header()
	h.Set("X-Request-Id", e.RequestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	ctx, span := g.startSpan(r)
	defer span.End()
	r = r.WithContext(rpc.WithCall(withExchange(ctx, e), &e.Call))
	rec.r = r
	defer func() { g.record(rec, r, e, time.Since(start)) }()
	defer func() { g.recovered(rec, r, recover()) }()

	if isHealth(r.URL.Path) {
		g.health(rec, r)
		return
	}

	g.admit(rec, r)
}

// admit admits a request, says in its headers how many there may be, and hands
// it on.
func (g *Gateway) admit(w *recorder, r *http.Request) {
	credentials := auth.Credentials{
		Authorization: r.Header.Values("Authorization"),
		PeerAddr:      r.RemoteAddr,
		ForwardedFor:  r.Header.Values("X-Forwarded-For"),
	}
	request, err := g.admission.Guard.Open(r.Context(), overload.LimitOpen, credentials)
	if err != nil {
		setRateHeaders(w.Header(), g.admission.Admitter.Peek(credentials))
		g.fail(w, r, err)
		return
	}

	defer request.Close()
	r = r.WithContext(overload.NewContext(r.Context(), request))
	w.r, w.request = r, request

	policy, document := auth.KeyRequired, g.statics[r.URL.Path]
	if document != nil {
		policy = auth.Open
	}
	caller, decision, err := g.admission.Admit(r.Context(), credentials, policy)
	setRateHeaders(w.Header(), decision)
	switch {
	case err != nil:
		g.fail(w, r, err)
	case document == nil:
		g.dispatch(w, r.WithContext(auth.NewContext(r.Context(), caller)))
	case g.readOnly(w, r):
		document.serve(w, r)
	}
}

// setRateHeaders tells a decision in the spelling that the API documents.
func setRateHeaders(h http.Header, d auth.Decision) {
	md := rpc.RateMetadata(d)
	h["X-RateLimit-Limit"] = md.Get(rpc.RateLimitKey)
	h["X-RateLimit-Remaining"] = md.Get(rpc.RateRemainingKey)
	h["X-RateLimit-Reset"] = md.Get(rpc.RateResetKey)
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

	g.log.Error("unexpected error", "request_id", exchangeOf(r.Context()).RequestID, "error", err)
	panic(http.ErrAbortHandler) // a half answer must not look whole
}

// record writes one line for each request; never a body, a query or a header.
func (g *Gateway) record(w *recorder, r *http.Request, e *exchange, took time.Duration) {
	a := answered(r, e, w.status, took)
	a.describe(trace.SpanFromContext(r.Context()), e)
	g.observe(a)

	level, pattern := slog.LevelInfo, ""
	if e.route != nil {
		pattern = e.route.pattern
	}
	refused := e.Caller.KeyID == "" || w.status == http.StatusTooManyRequests
	switch {
	case w.status >= http.StatusInternalServerError && w.status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case isHealth(r.URL.Path), refused && !g.refusals.Allow():
		level = slog.LevelDebug
	}

	attrs := append(e.Attrs(),
		slog.String("method", r.Method),
		slog.String("path", shown(auth.MaskTokens(r.URL.Path))),
		slog.String("route", pattern),
		slog.Int("status", w.status),
		slog.Int64("bytes", w.bytes),
		slog.Duration("duration", took),
	)
	if e.reason != "" {
		attrs = append(attrs, slog.String("reason", e.reason))
	}
	g.log.LogAttrs(r.Context(), level, "request", attrs...)
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
