package match

import (
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// plainSteps bounds a search that can't be stopped: the length of the text
// times the size of the program. The worst programs that were tried took up to
// 20 ns for one step (BenchmarkPlainSearch, on a busy machine), so such a search
// takes at most about 40 ms.
const plainSteps = 2 << 20

// program is one rule's pattern. It is compiled when it is first needed.
type program struct {
	looksBehind bool
	size        int // estimate of its instructions
	plainSteps  int
	first       func() *regexp.Regexp // for a search from the start of a text
	onward      func() *regexp.Regexp // for a search from within, when it looks behind
}

func newProgram(rule Rule) (*program, *syntax.Regexp, error) {
	re, err := syntax.Parse(rule.Pattern, syntax.Perl)
	if err != nil {
		return nil, nil, err
	}
	return &program{
		looksBehind: looksBehind(re),
		size:        programSize(re),
		plainSteps:  plainSteps,
		first:       sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(rule.Pattern) }),
		// The character before the place is matched first, so that ^ and \b see
		// it, and the least text after it, so that the match is the leftmost.
		onward: sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + rule.Pattern + `)`)
		}),
	}, re, nil
}

// find returns the leftmost match in text at or after offset from. ok is false
// when there is none, or when g said stop; then g.stopped is set.
func (p *program) find(text []byte, from int, g *guard) (match Span, ok bool) {
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
		if g.stopped {
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

// guard says when a rule has to stop: when the scan is over, or the rule's
// time is.
type guard struct {
	ctx     context.Context
	used    *atomic.Int64 // time that the rule spent in this scan until now, in ns
	budget  time.Duration
	started time.Time
	steps   int
	stopped bool
}

// spent returns the time since the guard started.
func (g *guard) spent() time.Duration { return time.Since(g.started) }

// check looks at the clock and says whether to stop.
func (g *guard) check() bool {
	if !g.stopped {
		g.stopped = g.ctx.Err() != nil || time.Duration(g.used.Load())+g.spent() > g.budget
	}
	return g.stopped
}

// step is told of work that is to be done, in steps as plainSteps counts them,
// looks at the clock once in a while, and says whether to stop.
func (g *guard) step(steps int) bool {
	g.steps += steps
	if g.steps < plainSteps/2 {
		return g.stopped
	}
	g.steps = 0
	return g.check()
}

// guardedReader gives a text to regexp character by character and ends it
// early when the guard says stop. What was found is then worth nothing.
type guardedReader struct {
	text  []byte
	pos   int
	count int
	guard *guard
}

// ReadRune implements io.RuneReader. An invalid byte is U+FFFD of size 1, as
// it is to regexp in a text.
func (r *guardedReader) ReadRune() (c rune, size int, err error) {
	if r.count++; r.count&0xFF == 0 && r.guard.check() || r.pos >= len(r.text) {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.text[r.pos:])
	r.pos += size
	return c, size, nil
}
