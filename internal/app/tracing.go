package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc/filters"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// tracing sends OpenTelemetry traces when the standard variables name where to.
// Otherwise there are no options, and its tracer records nothing.
type tracing struct {
	tracer  trace.Tracer
	handler stats.Handler // of the calls that a server answers
	server  []grpc.ServerOption
	client  []grpc.DialOption
}

const tracerName = "github.com/prwarden/prwarden/internal/app"

// newTracing reads what else there is to say (headers, sampling, service name)
// from the standard variables of the process. service is the name when they
// don't give one.
func (s *services) newTracing(
	ctx context.Context, env Environment, service string, log *slog.Logger,
) (tracing, error) {
	off := strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") || env("OTEL_TRACES_EXPORTER") == "none"
	to := env("OTEL_EXPORTER_OTLP_ENDPOINT") + env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if off || to == "" {
		return tracing{tracer: noop.NewTracerProvider().Tracer(tracerName)}, nil
	}
	exporter, err := newExporter(ctx, env)
	if err != nil {
		return tracing{}, err
	}
	// Later options win, so the variables come last.
	description, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", service)), resource.WithFromEnv())
	if err != nil {
		return tracing{}, fmt.Errorf("OpenTelemetry: %w", err)
	}

	// The SDK reports in one place for the whole process, by default as text.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("OpenTelemetry", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(description))
	s.own(func() error {
		last, cancel := context.WithTimeout(context.Background(), lastSteps)
		defer cancel()
		if err := provider.Shutdown(last); err != nil {
			log.Warn("OpenTelemetry: the last traces were not sent", "error", err)
		}
		return nil
	})

	options := []otelgrpc.Option{
		otelgrpc.WithTracerProvider(provider),
		otelgrpc.WithPropagators(propagation.TraceContext{}),
		otelgrpc.WithFilter(filters.All(filters.Not(filters.HealthCheck()), known)),
	}
	handler := otelgrpc.NewServerHandler(options...)
	return tracing{
		tracer:  provider.Tracer(tracerName),
		handler: handler,
		server:  []grpc.ServerOption{grpc.StatsHandler(handler)},
		client:  []grpc.DialOption{grpc.WithStatsHandler(otelgrpc.NewClientHandler(options...))},
	}, nil
}

// newExporter sends spans by the protocol that the environment names.
func newExporter(ctx context.Context, env Environment) (exporter sdktrace.SpanExporter, err error) {
	name := "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	if env(name) == "" {
		name = "OTEL_EXPORTER_OTLP_PROTOCOL"
	}

	switch p := env(name); p {
	case "", "http/protobuf":
		exporter, err = otlptracehttp.New(ctx)
	case "grpc":
		exporter, err = otlptracegrpc.New(ctx)
	default:
		err = fmt.Errorf("%s: %q is not supported; traces are sent as http/protobuf (the default) or grpc", name, p)
	}
	return exporter, err
}

// known lets only calls of methods that there are be traced. Callers make up
// the names of others, without a key too, and may put anything into them.
func known(info *stats.RPCTagInfo) bool {
	name := strings.Replace(strings.TrimPrefix(info.FullMethodName, "/"), "/", ".", 1)
	_, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	return err == nil
}

// withTraceIDs makes every line that is logged with the context of a traced
// request name its trace.
func withTraceIDs(log *slog.Logger) *slog.Logger { return slog.New(traceHandler{log.Handler()}) }

type traceHandler struct{ slog.Handler }

func (h traceHandler) Handle(ctx context.Context, r slog.Record) error {
	if c := trace.SpanContextFromContext(ctx); c.HasTraceID() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", c.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return traceHandler{h.Handler.WithAttrs(attrs)}
}

func (h traceHandler) WithGroup(name string) slog.Handler {
	return traceHandler{h.Handler.WithGroup(name)}
}

// observedScanner traces and counts the scans of the dispatcher. The span of an
// attempt is a child of the request that created the review, so one trace shows
// it all.
type observedScanner struct {
	review.Scanner
	metrics *metrics
	tracer  trace.Tracer
}

func (o observedScanner) Scan(
	ctx context.Context, j review.Job, progress func(review.Progress),
) (finding.Result, error) {
	o.metrics.running.Inc()
	defer o.metrics.running.Dec()
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": j.TraceParent})
	ctx, span := o.tracer.Start(ctx, "process review", trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("prwarden.review_id", j.ReviewID), attribute.Int("prwarden.attempt", j.Attempt),
		attribute.String("prwarden.organization", j.Organization), attribute.String("prwarden.repo", j.Repo),
		attribute.Int("prwarden.pr_number", int(j.PRNumber)),
	))
	defer span.End()

	found, err := o.Scanner.Scan(ctx, j, progress)
	if err != nil {
		// The error itself may hold what a code host said, so it is for the log only.
		code := "canceled"
		if failed := (*review.ScanError)(nil); errors.As(err, &failed) {
			code = failed.Code
		}
		span.SetAttributes(attribute.String("error.type", code))
		span.SetStatus(otelcodes.Error, code)
	}
	return found, err
}
