package rule

import (
	"math"
	"slices"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// fits reports whether the code around a part of a text is read as before once an edit was
// made that replaces the part: no string, comment or bracket goes on behind it, or ends there
// that did not, and no indented block is gone.
//
// A structure rule must not find anything of the new part either, and comments in the old
// part must be in the new one: its pattern passes over them. What a regular expression
// matches of a comment is what its author meant.
func (r PlaceReader) fits(lines match.Lines, e Edit, part match.Span, rule int) bool {
	old := r.read(lines.Text()).Text
	if old.Language == syntax.Any { // of which nothing is known
		return true
	}
	if r.fixWork += 2 * len(lines.Text()); r.fixWork > maxFixWork {
		return false
	}
	if e.Text == "" {
		part, _ = e.replaces(lines)
	}
	text, _ := Apply(lines, []Edit{e})
	end := len(text) - (len(lines.Text()) - part.End)
	now := structure.NewFile(syntax.Scan(old.Language, text))
	before := readAround(old, part.Start, part.End, e.Text == "")
	after := readAround(now.Text, part.Start, end, e.Text == "")
	if !slices.Equal(before.tokens, after.tokens) || before.blocks != after.blocks || before.open < after.open {
		return false
	}
	finder := r.finders[rule].of(old.Language)
	if finder == nil {
		return true
	}
	left, finds := maxFixWork, false
	finder.All(now, func(steps int) bool { left -= steps; return left > 0 && !finds }, func(m structure.Match) {
		at, behind := int(now.Tokens[m.From].Start), int(now.Tokens[m.To-1].End)
		finds = finds || at < end && behind > part.Start
	})

	return left > 0 && !finds && before.comments <= after.comments
}

// around is how what is before and behind a part of a text is read.
type around struct {
	tokens []outer
	blocks int // that are indented, where they are counted and not among the tokens
	open   int // brackets and strings in the part that have no end

	comments int // in the part
}

// outer is a token before or behind a part of a text. Places behind it count from the end of
// the text, so they are negative.
type outer struct {
	kind       syntax.Kind
	bracket    byte
	start, end int
	pair       int // where the other bracket begins; inPart and noPair for none outside
}

const (
	inPart = math.MaxInt
	noPair = math.MaxInt - 1
)

// readAround reads a text around a part of it, without the ends of statements, which an edit
// may move. It may also count indented blocks: the next line begins one in place of a line
// that is removed.
func readAround(t *syntax.Text, start, end int, countBlocks bool) (a around) {
	place := func(x syntax.Token, at int32) int {
		switch {
		case int(x.End) <= start:
			return int(at)
		case int(x.Start) >= end:
			return int(at) - len(t.Bytes) - 1
		}
		return inPart
	}
	for _, c := range t.Comments {
		if int(c.End) > start && int(c.Start) < end {
			a.comments++
		}
	}
	for _, x := range t.Tokens {
		isBracket := x.Kind == syntax.Open || x.Kind == syntax.Close
		o := outer{kind: x.Kind, bracket: x.Bracket, start: place(x, x.Start), end: place(x, x.End), pair: noPair}
		if isBracket && x.Pair >= 0 {
			o.pair = place(t.Tokens[x.Pair], t.Tokens[x.Pair].Start)
		}
		switch {
		case x.Kind == syntax.LineEnd:
		case countBlocks && x.Bracket == syntax.Indent && isBracket:
			a.blocks++
		case o.start != inPart:
			a.tokens = append(a.tokens, o)
		case isBracket && x.Pair < 0, x.Kind == syntax.String && x.Pair > 0 && x.Tail == 0:
			a.open++
		}
	}

	return a
}
