package structure

import (
	"slices"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/syntax"
)

// How many bytes of code regular expressions and entropy look at.
const (
	maxText    = 1 << 10
	maxEntropy = 192
)

// workOfByte is the steps of looking at a byte.
const workOfByte = 2

// passes says whether tokens meet a test.
func (s *search) passes(t *test, r Range) bool {
	if !s.step(1) || r.From < 0 {
		return false
	}
	if t.regex != nil || t.entropy != nil {
		text := s.textOf(r)
		s.step(workOfByte * len(text))
		if t.regex != nil && !t.regex.Match(text) ||
			t.entropy != nil && !match.LooksRandom(text[:min(len(text), maxEntropy)], t.entropy.Min) {
			return false
		}
	}

	return s.isOf(t.is, r) &&
		(len(t.any) == 0 || slices.ContainsFunc(t.any, func(sub *test) bool { return s.passes(sub, r) })) &&
		(t.not == nil || !s.passes(t.not, r)) &&
		(t.has == nil || s.contains(t.has, r, t.direct, false))
}

// isOf says whether tokens are of a kind; "" is any.
func (s *search) isOf(kind string, r Range) bool {
	switch kind {
	case IsString:
		return s.isString(r)
	case IsInterpolated:
		return s.isInterpolated(r)
	case IsConstant:
		return s.isConstant(r)
	}

	return true
}

// textOf is the first bytes of code as they stand in the file, and of a string what is
// between its quotes.
func (s *search) textOf(r Range) []byte {
	if r.From >= r.To {
		return nil
	}
	first, last := s.tokens[r.From], s.tokens[r.To-1]
	text := s.file.Bytes[first.Start:last.End]
	switch {
	case r.To == r.From+1:
		text = s.file.Content(r.From)
	case first.Bracket == syntax.Quote && first.Pair == int32(r.To-1):
		text = s.file.Bytes[first.End:max(first.End, last.Start)]
	}

	return text[:min(len(text), maxText)]
}

// isString says whether tokens are one string without code in it.
func (s *search) isString(r Range) bool {
	if r.To == r.From+1 {
		return s.tokens[r.From].Kind == syntax.String
	}

	return s.isQuoted(r) && !s.hasHole(r)
}

// isInterpolated says whether tokens are one string with code in it.
func (s *search) isInterpolated(r Range) bool { return s.isQuoted(r) && s.hasHole(r) }

// isQuoted says whether tokens are one string of several parts.
func (s *search) isQuoted(r Range) bool {
	return r.From < r.To && s.tokens[r.From].Kind == syntax.Open && s.tokens[r.From].Bracket == syntax.Quote &&
		s.tokens[r.From].Pair == int32(r.To-1)
}

func (s *search) hasHole(r Range) bool {
	for i := r.From + 1; i < r.To-1 && s.step(1); i++ {
		if s.tokens[i].Kind != syntax.String {
			return true
		}
	}

	return false
}

// isConstant says whether tokens are made of literals and of names that are constant.
func (s *search) isConstant(r Range) bool {
	if r.From >= r.To {
		return false
	}
	sums := s.file.variables()

	return sums[r.From] == sums[r.To]
}
