package scan

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// tracerName is the instrumentation scope of the spans of this package.
const tracerName = "github.com/prwarden/prwarden/internal/scan"

// startSpan starts a span below the one of ctx, in whatever records that one.
// Without one it records nothing.
func startSpan(ctx context.Context, name string) (context.Context, trace.Span) {
	return trace.SpanFromContext(ctx).TracerProvider().Tracer(tracerName).Start(ctx, name)
}

func attributes(counts []Count) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, len(counts))
	for _, c := range counts {
		all = append(all, attribute.Int64("prwarden."+c.Name, c.N))
	}
	return all
}

// endSpan ends the span of a scan. What it says is counts and codes: nothing
// that is written in a repository.
func endSpan(span trace.Span, r Report) {
	span.SetAttributes(attribute.String("prwarden.outcome", r.Outcome))
	if r.Result == nil {
		span.SetStatus(codes.Error, r.Outcome)
	} else {
		span.SetAttributes(attributes([]Count{
			{"files", int64(r.Result.FilesTotal)}, {"findings", int64(len(r.Result.Findings))},
			{"suppressed", int64(len(r.Result.Suppressed))}, {"skipped", int64(len(r.Result.Skips))},
		})...)
	}
	span.End()
}

// startMatching starts the span of reading and matching the files, in which
// diff, read and match go on at the same time.
func startMatching(ctx context.Context, files int) (_ context.Context, end func(error)) {
	ctx, span := startSpan(ctx, "match_files")
	span.SetAttributes(attribute.Int("prwarden.files", files))
	return ctx, func(err error) {
		times := timesOf(ctx)
		for _, p := range Phases() {
			if !p.spanned() {
				span.SetAttributes(attribute.Float64(fmt.Sprintf("prwarden.%s_ms", p), float64(times[p].Microseconds())/1000))
			}
		}
		if err != nil {
			span.SetStatus(codes.Error, outcomeOf(err))
		}
		span.End()
	}
}

// outcomeOf is what a scan's end is called in metrics and traces.
func outcomeOf(err error) string {
	var f *Failure
	switch {
	case err == nil:
		return OutcomeComplete
	case errors.As(err, &f):
		return f.Code
	}
	return OutcomeCanceled
}
