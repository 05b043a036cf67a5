package scan

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

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
)

// String is the name of the phase in logs.
func (p Phase) String() string {
	return [...]string{
		"fetch", "ends", "compare", "cache", "rules", "diff", "read", "match_wait", "match", "mask", "total",
	}[p]
}

// Times is how long each phase of a scan took.
type Times [PhaseTotal + 1]time.Duration

// LogValue is the phases that took any time, in milliseconds.
func (t Times) LogValue() slog.Value {
	var attributes []slog.Attr
	for p, d := range t {
		if d > 0 {
			attributes = append(attributes, slog.Float64(Phase(p).String(), float64(d.Microseconds())/1000))
		}
	}

	return slog.GroupValue(attributes...)
}

// clock sums up the phases of one scan. It is safe for concurrent use.
type clock [PhaseTotal + 1]atomic.Int64

type clockKey struct{}

func (c *clock) times() (t Times) {
	for p := range c {
		t[p] = time.Duration(c[p].Load())
	}

	return t
}

// Begin begins to count time for a phase of the scan that ctx belongs to, until
// end is called. A ctx of no scan counts nothing. The phases up to PhaseRules are
// spans of a trace; the others begin and end once for each file.
func Begin(ctx context.Context, p Phase) (end func()) {
	c, ok := ctx.Value(clockKey{}).(*clock)
	if !ok {
		return func() {}
	}

	start := time.Now()
	span := trace.SpanFromContext(context.Background()) // which records nothing
	if p <= PhaseRules {
		_, span = startSpan(ctx, p.String())
	}

	return func() {
		c[p].Add(int64(time.Since(start)))
		span.End()
	}
}

// startSpan starts a span below the one of ctx, in whatever records that one.
// Without one it records nothing.
func startSpan(ctx context.Context, name string) (context.Context, trace.Span) {
	const scope = "github.com/prwarden/prwarden/internal/scan"
	return trace.SpanFromContext(ctx).TracerProvider().Tracer(scope).Start(ctx, name)
}

// endScan ends the span of a scan. It has times and codes: nothing that is written
// in a repository.
func endScan(span trace.Span, outcome string, times Times) {
	span.SetAttributes(attribute.String("prwarden.outcome", outcome))
	for p, d := range times {
		span.SetAttributes(attribute.Int64("prwarden."+Phase(p).String()+"_ms", d.Milliseconds()))
	}
	if outcome != OutcomeComplete {
		span.SetStatus(codes.Error, outcome)
	}
	span.End()
}
