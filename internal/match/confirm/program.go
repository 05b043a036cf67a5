// Package confirm is the last stage of the engine: it decides whether a rule
// matches where the filter says that it may.
//
// Does the pattern match from the place at which a match must begin, or, where
// that is not known, anywhere on the line? An automaton says: it is the pattern's
// program in regexp/syntax, one state for each set of places in it, built as far
// as texts need it. The standard library's regexp is asked itself where an
// automaton has become too large, where on a line the match is, and for multiline
// rules.
//
// For \bcolou?r\( and the text "x = colour(1)", found by "lour" at offset 6, the
// automaton begins at 4, behind a blank, so \b is granted; c o l o u r ( : matched.
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
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match/parse"
)

// Program is a rule's pattern, ready to be asked. What it needs is compiled
// when it is first needed. It is safe for concurrent use.
type Program struct {
	automata func() automata
	memory   int64 // see Size

	begins      bool // a match begins where that of the engine's form does, and not by ^
	looksBehind bool
	work        int                   // of a search, for each byte
	first       func() *regexp.Regexp // for a search from the start of a text
	onward      func() *regexp.Regexp // for a search from within, when it looks behind
}

// NewProgram prepares a pattern. size is an estimate of its instructions. room is the
// memory for what is large that all programs share.
func NewProgram(parsed parse.Pattern, size int, room *Room) *Program {
	lean, pattern := parsed.Lean(), parsed.Text
	ranges := RangesOf(parsed.Source)
	weight := regexpSize(parsed.Source, size, ranges)
	has := hasAutomata(size, ranges.Tree, room)

	return &Program{
		memory: programSize(parsed, size, ranges, weight),
		automata: sync.OnceValue(func() (a automata) {
			if has {
				a = newAutomata(lean.Again(), lean.Multiline, room)
			}
			return a
		}),
		begins: parsed.Begins && !hasOp(parsed.Source, syntax.OpBeginLine, syntax.OpBeginText),
		looksBehind: hasOp(parsed.Source, syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary,
			syntax.OpNoWordBoundary),
		work:  searchWork + size,
		first: keep(weight, room, func() *regexp.Regexp { return regexp.MustCompile(pattern) }),
		// The character before the place is matched first, so that ^ and \b see
		// it, and the least text after it, so that the match is the leftmost.
		onward: keep(weight, room, func() *regexp.Regexp {
			return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + pattern + `)`)
		}),
	}
}

// Group is several programs that are asked together, before each of them is,
// whether any may match. It is safe for concurrent use.
type Group struct{ automata func() automata }

// NewGroup makes a group of patterns in the engine's form. size is an estimate
// of their instructions, ranges those of their classes; see NewProgram for room.
func NewGroup(patterns []parse.Pattern, size, ranges int, room *Room) *Group {
	has := hasAutomata(size, ranges, room)
	lean := make([]parse.Pattern, len(patterns))
	for i, p := range patterns {
		lean[i] = p.Lean()
	}

	return &Group{automata: sync.OnceValue(func() (a automata) {
		if !has {
			return a
		}
		all := &syntax.Regexp{Op: syntax.OpAlternate}
		for _, p := range lean {
			all.Sub = append(all.Sub, p.Again())
		}

		return newAutomata(all, false, room)
	})}
}

// MayMatch says whether a match of one of the patterns may begin at text[at]:
// false is sure. steps is how many bytes it looked at.
func (g *Group) MayMatch(text []byte, at int) (may bool, steps int) {
	return g.automata().here.MayMatch(text, at)
}

// MayMatchLine says whether one of the patterns may match on a line: false is
// sure. steps is how many bytes it looked at. See DFA.Match for done.
func (g *Group) MayMatchLine(line []byte, done <-chan struct{}) (may bool, steps int) {
	match, steps, ok := g.automata().anywhere.Match(line, 0, done)

	return match || !ok, steps
}

// At says whether a match begins at text[at], on a line that goes on to its
// ending or the end of the text. steps is how many bytes it looked at. ok is
// false when only a search can tell: for a program, always or never. See DFA.Match
// for done.
func (p *Program) At(text []byte, at int, done <-chan struct{}) (match bool, steps int, ok bool) {
	return p.automata().here.Match(text, at, done)
}

// Line says whether a line matches, as At does for one offset.
func (p *Program) Line(line []byte, done <-chan struct{}) (match bool, steps int, ok bool) {
	return p.automata().anywhere.Match(line, 0, done)
}

// hasOp says whether one of the operators is in re.
func hasOp(re *syntax.Regexp, ops ...syntax.Op) bool {
	return slices.Contains(ops, re.Op) ||
		slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return hasOp(sub, ops...) })
}

// Columns is Find on a line. No match of the pattern in the engine's form begins
// before offset from.
func (p *Program) Columns(line []byte, from int, g *Guard) (match Span, ok bool) {
	if !p.begins {
		from = 0
	}
	// Cut here, the line looks the same to \b and \B.
	for from > 0 && (line[from-1] >= utf8.RuneSelf || syntax.IsWordChar(rune(line[from-1]))) {
		from--
	}
	match, ok = p.Find(line[from:], 0, g)

	return Span{Start: match.Start + from, End: match.End + from}, ok
}

// searchWork is what a search counts as for each byte, beside the instructions of
// the program: about as long as it takes when there are few.
const searchWork = 64

// plainWork bounds a search that can't be stopped, in work. The worst programs
// that were tried took up to 20 ns for a step (BenchmarkPlainSearch, on a busy
// machine), so such a search takes at most about 40 ms.
const plainWork = 2 << 20

// Find returns the leftmost match in text at or after offset from. ok is false
// when there is none, or when g said stop; then g.Stopped is set.
func (p *Program) Find(text []byte, from int, g *Guard) (match Span, ok bool) {
	return p.find(text, from, plainWork, g)
}

// find is Find. A search over more than plain is counted by what it reads, any
// other by the length of the text.
func (p *Program) find(text []byte, from, plain int, g *Guard) (match Span, ok bool) {
	loc := p.search(text, from, plain, false, g)
	if loc == nil {
		return Span{}, false
	}

	return Span{Start: loc[0], End: loc[1]}, true
}

// search is find with the places of the groups, too, when they are asked for: pairs as
// regexp has them.
func (p *Program) search(text []byte, from, plain int, groups bool, g *Guard) []int {
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

	switch work := len(rest) * p.work; {
	case work > plain:
		r := &guardedReader{text: rest, guard: g, work: p.work}
		loc = re.FindReaderSubmatchIndex(r)
		g.Spend(r.unpaid)
	case !g.Spend(work):
	case group > 0 || groups:
		loc = re.FindSubmatchIndex(rest)
	default:
		loc = re.FindIndex(rest)
	}
	if loc == nil || g.Stopped {
		return nil
	}

	loc = loc[group:]
	for i, at := range loc {
		if at >= 0 {
			loc[i] = start + at
		}
	}

	return loc
}

// Span is a run of bytes, Start included, End not.
type Span struct{ Start, End int }

// Guard says when a rule has to stop: when the scan is over, or the rule has done the
// work that it may do. It counts the bytes that an automaton looks at, and for
// a search by regexp its bytes times the size of the program. So it says the same
// on each machine.
type Guard struct {
	ctx     context.Context
	left    int64
	unseen  int   // work since ctx was looked at
	Spent   int64 // work
	Stopped bool  // once Spend said stop
}

// NewGuard makes a guard of so much work.
func NewGuard(ctx context.Context, left int64) *Guard {
	return &Guard{ctx: ctx, left: left, Stopped: left < 0 || ctx.Err() != nil}
}

// Spend counts work, looks at the context once in a while, and says whether to go
// on.
func (g *Guard) Spend(work int) bool {
	g.Spent += int64(work)
	if g.unseen += work; g.unseen > plainWork/2 {
		g.unseen = 0
		g.Stopped = g.Stopped || g.ctx.Err() != nil
	}
	g.Stopped = g.Stopped || g.Spent > g.left

	return !g.Stopped
}

// guardedReader gives a text to regexp character by character and ends it
// early when the guard says stop. What was found is then worth nothing.
type guardedReader struct {
	text   []byte
	pos    int
	work   int // for each byte
	unpaid int // work that the guard has not counted yet
	guard  *Guard
}

// ReadRune implements io.RuneReader. An invalid byte is U+FFFD of size 1, as
// it is to regexp in a text.
func (r *guardedReader) ReadRune() (c rune, size int, err error) {
	if r.unpaid > plainWork/64 {
		r.guard.Spend(r.unpaid)
		r.unpaid = 0
	}
	if r.pos >= len(r.text) || r.guard.Stopped {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.text[r.pos:])
	r.pos += size
	r.unpaid += size * r.work

	return c, size, nil
}

// plainOfAll bounds the searches of All that are counted by the length of the
// text, in work: there may be many, each of which looks at all that follows.
const plainOfAll = 8 << 10

// All calls found with each match in text, from left to right, none
// overlapping the one before, until the guard says stop. The automaton says first
// whether there is another one: most texts have none, and it is far quicker. When the
// guard says stop before it is known where that one is, what the automaton looked at
// last stands for it.
func (p *Program) All(text []byte, g *Guard, found func(Span)) {
	p.each(text, 0, g, false, func(loc []int) bool {
		found(Span{Start: loc[0], End: loc[1]})
		return true
	})
}

// Groups is All with the places of the groups, as pairs that regexp has, until found
// returns false. A match of which the guard left the place unknown has no groups.
func (p *Program) Groups(text []byte, g *Guard, found func(loc []int) (more bool)) {
	p.each(text, 0, g, true, found)
}

// First calls found with the first match that starts at a place or behind it, as Groups
// does.
func (p *Program) First(text []byte, from int, g *Guard, found func(loc []int)) {
	p.each(text, from, g, true, func(loc []int) bool {
		found(loc)
		return false
	})
}

func (p *Program) each(text []byte, from int, g *Guard, groups bool, found func(loc []int) (more bool)) {
	for from < len(text) {
		match, steps, sure := p.automata().anywhere.Match(text, from, g.ctx.Done())
		if !g.Spend(steps) || sure && !match {
			return
		}
		loc := p.search(text, from, plainOfAll, groups, g)
		if end := from + steps; loc == nil && sure && g.Stopped && steps > 0 {
			found([]int{end - 1, end})
		}
		if loc == nil || !found(loc) {
			return
		}
		from = loc[1]
	}
}

// SearchWork is what a search for a pattern counts as for each byte.
func SearchWork(pattern string) int {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return searchWork
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return searchWork
	}

	return searchWork + len(prog.Inst)
}
