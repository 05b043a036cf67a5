package extract

import (
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match/byteset"
)

const (
	longS  = '\u017F' // ſ
	kelvin = '\u212A' // K
	// maxWide bounds the characters beyond ASCII of a class that is taken apart.
	maxWide = 8
)

// beyond is the bytes of characters beyond ASCII, and of what is not UTF-8.
var beyond = byteset.Range(utf8.RuneSelf, 0xFF)

// ascii returns the bytes of an ASCII character, both cases when case is
// ignored.
func (x *extractor) ascii(b byte, fold bool) byteset.Set {
	set := byteset.Of(b)
	if fold {
		set = set.Unfold()
		x.folds = x.folds || set.Has('s') || set.Has('k')
	}
	return set
}

// rune returns the byte sequences of a character beyond ASCII, or of all that it
// is the same as when case is ignored.
func (x *extractor) rune(r rune, fold bool) []Seq {
	return x.class(rangesOf(r, fold))
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
			s = append(s, byteset.Of(b))
		}
		out = append(out, s)
	}
	return out
}

// split takes a class apart: its ASCII, and its characters beyond when they are
// few and none of them is one that stands for others. It leaves ſ and K out
// where s and k are there.
func (x *extractor) split(ranges []rune) (ascii byteset.Set, wide []rune, ok bool) {
	ascii = asciiOf(ranges)
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

func asciiOf(ranges []rune) (set byteset.Set) {
	for i := 0; i < len(ranges); i += 2 {
		if lo, hi := ranges[i], min(ranges[i+1], utf8.RuneSelf-1); lo <= hi {
			set = set.Union(byteset.Range(byte(lo), byte(hi)))
		}
	}
	return set
}
