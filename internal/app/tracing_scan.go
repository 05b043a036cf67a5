package app

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// observedScanner traces and counts the scans of the dispatcher. The span of
// an attempt is a child of the request that created the review, so that one
// trace shows it all, and it links to it, as OpenTelemetry's conventions for
// messaging ask for.
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
		attribute.String("messaging.operation.type", "process"), attribute.String("messaging.system", "prwarden"),
		attribute.String("messaging.message.id", j.ReviewID), attribute.Int("prwarden.attempt", j.Attempt),
		attribute.String("prwarden.organization", j.Organization), attribute.String("prwarden.repo", j.Repo),
		attribute.Int("prwarden.pr_number", int(j.PRNumber)),
	), trace.WithLinks(linkTo(ctx)...))
	defer span.End()
	outcome, err := o.Scanner.Scan(ctx, j, progress)
	if err != nil {
		code := failureCode(err)
		span.SetAttributes(attribute.String("error.type", code))
		span.SetStatus(codes.Error, code)
	} else {
		span.SetAttributes(
			attribute.Int("prwarden.files", outcome.FilesTotal), attribute.Int("prwarden.findings", len(outcome.Findings)),
		)
	}
	return outcome, err
}

func linkTo(ctx context.Context) []trace.Link {
	if created := trace.SpanContextFromContext(ctx); created.IsValid() {
		return []trace.Link{{SpanContext: created}}
	}
	return nil
}

// failureCode is why a scan ended without an outcome. The error itself may hold
// what a code host said, so it is for the log only.
func failureCode(err error) string {
	var failed *review.ScanError
	switch {
	case errors.As(err, &failed):
		return failed.Code
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "internal"
}
