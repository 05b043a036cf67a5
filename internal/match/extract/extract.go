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
	"math/bits"
	"regexp/syntax"
	"slices"
)

// Set is a set of bytes: byte b is in it when bit b%64 of word b/64 is set.
type Set [4]uint64

// SetOf returns the set of some bytes.
func SetOf(list ...byte) Set {
	var s Set
	for _, b := range list {
		s.Add(b)
	}

	return s
}

// Range returns the set of the bytes from lo to hi, both included.
func Range(lo, hi byte) Set {
	var s Set
	for b := int(lo); b <= int(hi); b++ {
		s.Add(byte(b))
	}

	return s
}

// Add puts b into the set.
func (s *Set) Add(b byte) { s[b>>6] |= 1 << (b & 63) }

// Has says whether b is in the set.
func (s *Set) Has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

// Union returns the bytes that are in either.
func (s Set) Union(t Set) Set {
	return Set{s[0] | t[0], s[1] | t[1], s[2] | t[2], s[3] | t[3]}
}

// Len is the number of bytes in the set.
func (s Set) Len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// Each calls f with every byte of the set, ascending.
func (s Set) Each(f func(b byte)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(byte(i<<6 | bits.TrailingZeros64(w)))
		}
	}
}

// upper is the bits of A to Z in word 1; a to z are 32 bits further.
const upper = (1<<26 - 1) << 1

// Fold returns the set with each ASCII upper-case letter replaced by its
// lower-case one.
func (s Set) Fold() Set {
	s[1] = s[1]&^upper | s[1]&upper<<32
	return s
}

// Seq is a sequence of bytes, each out of a set.
type Seq []Set

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

// node is what is known of a part of a pattern; nothing when it is zero.
type node struct {
	exact   []Seq // the part's text is one of these; nil when not known
	clauses []Clause
}

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

	return node{}
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

func (x *extractor) repeat(re *syntax.Regexp, count int, exactly bool, out []item) []item {
	sub := item{x.walk(re.Sub[0]), re.Sub[0], nil}
	n := min(count, maxSeq)
	if sub.exact == nil {
		n = 1
	}
	copies := slices.Repeat([]item{sub}, n)
	if exactly && n == count {
		return append(out, copies...)
	}
	g := &group{re: re, first: len(out), star: len(out) + n, end: len(out) + n + 1 + n}
	for i := range copies {
		copies[i].group = g
	}
	out = append(out, copies...)
	out = append(out, item{node{}, &syntax.Regexp{Op: syntax.OpStar, Sub: re.Sub}, g})

	return append(out, copies...)
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

	return node{}
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
