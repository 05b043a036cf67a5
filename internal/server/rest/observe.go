package rest

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Answered is a request that was answered. No field holds a text that a client
// can choose.
type Answered struct {
	Method string // an HTTP method of the API, or `other`
	Route  string // such as /v1/reviews/{review_id=*}, the path of what is no gRPC call, or `unknown`
	Status int    // 0 when the connection was cut off
	Took   time.Duration
}

func answered(r *http.Request, e *exchange, status int, took time.Duration) Answered {
	a := Answered{Method: "other", Route: "unknown", Status: status, Took: took}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodOptions:
		a.Method = r.Method
	}

	switch {
	case e.route != nil:
		a.Route = e.route.pattern
	case isHealth(r.URL.Path), r.URL.Path == openAPIPath, r.URL.Path == schemaPath:
		a.Route = r.URL.Path
	case r.URL.Path == docsPath, r.URL.Path == docsPath+"/":
		a.Route = docsPath
	}

	return a
}

// tracerName is the instrumentation scope of the spans of this package.
const tracerName = "github.com/prwarden/prwarden/internal/server/rest"

func newTracer(p trace.TracerProvider) trace.Tracer {
	if p == nil {
		p = noop.NewTracerProvider()
	}
	return p.Tracer(tracerName)
}

// startSpan starts the span of a request, below the one that its traceparent
// header names. What the span is called is known at its end: see describe.
func (g *Gateway) startSpan(r *http.Request) (context.Context, trace.Span) {
	if isHealth(r.URL.Path) {
		return r.Context(), trace.SpanFromContext(r.Context())
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return g.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
}

// describe says what the request of a span was, in OpenTelemetry's words for
// HTTP: no path, query or header, which may hold anything.
func (a Answered) describe(span trace.Span, e *exchange) {
	if !span.IsRecording() {
		return
	}
	span.SetName(a.Method + " " + a.Route)
	span.SetAttributes(
		attribute.String("http.request.method", a.Method), attribute.String("http.route", a.Route),
		attribute.Int("http.response.status_code", a.Status), attribute.String("prwarden.request_id", e.RequestID),
	)
	if e.Caller.Organization != "" {
		span.SetAttributes(attribute.String("prwarden.organization", e.Caller.Organization))
	}
	if e.ReviewID != "" {
		span.SetAttributes(attribute.String("prwarden.review_id", e.ReviewID))
	}
	if e.reason != "" {
		span.SetAttributes(attribute.String("error.type", e.reason))
	}
	if a.Status >= http.StatusInternalServerError || a.Status == 0 {
		span.SetStatus(codes.Error, e.reason)
	}
}
