// Package confirm is the last stage of the engine: it decides whether a rule
// matches where the filter says that it may.
//
// It asks in three steps, each of which turns away most of what the one before
// let through:
//
//  1. Sequence: are the bytes around the place those that the rule needs?
//  2. DFA: does the pattern match from the place at which a match must begin,
//     or, where that is not known, anywhere on the line? The automaton is the
//     pattern's program in regexp/syntax, one state for each set of places in
//     it, built as far as texts need it.
//  3. Columns: where is the match that regexp would choose? One automaton finds
//     its end, one of the pattern backwards its begin.
//
// The standard library's regexp is asked itself where an automaton has become
// too large, and for multiline rules.
//
// For \bcolou?r\( and the text "x = colour(1)", found by "lour" at offset 6:
//
//	Sequence  c o l o u r (           holds from 4 on
//	DFA       begins behind a blank, so \b is granted; c o l o u r ( : matched
//	Columns   offsets 4 to 11
//
// The standard library stays the sole authority: what a DFA says is tested
// against it, pattern by pattern and line by line.
package confirm

import (
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match/parse"
)

// Program is a rule's pattern, ready to be asked. What it needs is compiled
// when it is first needed. It is safe for concurrent use.
type Program struct {
	automata func() automata
	locators func() locators
	atBegin  bool // matches can only begin where the line does
	begins   bool // matches begin where those of the engine's form do

	looksBehind bool
	size        int // estimate of its instructions
	plainSteps  int
	first       func() *regexp.Regexp // for a search from the start of a text
	onward      func() *regexp.Regexp // for a search from within, when it looks behind
}

// automata are nil where there is none of a sensible size.
type automata struct{ here, anywhere *DFA }

func newAutomata(tree *syntax.Regexp, size int, room *atomic.Int64) (a automata) {
	if prog := compile(tree, size); prog != nil {
		a.here = newDFA(prog, matchHere, room)
		a.anywhere = newDFA(prog, matchAnywhere, room)
	}

	return a
}

// locators find the columns of a match: where it ends, and then, backwards,
// where it begins.
type locators struct{ end, begin *DFA }

// NewProgram prepares a pattern, as it was written and as it was parsed. size is
// an estimate of its instructions. room is the memory for automata that all
// programs share, in bytes.
func NewProgram(pattern string, parsed parse.Pattern, size int, room *atomic.Int64) *Program {
	return &Program{
		automata: sync.OnceValue(func() automata { return newAutomata(parsed.Tree, size, room) }),
		locators: sync.OnceValue(func() (l locators) {
			if prog := compile(parsed.Line, size); prog != nil && !loopsThroughAssertion(parsed.Line) {
				l.end = newDFA(prog, firstMatch, room)
			}
			if prog := compile(parse.Reverse(parsed.Line), size); prog != nil {
				l.begin = newDFA(prog, longestMatch, room)
			}

			return l
		}),
		atBegin:     beginsText(parsed.Tree),
		begins:      parsed.Begins,
		looksBehind: looksBehind(parsed.Source),
		size:        size,
		plainSteps:  plainSteps,
		first:       sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }),
		// The character before the place is matched first, so that ^ and \b see
		// it, and the least text after it, so that the match is the leftmost.
		onward: sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + pattern + `)`)
		}),
	}
}

// maxProgram bounds the instructions of a program with an automaton; they are
// numbered by 16 bits.
const maxProgram = 20_000

// Group is several programs that are asked together, before each of them is,
// whether any may match. It is safe for concurrent use.
type Group struct{ automata func() automata }

// groupLooks is how many bytes a group looks at behind a place, about: what it
// does not tell by then the programs are asked themselves.
const groupLooks = 64

// NewGroup makes a group of patterns in the engine's form. size is an estimate
// of their instructions; see NewProgram for room.
func NewGroup(patterns []parse.Pattern, size int, room *atomic.Int64) *Group {
	return &Group{automata: sync.OnceValue(func() automata {
		all := &syntax.Regexp{Op: syntax.OpAlternate}
		for _, p := range patterns {
			all.Sub = append(all.Sub, p.Tree)
		}

		return newAutomata(all, size, room)
	})}
}

// MayMatch says whether a match of one of the patterns may begin at text[at]:
// false is sure. steps is how many bytes it looked at.
func (g *Group) MayMatch(text []byte, at int) (may bool, steps int) {
	d := g.automata().here
	if d == nil {
		return true, 0
	}

	return d.MayMatch(text, at, groupLooks)
}

// MayMatchLine says whether one of the patterns may match on a line: false is
// sure. steps is how many bytes it looked at.
func (g *Group) MayMatchLine(line []byte) (may bool, steps int) {
	d := g.automata().anywhere
	if d == nil {
		return true, 0
	}
	match, steps, ok := d.Match(line, 0)

	return match || !ok, steps
}

// compile returns the program of a tree, or nil when it is too large.
func compile(tree *syntax.Regexp, size int) *syntax.Prog {
	if size > maxProgram {
		return nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil
	}

	return prog
}

// loopsThroughAssertion says whether a part may repeat that can match nothing
// but an assertion, as in (?:x|\b)*. After it has, regexp leaves the loop, by the
// order in which it walks through its program, and no automaton that decides
// assertions later can know of that. Where a match ends is then regexp's to say.
func loopsThroughAssertion(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		if hasAssertion(re.Sub[0]) {
			return true
		}
	}

	return slices.ContainsFunc(re.Sub, loopsThroughAssertion)
}

func hasAssertion(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
		syntax.OpNoWordBoundary:
		return true
	}

	return slices.ContainsFunc(re.Sub, hasAssertion)
}

// beginsText says whether a match must begin where the text does.
func beginsText(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginText:
		return true
	case syntax.OpConcat:
		return beginsText(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !beginsText(sub) {
				return false
			}
		}

		return true
	}

	return false
}

// At says whether a match begins at text[at], on a line that goes on to its
// ending or the end of the text. steps is how many bytes it looked at. ok is
// false when only a search can tell.
func (p *Program) At(text []byte, at int) (match bool, steps int, ok bool) {
	d := p.automata().here
	if d == nil {
		return false, 0, false
	}

	return d.Match(text, at)
}

// Line says whether a line matches, as At does for one offset.
func (p *Program) Line(line []byte) (match bool, steps int, ok bool) {
	if p.atBegin {
		return p.At(line, 0)
	}
	d := p.automata().anywhere
	if d == nil {
		return false, 0, false
	}

	return d.Match(line, 0)
}

// Columns returns the leftmost match on a line that has one. No match of the
// pattern in the engine's form begins before offset from. ok is false when only a
// search can tell.
func (p *Program) Columns(line []byte, from int) (span Span, ok bool) {
	if !p.begins {
		from = 0
	}
	l := p.locators()
	if l.end == nil || l.begin == nil {
		return Span{}, false
	}
	if span.End, ok = l.end.End(line, from); !ok {
		return Span{}, false
	}
	span.Start, ok = l.begin.Begin(line, span.End)

	return span, ok
}

// looksBehind says whether re has an assertion about the text before a place.
func looksBehind(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}

	return slices.ContainsFunc(re.Sub, looksBehind)
}

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
