package scan

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"
)

// Phase is a part of a scan's work. The phases up to PhaseMatchWait follow each
// other and add up to nearly the whole scan; the two after them are work that
// goes on meanwhile.
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
	all := make([]Phase, 0, PhaseTotal)
	for p := range PhaseTotal {
		all = append(all, p)
	}
	return all
}

// InTurn tells whether the phase is one of those that follow each other.
func (p Phase) InTurn() bool { return p <= PhaseMatchWait }

// String is the name of the phase in logs.
func (p Phase) String() string {
	return [phaseCount]string{"fetch", "ends", "compare", "cache", "rules", "diff", "read", "match_wait", "match", "mask", "total"}[p]
}

// Times is how long each phase of a scan took.
type Times [phaseCount]time.Duration

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
type clock [phaseCount]atomic.Int64

type clockKey struct{}

func withClock(ctx context.Context, c *clock) context.Context {
	return context.WithValue(ctx, clockKey{}, c)
}

// timesOf is how long the phases of the scan that ctx belongs to took so far.
func timesOf(ctx context.Context) Times {
	if c, ok := ctx.Value(clockKey{}).(*clock); ok {
		return c.times()
	}
	return Times{}
}

func (c *clock) times() (t Times) {
	for p := range c {
		t[p] = time.Duration(c[p].Load())
	}
	return t
}

// spanned are the phases that are spans of a trace. The others begin and end
// once for each file; what they took together is in attributes of the span
// around them, see Scanner.run.
func (p Phase) spanned() bool {
	return slices.Contains([]Phase{PhaseFetch, PhaseEnds, PhaseCompare, PhaseCache, PhaseRules}, p)
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
	if !p.spanned() {
		return func(...Count) { c[p].Add(int64(time.Since(start))) }
	}
	_, span := startSpan(ctx, p.String())
	return func(counts ...Count) {
		c[p].Add(int64(time.Since(start)))
		span.SetAttributes(attributes(counts)...)
		span.End()
	}
}
