package confirm

import (
	"context"
	"io"
	"regexp"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// plainSteps bounds a search that can't be stopped: the length of the text
// times the size of the program. The worst programs that were tried took up to
// 20 ns for one step (BenchmarkPlainSearch, on a busy machine), so such a search
// takes at most about 40 ms.
const plainSteps = 2 << 20

// Find returns the leftmost match in text at or after offset from. ok is false
// when there is none, or when g said stop; then g.Stopped is set.
func (p *Program) Find(text []byte, from int, g *Guard) (match Span, ok bool) {
	var re *regexp.Regexp
	start, group := from, 0
	if from > 0 && p.looksBehind {
		_, width := utf8.DecodeLastRune(text[:from])
		re, start, group = p.onward(), from-width, 2
	} else {
		re = p.first()
	}
	rest := text[start:]
	var loc []int
	switch {
	case len(rest)*p.size > p.plainSteps:
		r := &guardedReader{text: rest, guard: g}
		loc = re.FindReaderSubmatchIndex(r)
		if g.Stopped {
			return Span{}, false
		}
	case group > 0:
		loc = re.FindSubmatchIndex(rest)
	default:
		loc = re.FindIndex(rest)
	}
	if loc == nil {
		return Span{}, false
	}
	return Span{Start: start + loc[group], End: start + loc[group+1]}, true
}

// Span is a run of bytes, Start included, End not.
type Span struct{ Start, End int }

// Guard says when a rule has to stop: when the scan is over, or the rule's
// time is.
type Guard struct {
	ctx     context.Context
	used    *atomic.Int64 // time that the rule spent in this scan until now, in ns
	budget  time.Duration
	started time.Time
	steps   int
	Stopped bool // once Check or Step said stop
}

// NewGuard starts the clock of a rule that has used some of its budget already.
func NewGuard(ctx context.Context, used *atomic.Int64, budget time.Duration) *Guard {
	return &Guard{ctx: ctx, used: used, budget: budget, started: time.Now()}
}

// Spent returns the time since the guard started.
func (g *Guard) Spent() time.Duration { return time.Since(g.started) }

// Check looks at the clock and says whether to stop.
func (g *Guard) Check() bool {
	if !g.Stopped {
		g.Stopped = g.ctx.Err() != nil || time.Duration(g.used.Load())+g.Spent() > g.budget
	}
	return g.Stopped
}

// Step is told of work that is to be done, in steps as plainSteps counts them,
// looks at the clock once in a while, and says whether to stop.
func (g *Guard) Step(steps int) bool {
	g.steps += steps
	if g.steps < plainSteps/2 {
		return g.Stopped
	}
	g.steps = 0
	return g.Check()
}

// guardedReader gives a text to regexp character by character and ends it
// early when the guard says stop. What was found is then worth nothing.
type guardedReader struct {
	text  []byte
	pos   int
	count int
	guard *Guard
}

// ReadRune implements io.RuneReader. An invalid byte is U+FFFD of size 1, as
// it is to regexp in a text.
func (r *guardedReader) ReadRune() (c rune, size int, err error) {
	if r.count++; r.count&0xFF == 0 && r.guard.Check() || r.pos >= len(r.text) {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.text[r.pos:])
	r.pos += size
	return c, size, nil
}

// All calls found with each match in text, from left to right, none
// overlapping the one before, until the guard says stop.
func (p *Program) All(text []byte, g *Guard, found func(Span)) {
	for from := 0; from < len(text) && !g.Step((len(text)-from)*p.size); {
		span, ok := p.Find(text, from, g)
		if !ok {
			return
		}
		found(span)
		from = span.End
	}
}
