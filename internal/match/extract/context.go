package extract

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// surroundings collects the bytes that may stand at each of the next few places
// of a text that consecutive parts match; reverse is from their end to the left.
type surroundings struct {
	x       *extractor
	reverse bool
	budget  int // of steps, for patterns with many ways
}

// ahead returns the bytes that the items from end on begin with, as far as a
// match is sure to have as many.
func (x *extractor) ahead(items []item, end int) Seq {
	var parts []*syntax.Regexp
	for i := end; i < len(items); {
		g := items[i].group
		switch {
		case g == nil || i > g.star:
			parts = append(parts, items[i].re)
			i++
			continue
		case i == g.first:
			parts = append(parts, g.re)
		case i == g.star:
			parts = append(parts, items[i].re)
		default:
			parts = append(parts, nil)
		}
		i = g.end
	}
	s := surroundings{x: x, budget: 400}

	return s.collect(parts)
}

// back returns the bytes that the items before index from end with.
func (x *extractor) back(items []item, from int) Seq {
	var parts []*syntax.Regexp
	for i := from - 1; i >= 0; {
		g := items[i].group
		switch {
		case g == nil || from <= g.star:
			parts = append(parts, items[i].re)
			i--
			continue
		case i == g.end-1:
			parts = append(parts, g.re)
		default: // what is before the end of a repetition may be itself
			parts = append(parts, nil)
		}
		i = g.first - 1
	}
	s := surroundings{x: x, reverse: true, budget: 400}
	out := s.collect(parts)
	slices.Reverse(out)

	return out
}

// rest is what is yet to be matched: a part, and what follows it.
type rest struct {
	re   *syntax.Regexp
	next *rest
}

func (r *rest) push(re *syntax.Regexp) *rest { return &rest{re: re, next: r} }

// step is one byte out of a set and what is yet to be matched after it.
type step struct {
	set  Set
	then *rest
}

func (s *surroundings) collect(parts []*syntax.Regexp) Seq {
	var start *rest
	for _, re := range slices.Backward(parts) {
		start = start.push(re)
	}
	var out Seq
	front := []*rest{start}
	for len(out) < maxContext {
		var steps []step
		for _, r := range front {
			var ok bool
			if steps, ok = s.expand(r, steps); !ok {
				return out
			}
		}
		var set Set
		front = front[:0]
		seen := map[*rest]bool{}
		for _, st := range steps {
			set = set.Union(st.set)
			if !seen[st.then] {
				seen[st.then] = true
				front = append(front, st.then)
			}
		}
		if set.Len() == 0 {
			return out
		}
		out = append(out, set)
	}

	return out
}

// more stands for further bytes of characters beyond ASCII.
var more = &syntax.Regexp{Op: syntax.OpNoMatch}

// expand appends the ways in which a text may go on. ok is false when it may
// end, or the ways are too many.
func (s *surroundings) expand(r *rest, out []step) (steps []step, ok bool) {
	if s.budget--; r == nil || r.re == nil || s.budget < 0 {
		return out, false
	}
	switch re := r.re; {
	case re == more:
		return s.expand(r.next, append(out, step{beyond, r}))
	case re.Op == syntax.OpLiteral:
		i, rest := 0, re.Rune[1:]
		if s.reverse {
			i, rest = len(re.Rune)-1, re.Rune[:len(re.Rune)-1]
		}
		next := r.next
		if len(rest) > 0 {
			next = next.push(&syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: rest})
		}

		return s.class(rangesOf(re.Rune[i], re.Flags&syntax.FoldCase != 0), next, out), true
	case re.Op == syntax.OpCharClass:
		return s.class(re.Rune, r.next, out), true
	case re.Op == syntax.OpAnyChar:
		return s.class([]rune{0, unicode.MaxRune}, r.next, out), true
	case re.Op == syntax.OpAnyCharNotNL:
		return s.class([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}, r.next, out), true
	case re.Op == syntax.OpConcat:
		next := r.next
		for i := range re.Sub {
			if !s.reverse {
				i = len(re.Sub) - 1 - i
			}
			next = next.push(re.Sub[i])
		}

		return s.expand(next, out)
	case re.Op == syntax.OpAlternate:
		for _, sub := range re.Sub {
			if out, ok = s.expand(r.next.push(sub), out); !ok {
				return out, false
			}
		}

		return out, true
	case re.Op == syntax.OpQuest, re.Op == syntax.OpStar, re.Op == syntax.OpPlus, re.Op == syntax.OpRepeat:
		return s.repetition(r, out)
	}

	return s.expand(r.next, out) // an assertion, or nothing
}

// repetition appends the ways to go on with what may repeat and, where it may be
// left out, those without it.
func (s *surroundings) repetition(r *rest, out []step) (steps []step, ok bool) {
	re, again, least := r.re, r.next, 0
	switch re.Op {
	case syntax.OpStar:
		again = r
	case syntax.OpPlus:
		least, again = 1, again.push(&syntax.Regexp{Op: syntax.OpStar, Sub: re.Sub})
	case syntax.OpRepeat:
		if re.Max == 0 {
			return s.expand(r.next, out)
		}
		if least = re.Min; re.Max != 1 {
			fewer := *re
			fewer.Min, fewer.Max = max(re.Min-1, 0), max(re.Max-1, -1)
			again = again.push(&fewer)
		}
	}
	if out, ok = s.expand(again.push(re.Sub[0]), out); !ok || least > 0 {
		return out, ok
	}

	return s.expand(r.next, out)
}

// class appends the first byte of a class, or the last; of characters beyond
// ASCII more may follow. Where the class has ſ or K, the text may have s or k:
// that is how the engine looks at it.
func (s *surroundings) class(ranges []rune, next *rest, out []step) []step {
	ascii, wide, ok := s.x.split(ranges)
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] <= longS && longS <= ranges[i+1] {
			ascii.Add('s')
		}
		if ranges[i] <= kelvin && kelvin <= ranges[i+1] {
			ascii.Add('k')
		}
	}
	if ascii.Len() > 0 {
		out = append(out, step{ascii, next})
	}
	if len(wide) > 0 || !ok {
		out = append(out, step{beyond, next.push(more)})
	}

	return out
}

const (
	longS  = '\u017F' // ſ
	kelvin = '\u212A' // K
	// maxWide bounds the characters beyond ASCII of a class that is taken apart.
	maxWide = 8
)

// beyond is the bytes of characters beyond ASCII, and of what is not UTF-8.
var beyond = Range(utf8.RuneSelf, 0xFF)

// literal makes one item of the characters that have one sequence, and one of
// each other.
func (x *extractor) literal(re *syntax.Regexp, out []item) []item {
	part := func(from, to int) *syntax.Regexp {
		return &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: re.Rune[from:to]}
	}
	plain, from := make(Seq, 0, len(re.Rune)), 0
	fold := re.Flags&syntax.FoldCase != 0
	for i, r := range re.Rune {
		exact := x.class(rangesOf(r, fold))
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

// rangesOf is a character, or all that it is the same as when case is ignored, as
// a class.
func rangesOf(r rune, fold bool) []rune {
	ranges := []rune{r, r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			ranges = append(ranges, f, f)
		}
	}

	return ranges
}

// class returns the byte sequences of a class, given as pairs of first and last
// character, or nil when they are too many or can't be told.
func (x *extractor) class(ranges []rune) []Seq {
	ascii, wide, ok := x.split(ranges)
	if !ok {
		return nil
	}
	var out []Seq
	if ascii.Len() > 0 {
		out = append(out, Seq{ascii})
	}
	for _, r := range wide {
		var s Seq
		for _, b := range utf8.AppendRune(nil, r) {
			s = append(s, SetOf(b))
		}
		out = append(out, s)
	}

	return out
}

// split takes a class apart: its ASCII, and its characters beyond when they are
// few and none of them is one that stands for others. It leaves ſ and K out
// where s and k are there.
func (x *extractor) split(ranges []rune) (ascii Set, wide []rune, ok bool) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= min(ranges[i+1], utf8.RuneSelf-1); r++ {
			ascii.Add(byte(r))
		}
	}
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := max(ranges[i], utf8.RuneSelf), ranges[i+1]
		if hi-lo >= maxWide {
			return ascii, nil, false
		}
		for r := lo; r <= hi; r++ {
			switch {
			case r == longS && ascii.Has('s'), r == kelvin && ascii.Has('k'):
				x.folds = true
			case r == longS, r == kelvin, r == utf8.RuneError, len(wide) == maxWide:
				return ascii, nil, false
			default:
				wide = append(wide, r)
			}
		}
	}

	return ascii, wide, true
}

// run is the sequences of consecutive items.
type run struct {
	seqs  []Seq
	from  int // index of the first item
	end   int // index of the item behind the last
	start int // bytes before it, or Unknown
}

func (r run) until(end int) run {
	r.end = end
	return r
}

// isEnough says whether all of the run's sequences are rare by themselves.
func (r run) isEnough() bool {
	for _, s := range r.seqs {
		letters := 0 // bytes that are known but for their case
		for _, set := range s {
			if set.Len() <= 2 {
				letters++
			}
		}
		if letters < enough {
			return false
		}
	}

	return true
}

func newRun(from, start int) run { return run{seqs: []Seq{{}}, from: from, start: start} }

// add appends an item's alternatives, or does nothing and says so when they are
// unknown or too many.
func (r *run) add(exact []Seq) bool {
	if exact == nil || len(r.seqs)*len(exact) > maxAlternatives {
		return false
	}
	for _, a := range r.seqs {
		for _, b := range exact {
			if len(a)+len(b) > maxSeq {
				return false
			}
		}
	}
	if len(exact) == 1 {
		for i := range r.seqs {
			r.seqs[i] = append(r.seqs[i], exact[0]...)
		}

		return true
	}
	out := make([]Seq, 0, len(r.seqs)*len(exact))
	for _, a := range r.seqs {
		for _, b := range exact {
			out = append(out, slices.Concat(a, b))
		}
	}
	r.seqs = out

	return true
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
