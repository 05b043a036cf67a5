package scan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Observer hears of scans, for metrics. Its methods are called by many
// goroutines at once and must be quick.
type Observer interface {
	// Started hears that a scan begins.
	Started()
	// Ended hears how a scan that had begun ended.
	Ended(Report)
}

type noObserver struct{}

func (noObserver) Started()     {}
func (noObserver) Ended(Report) {}

// Report is how a scan ended.
type Report struct {
	// Outcome is OutcomeComplete, OutcomeCanceled or one of the Code constants.
	Outcome string
	Took    time.Duration
	Times   Times   // without PhaseTotal when the scan failed
	Result  *Result // nil when the scan failed
}

// Outcomes of scans that are no failures.
const (
	OutcomeComplete = "complete"
	OutcomeCanceled = "canceled" // the caller has no use for it any more, or takes it back
)

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

// Phase is a part of a scan's work. The phases up to PhaseMatchWait follow each
// other and add up to nearly the whole scan; PhaseMatch and PhaseMask go on
// meanwhile.
type Phase int

// The phases.
const (
	PhaseFetch     Phase = iota // commands that talk to the remote
	PhaseEnds                   // choosing head and base, and their merge base
	PhaseCompare                // the paths that differ, and how git pairs them
	PhaseCache                  // waiting for the cached repository, and its upkeep
	PhaseRules                  // the rules files and what applies
	PhaseDiff                   // waiting for git's added lines
	PhaseRead                   // waiting for the contents of files
	PhaseMatchWait              // waiting for matching, because it takes longer than git
	PhaseMatch                  // matching, in sum over all workers
	PhaseMask                   // masking, snippets and fingerprints, in sum over all workers
	PhaseTotal                  // the scan

	phaseCount = int(PhaseTotal) + 1
)

// Phases are the phases that are parts of a scan, without PhaseTotal.
func Phases() []Phase {
	all := make([]Phase, PhaseTotal)
	for p := range all {
		all[p] = Phase(p)
	}

	return all
}

// hasSpan reports whether the phase is a span of a trace. The other phases begin
// and end once for each file; what they took together is in attributes of the span
// around them.
func (p Phase) hasSpan() bool { return p <= PhaseRules }

// String is the name of the phase in logs.
func (p Phase) String() string {
	return [phaseCount]string{
		"fetch", "ends", "compare", "cache", "rules", "diff", "read", "match_wait", "match", "mask", "total",
	}[p]
}

// Times is how long each phase of a scan took.
type Times [phaseCount]time.Duration

// LogValue is the phases that took any time, in milliseconds.
func (t Times) LogValue() slog.Value {
	var attributes []slog.Attr
	for p, d := range t {
		if d > 0 {
			attributes = append(attributes, slog.Float64(Phase(p).String(), milliseconds(d)))
		}
	}

	return slog.GroupValue(attributes...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// clock sums up the phases of one scan. It is safe for concurrent use.
type clock [phaseCount]atomic.Int64

type clockKey struct{}

func (c *clock) times() (t Times) {
	for p := range c {
		t[p] = time.Duration(c[p].Load())
	}

	return t
}

// Count is a number that a phase ended with, for its span: never a name or a
// text of a repository.
type Count struct {
	Name string
	N    int64
}

// Begin begins to count time for a phase of the scan that ctx belongs to, until
// end is called. A ctx of no scan counts nothing.
func Begin(ctx context.Context, p Phase) (end func(...Count)) {
	c, ok := ctx.Value(clockKey{}).(*clock)
	if !ok {
		return func(...Count) {}
	}

	start := time.Now()
	if !p.hasSpan() {
		return func(...Count) { c[p].Add(int64(time.Since(start))) }
	}

	_, span := startSpan(ctx, p.String())
	return func(counts ...Count) {
		c[p].Add(int64(time.Since(start)))
		for _, count := range counts {
			span.SetAttributes(attribute.Int64("prwarden."+count.Name, count.N))
		}
		span.End()
	}
}

// startSpan starts a span below the one of ctx, in whatever records that one.
// Without one it records nothing.
func startSpan(ctx context.Context, name string) (context.Context, trace.Span) {
	const scope = "github.com/prwarden/prwarden/internal/scan"
	return trace.SpanFromContext(ctx).TracerProvider().Tracer(scope).Start(ctx, name)
}

// endScan ends the span of a scan. It has counts and codes: nothing that is
// written in a repository.
func endScan(span trace.Span, r Report) {
	span.SetAttributes(attribute.String("prwarden.outcome", r.Outcome))
	if r.Result == nil {
		span.SetStatus(codes.Error, r.Outcome)
	} else {
		span.SetAttributes(
			attribute.Int("prwarden.files", r.Result.FilesTotal),
			attribute.Int("prwarden.findings", len(r.Result.Findings)),
			attribute.Int("prwarden.suppressed", len(r.Result.Suppressed)),
			attribute.Int("prwarden.skipped", len(r.Result.Skips)),
		)
	}
	span.End()
}

// startMatching starts the span of reading and matching the files, in which
// diff, read and match go on at the same time.
func startMatching(ctx context.Context, files int) (_ context.Context, end func(error)) {
	ctx, span := startSpan(ctx, "match_files")
	span.SetAttributes(attribute.Int("prwarden.files", files))

	return ctx, func(err error) {
		if c, ok := ctx.Value(clockKey{}).(*clock); ok {
			times := c.times()
			for p := PhaseRules + 1; p < PhaseTotal; p++ {
				span.SetAttributes(attribute.Float64(fmt.Sprintf("prwarden.%s_ms", p), milliseconds(times[p])))
			}
		}
		if err != nil {
			span.SetStatus(codes.Error, outcomeOf(err))
		}
		span.End()
	}
}
