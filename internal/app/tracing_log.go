package app

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

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
