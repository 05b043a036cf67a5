// Package extract is the second stage of the engine: it finds what every match
// of a pattern is sure to have.
//
// The answer is a list of clauses. A clause is a list of alternatives, one of
// which occurs in every match; an alternative is a sequence of byte sets. For
//
//	\bcolou?r[\t ]*=[\t ]*#[0-9a-f]{6}
//
// each match has
//
//	clause 1:  c o l o [ru] [\t =r] [\t #=] [\t #0-9=a-f]
//	clause 2:  c o l o u r   or   c o l o r [\t =] [\t #=] [\t #0-9=a-f] …
//	…          what is around the r and the =
//	the last:  # [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f]
//
// Sequences of sets say more than literals do: "#" alone is everywhere, "#"
// and six hexadecimal digits are not. Where a part may repeat, a sequence goes
// on for a few bytes with all that may stand there.
//
// An alternative also says where in the match it stands, when that is the same
// in all matches (clause 1: at its begin). Then one place in a text where it
// occurs gives the one place where a match can begin.
//
// All of this is about bytes. A character beyond ASCII that stands alone is its
// UTF-8 bytes; larger classes of them end a sequence, for their length varies.
// So does U+FFFD, as which each byte that is not UTF-8 is matched. Two of them
// are special: ſ (U+017F) and the Kelvin sign K (U+212A) are s and k when case
// is ignored. Sequences leave them out, and a pattern for which this matters
// is marked Folds: the engine looks for the two in the text.
package extract

import (
	"math"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match/byteset"
)

// Seq is a sequence of bytes, each out of a set.
type Seq []byteset.Set

// Unknown is the Start of an alternative that stands at varying places.
const Unknown = -1 << 30

// Alternative is a sequence and where it stands.
type Alternative struct {
	Seq   Seq
	Start int // bytes from the begin of the match to that of the sequence, or Unknown
}

// Clause is alternatives of which each match has one. It is never empty.
type Clause []Alternative

// Facts is what each match of a pattern has.
type Facts struct {
	Clauses []Clause
	Folds   bool // a match may have ſ or K where sequences have s or k
}

const (
	// maxSeq bounds the bytes of a sequence. More would not make it rarer.
	maxSeq = 128
	// maxAlternatives bounds what is multiplied out.
	maxAlternatives = 64
	// maxUnion bounds the alternatives of a clause.
	maxUnion = 512
	// maxContext is how many bytes a sequence goes on past a part of varying
	// length, where the sequence itself is shorter than enough.
	maxContext = 4
	enough     = 6
)

// Extract returns the facts about the matches of a tree of package parse. cost
// says what a clause would cost to look for: where alternatives have several
// clauses each, the one that costs least is taken.
func Extract(re *syntax.Regexp, cost func(Clause) float64) Facts {
	x := &extractor{cost: cost}
	n := x.walk(re)
	clauses := n.clauses
	if c := whole(n.exact, 0); c != nil {
		clauses = append(clauses, c)
	}

	return Facts{Clauses: clauses, Folds: x.folds}
}

// node is what is known of a part of a pattern.
type node struct {
	exact   []Seq // the part's text is one of these; nil when not known
	clauses []Clause
}

// gap is a part of which nothing is known.
var gap = node{}

type extractor struct {
	cost  func(Clause) float64
	folds bool
}

func (x *extractor) walk(re *syntax.Regexp) node {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return node{exact: []Seq{{}}}
	case syntax.OpLiteral, syntax.OpConcat, syntax.OpPlus:
		return x.concat([]*syntax.Regexp{re})
	case syntax.OpRepeat:
		if re.Min > 0 {
			return x.concat([]*syntax.Regexp{re})
		}
	case syntax.OpCharClass:
		return node{exact: x.class(re.Rune)}
	case syntax.OpCapture:
		return x.walk(re.Sub[0])
	case syntax.OpQuest:
		if sub := x.walk(re.Sub[0]); sub.exact != nil {
			return node{exact: append([]Seq{{}}, sub.exact...)}
		}
	case syntax.OpAlternate:
		return x.alternate(re.Sub)
	}

	return gap
}

// item is one of consecutive parts.
type item struct {
	node
	re    *syntax.Regexp
	group *group // of the repetition that it is of, if any
}

// group is a repetition as items: what it begins with, what may be between, and
// what it ends with. With few repetitions begin and end are the same bytes, so
// the items of a group do not stand behind each other; each half does.
type group struct {
	re               *syntax.Regexp
	first, star, end int // indexes of items: begin, between, behind the end
}

// flatten turns a part into consecutive ones: x+ is x, something, x.
func (x *extractor) flatten(re *syntax.Regexp, out []item) []item {
	switch re.Op {
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			out = x.flatten(sub, out)
		}

		return out
	case syntax.OpLiteral:
		return x.literal(re, out)
	case syntax.OpPlus:
		return x.repeat(re, 1, false, out)
	case syntax.OpRepeat:
		if re.Min > 0 {
			return x.repeat(re, re.Min, re.Min == re.Max, out)
		}
	}

	return append(out, item{x.walk(re), re, nil})
}

// literal makes one item of the characters that have one sequence, and one of
// each other.
func (x *extractor) literal(re *syntax.Regexp, out []item) []item {
	part := func(from, to int) *syntax.Regexp {
		return &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: re.Rune[from:to]}
	}
	plain, from := make(Seq, 0, len(re.Rune)), 0
	fold := re.Flags&syntax.FoldCase != 0
	for i, r := range re.Rune {
		if r < utf8.RuneSelf {
			plain = append(plain, x.ascii(byte(r), fold))
			continue
		}
		exact := x.rune(r, fold)
		if len(exact) == 1 {
			plain = append(plain, exact[0]...)
			continue
		}
		if from < i {
			out = append(out, item{node{exact: []Seq{plain}}, part(from, i), nil})
		}
		out = append(out, item{node{exact: exact}, part(i, i+1), nil})
		plain, from = nil, i+1
	}
	if from < len(re.Rune) {
		out = append(out, item{node{exact: []Seq{plain}}, part(from, len(re.Rune)), nil})
	}

	return out
}

func (x *extractor) repeat(re *syntax.Regexp, count int, exactly bool, out []item) []item {
	sub := item{x.walk(re.Sub[0]), re.Sub[0], nil}
	n := min(count, maxSeq)
	if sub.exact == nil {
		n = 1
	}
	if exactly && n == count {
		for range n {
			out = append(out, sub)
		}

		return out
	}
	g := &group{re: re, first: len(out), star: len(out) + n, end: len(out) + n + 1 + n}
	sub.group = g
	for range n {
		out = append(out, sub)
	}
	out = append(out, item{gap, &syntax.Regexp{Op: syntax.OpStar, Sub: re.Sub}, g})
	for range n {
		out = append(out, sub)
	}

	return out
}

// concat finds the sequences that consecutive parts make together: full with
// all alternatives multiplied out, and solo of parts with one alternative only,
// which are fewer and longer.
func (x *extractor) concat(subs []*syntax.Regexp) node {
	var items []item
	for _, sub := range subs {
		items = x.flatten(sub, items)
	}
	if len(items) == 1 {
		return items[0].node
	}
	var out node
	var runs []run
	full, solo := newRun(0, 0), newRun(0, 0)
	pos := 0 // bytes before the item, or Unknown
	for i, it := range items {
		if it.group == nil || i < it.group.star { // at the end of a repetition they are the same again
			for _, c := range it.clauses {
				out.clauses = append(out.clauses, shift(c, pos))
			}
		}
		next := after(pos, it.exact)
		if !full.add(it.exact) {
			runs = append(runs, full.until(i))
			full = newRun(i, pos)
			if !full.add(it.exact) {
				full = newRun(i+1, next)
			}
		}
		if len(it.exact) != 1 || !solo.add(it.exact) {
			runs = append(runs, solo.until(i))
			solo = newRun(i+1, next)
		}
		pos = next
	}
	if runs = append(runs, solo.until(len(items))); full.from == 0 {
		out.exact = full.seqs
	} else {
		runs = append(runs, full.until(len(items)))
	}
	out.clauses = x.clauses(out.clauses, runs, items)

	return out
}

// clauses appends a clause for each run. Short sequences go on into what is
// around them, unless there is a run that needs no such help.
func (x *extractor) clauses(out []Clause, runs []run, items []item) []Clause {
	alone := slices.ContainsFunc(runs, run.isEnough)
	for _, r := range runs {
		c := whole(r.seqs, r.start)
		if c == nil {
			continue
		}
		if !alone {
			x.extend(c, r, items)
		}
		if n := len(out); n == 0 || !slices.EqualFunc(out[n-1], c, Alternative.equal) {
			out = append(out, c)
		}
	}

	return out
}

// extend makes the short sequences of a run's clause longer.
func (x *extractor) extend(c Clause, r run, items []item) {
	behind, before := x.ahead(items, r.end), x.back(items, r.from)
	for i := range c {
		if len(c[i].Seq) >= enough {
			continue
		}
		c[i].Seq = slices.Concat(before, c[i].Seq, behind)
		if c[i].Start != Unknown {
			c[i].Start -= len(before)
		}
	}
}

func (a Alternative) equal(b Alternative) bool {
	return a.Start == b.Start && slices.Equal(a.Seq, b.Seq)
}

// whole is sequences as a clause, or nil when one of them is empty or there are
// none.
func whole(seqs []Seq, start int) Clause {
	var c Clause
	for _, s := range seqs {
		if len(s) == 0 {
			return nil
		}
		c = append(c, Alternative{Seq: s, Start: start})
	}

	return c
}

func shift(c Clause, pos int) Clause {
	out := make(Clause, len(c))
	for i, a := range c {
		if pos == Unknown || a.Start == Unknown {
			a.Start = Unknown
		} else {
			a.Start += pos
		}
		out[i] = a
	}

	return out
}

// after is the number of bytes before the item that follows one with exact.
func after(pos int, exact []Seq) int {
	if pos == Unknown || len(exact) == 0 {
		return Unknown
	}
	for _, s := range exact {
		if len(s) != len(exact[0]) {
			return Unknown
		}
	}

	return pos + len(exact[0])
}

// alternate knows the text when all alternatives do, and else one clause: the
// best of each alternative.
func (x *extractor) alternate(subs []*syntax.Regexp) node {
	exact, allExact := []Seq{}, true
	var union Clause
	allClauses := true
	for _, sub := range subs {
		n := x.walk(sub)
		exact = append(exact, n.exact...)
		allExact = allExact && n.exact != nil && len(exact) <= maxAlternatives
		best := x.cheapest(n)
		union = append(union, best...)
		allClauses = allClauses && best != nil && len(union) <= maxUnion
	}
	switch {
	case allExact:
		return node{exact: exact}
	case allClauses:
		return node{clauses: []Clause{union}}
	}

	return gap
}

func (x *extractor) cheapest(n node) Clause {
	best := whole(n.exact, 0)
	if len(n.clauses) == 0 {
		return best
	}
	price := math.Inf(1)
	if best != nil {
		price = x.cost(best)
	}
	for _, c := range n.clauses {
		if p := x.cost(c); p < price {
			best, price = c, p
		}
	}

	return best
}
