// Package rest is the REST API: grpc-gateway's translation to gRPC, called in
// memory, inside of an HTTP middleware that admits every request, and with the
// checks that grpc-gateway leaves to its users.
package rest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
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
	mux       *runtime.ServeMux
	routes    routes
	admission rpc.Admission
	statics   map[string]*static // by path
	ready     func(context.Context) error
	log       *slog.Logger
	refusals  *rate.Limiter // of log lines
	observe   func(Answered)
	tracer    trace.Tracer
}

// New makes a gateway.
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
		routes: rs, admission: c.Admission, statics: statics, ready: c.Ready, log: c.Log,
		refusals: rpc.NewRefusalLimiter(), observe: c.Observe, tracer: newTracer(c.Tracer),
	}
	if g.observe == nil {
		g.observe = func(Answered) {}
	}
	g.mux = runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, newMarshaler()),
		runtime.WithMiddlewares(g.checked),
		runtime.WithMetadata(g.metadata),
		runtime.WithIncomingHeaderMatcher(noHeader),
		runtime.WithOutgoingHeaderMatcher(noHeader),
		runtime.WithOutgoingTrailerMatcher(noHeader),
		runtime.WithForwardResponseOption(setStatus),
		runtime.WithErrorHandler(g.callFailed),
		runtime.WithStreamErrorHandler(g.shapeStream),
		runtime.WithRoutingErrorHandler(g.routingFailed),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithDisableHTTPMethodOverride(),
	)
	for _, err := range []error{
		prwardenv1.RegisterReviewServiceHandlerClient(context.Background(), g.mux, prwardenv1.NewReviewServiceClient(c.Conn)),
		prwardenv1.RegisterRuleServiceHandlerClient(context.Background(), g.mux, prwardenv1.NewRuleServiceClient(c.Conn)),
		prwardenv1.RegisterKeyServiceHandlerClient(context.Background(), g.mux, prwardenv1.NewKeyServiceClient(c.Conn)),
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

// dispatch hands a request to grpc-gateway, without the headers that it or its
// users could take for something: a timeout, a method, metadata, trailers.
func (g *Gateway) dispatch(w http.ResponseWriter, r *http.Request) {
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

// checked wraps the handlers that grpc-gateway generates: it refuses every
// request that is not what its route takes.
func (g *Gateway) checked(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, params map[string]string) {
		e := exchangeOf(r.Context())
		pattern, _ := runtime.HTTPPattern(r.Context())
		e.route = g.routes.find(r.Method, pattern.String())
		switch {
		case e.probe:
			return
		case e.route == nil:
			g.fail(w, r, fmt.Errorf("no route for pattern %s", pattern))
			return
		// GET /v1/reviews/x:cancel would read the review `x:cancel`.
		case strings.Contains(r.URL.Path, ":") && !slices.Contains(g.allowed(r), r.Method):
			g.refuseMethod(w, r, g.allowed(r))
			return
		}

		if err := g.readInput(w, r, e); err != nil {
			g.fail(w, r, err)
			return
		}

		for name, value := range params {
			params[name] = pathText(value)
		}
		if e.route.stream {
			w = newStreamWriter(w)
		}
		next(w, r, params)
	}
}

// pathText makes a path segment fit for a message. What it changes can't be
// part of any identifier, so the call answers that there is no such thing.
func pathText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// routingFailed answers a request that no route takes.
func (g *Gateway) routingFailed(
	_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, _ int,
) {
	if exchangeOf(r.Context()).probe {
		return
	}
	if allowed := g.allowed(r); len(allowed) > 0 {
		g.refuseMethod(w, r, allowed)
		return
	}

	g.fail(w, r, errs.New(errs.NotFound, errs.ReasonRouteNotFound,
		"There is nothing at this path; /docs shows what there is, and /openapi.json lists it for programs."))
}

// callFailed answers a request whose call failed.
func (g *Gateway) callFailed(
	_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error,
) {
	g.fail(w, r, err)
}

func (g *Gateway) refuseMethod(w http.ResponseWriter, r *http.Request, allowed []string) {
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	g.fail(w, r, errs.New(errs.Unimplemented, errs.ReasonMethodNotAllowed, "This path takes %s only.", list))
}

// allowed returns the methods that the path of a request takes.
func (g *Gateway) allowed(r *http.Request) []string {
	var matched []*route
	custom := false // the path ends in a verb of its own, such as :cancel (AIP-136)
	for _, verb := range []string{http.MethodDelete, http.MethodGet, http.MethodPost} {
		if rt := g.probe(r, verb); rt != nil {
			matched = append(matched, rt)
			custom = custom || strings.Contains(rt.pattern, "}:")
		}
	}

	var out []string
	for _, rt := range matched {
		// A path such as /v1/reviews/x:cancel reads no review: no id looks like it.
		if custom && !strings.Contains(rt.pattern, "}:") {
			continue
		}
		out = append(out, rt.verb)
		if rt.verb == http.MethodGet && !rt.stream {
			out = append(out, http.MethodHead)
		}
	}

	if len(out) > 0 {
		out = append(out, http.MethodOptions)
	}
	return out
}

// probe asks the router for the route that a request would take with another
// method; nil for none.
func (g *Gateway) probe(r *http.Request, verb string) *route {
	e := &exchange{probe: true}
	other := r.Clone(withExchange(r.Context(), e))
	other.Method = verb
	g.mux.ServeHTTP(nowhere{}, other)
	return e.route
}

// nowhere takes an answer that nobody wants.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}

// setStatus gives a successful answer the status that the protos promise.
func setStatus(ctx context.Context, w http.ResponseWriter, m proto.Message) error {
	rt := exchangeOf(ctx).route
	if m == nil || rt.success == http.StatusOK {
		return nil
	}
	if rt.success == http.StatusNoContent {
		w.Header().Del("Content-Type")
	}
	// Writing the body of a 204 fails, as it should, and grpc-gateway expects
	// that.
	w.WriteHeader(rt.success)
	return nil
}
