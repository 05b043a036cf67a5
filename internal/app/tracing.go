package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc/filters"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
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
)

// tracing sends OpenTelemetry traces of gRPC calls when the standard variables
// name where to. Without them its zero value does nothing.
type tracing struct {
	provider *sdktrace.TracerProvider
	log      *slog.Logger
}

// tracingOn reports whether the environment asks for traces.
func tracingOn(env Environment) bool {
	if strings.EqualFold(env.Lookup("OTEL_SDK_DISABLED"), "true") || env.Lookup("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return env.Lookup("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env.Lookup("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// newTracing reads what else there is to say (headers, sampling, service name)
// from the standard variables of the process. service is the name when they
// don't give one.
func newTracing(ctx context.Context, env Environment, service string, log *slog.Logger) (tracing, error) {
	if !tracingOn(env) {
		return tracing{}, nil
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
	return tracing{
		sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(description)), log,
	}, nil
}

// newExporter sends spans by the protocol that the environment names.
func newExporter(ctx context.Context, env Environment) (sdktrace.SpanExporter, error) {
	name := "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	if env.Lookup(name) == "" {
		name = "OTEL_EXPORTER_OTLP_PROTOCOL"
	}
	var exporter sdktrace.SpanExporter
	var err error
	switch p := env.Lookup(name); p {
	case "", "http/protobuf":
		exporter, err = otlptracehttp.New(ctx)
	case "grpc":
		exporter, err = otlptracegrpc.New(ctx)
	default:
		return nil, fmt.Errorf("%s: %q is not supported; traces are sent as http/protobuf (the default) or grpc", name, p)
	}
	if err != nil {
		return nil, fmt.Errorf("OpenTelemetry: %w", err)
	}
	return exporter, nil
}

func (t tracing) options() []otelgrpc.Option {
	return []otelgrpc.Option{
		otelgrpc.WithTracerProvider(t.provider),
		otelgrpc.WithPropagators(propagation.TraceContext{}),
		otelgrpc.WithFilter(filters.All(filters.Not(filters.HealthCheck()), known)),
	}
}

// known lets only calls of methods that there are be traced. Callers make up
// the names of others, without a key too, and may put anything into them.
func known(info *stats.RPCTagInfo) bool {
	name := strings.Replace(strings.TrimPrefix(info.FullMethodName, "/"), "/", ".", 1)
	_, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	return err == nil
}

// tracer makes the spans of this package; without tracing they record nothing
// and pass on the trace that they are part of.
func (t tracing) tracer() trace.Tracer {
	if t.provider == nil {
		return noop.NewTracerProvider().Tracer(tracerName)
	}
	return t.provider.Tracer(tracerName)
}

// tracerName is the instrumentation scope of the spans of this package.
const tracerName = "github.com/prwarden/prwarden/internal/app"

// handler follows the calls that a server answers; nil without tracing.
func (t tracing) handler() stats.Handler {
	if t.provider == nil {
		return nil
	}
	return otelgrpc.NewServerHandler(t.options()...)
}

// server are the options that trace the calls that a server answers.
func (t tracing) server() []grpc.ServerOption {
	if t.provider == nil {
		return nil
	}
	return []grpc.ServerOption{grpc.StatsHandler(t.handler())}
}

// client are the options that trace the calls that go over a connection.
func (t tracing) client() []grpc.DialOption {
	if t.provider == nil {
		return nil
	}
	return []grpc.DialOption{grpc.WithStatsHandler(otelgrpc.NewClientHandler(t.options()...))}
}

// stop sends what is left. That it can't be sent is no reason to fail.
func (t tracing) stop(ctx context.Context) {
	if t.provider == nil {
		return
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("OpenTelemetry: the last traces were not sent", "error", err)
	}
}
