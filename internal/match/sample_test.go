package match_test

import (
	"bytes"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match"
)

// writer writes texts that rules are likely to match, and texts that they
// nearly match.
type writer struct {
	*choices
	trees []*syntax.Regexp // of the rules
	words []string
}

func newWriter(c *choices, rules []match.Rule, words []string) *writer {
	w := &writer{choices: c, words: words}
	for _, r := range rules {
		tree, err := syntax.Parse(r.Pattern, syntax.Perl)
		if err != nil {
			panic(err) // grammar.pattern makes none such
		}
		w.trees = append(w.trees, tree)
	}

	return w
}

// separators stand between the pieces of a text.
var separators = []string{
	"\n", "", " ", "\r\n", "\n", "\r", "\n\n", "\r\n\r\n", "\r\r\n", "_", "x", "0", ";", "\t", "\x00", "\v", "\u2028",
	"\u0085",
}

// oddities are bytes that texts have and patterns seldom speak of: invalid
// UTF-8, beginnings of longer characters (of U+212A and U+017F among them),
// surrogates, overlong forms, NUL, a byte order mark.
var oddities = []string{
	"\xff", "\x80", "\xe2\x84", "\xe2", "\xc5", "\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80",
	"\ufffd", "\x00", "\ufeff",
	"\u212a", "\u017f", "\r", "\n", "\r\n", "\x7f", "é", "\u0130", "😀",
}

// text writes a file of at most a few kilobytes, or, one time in many, one
// with lines about as long as a line may be.
func (w *writer) text() []byte {
	var out []byte
	if w.one(16) {
		out = append(out, "\ufeff"...)
	}

	for range w.below(48) {
		out = append(out, w.piece()...)
		out = append(out, pick(w.choices, separators)...)
	}
	if w.one(16) {
		out = append(w.longLine(), out...)
	}
	if w.one(24) {
		out = append(out, w.noise()...)
	}
	if w.one(32) && len(out) < 4<<10 {
		out = bytes.Repeat(out, 1+w.below(64))
	}

	return out
}

// piece writes what stands between two separators.
func (w *writer) piece() []byte {
	switch w.below(10) {
	default:
		return w.mutate(w.sample(pick(w.choices, w.trees), nil))
	case 5:
		return w.mutate([]byte(pick(w.choices, w.words)))
	case 6: // the same byte many times
		return bytes.Repeat([]byte{pick(w.choices, []byte("ak0_-x \xff"))}, w.below(300))
	case 7: // whatever the fuzzer likes
		n := min(w.below(32), len(w.data))
		p := bytes.Clone(w.data[:n])
		w.data = w.data[n:]

		return p
	case 8: // one text many times
		p := w.sample(pick(w.choices, w.trees), nil)
		return bytes.Repeat(p, pick(w.choices, []int{w.below(20), 9, min(w.below(2000), 1+1<<13/(len(p)+1))}))
	case 9:
		return nil
	}
}

// noise writes some kilobytes of random characters, few of them different, so
// that an automaton comes into many states.
func (w *writer) noise() []byte {
	letters := []byte(pick(w.choices, []string{
		"ab\n", "ab", "ks \n", "abcdefghijklmnopqrstuvwxyz \n", "0123456789abcdef\n", "aA\xff\xe2\x84\xaa\n",
	}))
	rnd := rand.New(rand.NewPCG(uint64(w.below(256)), 0))
	out := make([]byte, 1<<(4+w.below(10)))

	for i := range out {
		out[i] = letters[rnd.IntN(len(letters))]
	}

	return out
}

// longLine writes a line of some 16 KiB, or far more,
// with a piece at its start, end or middle.
func (w *writer) longLine() []byte {
	length := 16<<10 + pick(w.choices, []int{0, 1, 0, 1, -1, 2})
	if w.one(4) {
		length += w.below(1 << 14)
	}
	filler := append(w.piece(), '-')
	filler = bytes.Repeat(filler, length/len(filler)+1)
	p := w.piece()
	at := pick(w.choices, []int{length, 0, length / 2, length - 1})
	line := slices.Concat(filler[:max(0, at-len(p))], p, filler)
	line = bytes.ReplaceAll(line, []byte{'\n'}, nil)
	line = line[:min(length, len(line))]

	return slices.Concat([]byte("\n"), line, []byte(pick(w.choices, []string{"\n", "\r\n", "", "\r", "\r\r\n"})))
}

// mutate changes a text a little, most times not at all.
func (w *writer) mutate(p []byte) []byte {
	if !w.one(3) {
		return p
	}
	for range 1 + w.below(3) {
		at := w.below(len(p) + 1)
		rest := p[at:]
		switch w.below(12) {
		case 0:
			p = p[:at]
		case 1:
			p = rest
		case 2:
			p = slices.Concat(p[:at], rest[min(1, len(rest)):])
		case 3:
			p = slices.Concat(p[:at], []byte(pick(w.choices, oddities)), rest)
		case 4: // the other case
			p = bytes.Map(swapCase, p)
		case 5: // characters that fold to letters
			p = []byte(strings.NewReplacer("k", "\u212a", "K", "\u212a", "s", "\u017f", "S", "\u017f").Replace(string(p)))
		case 6:
			p = slices.Concat(p, p)
		case 7:
			around := []byte(pick(w.choices, []string{"_", "a", "0", "é", " ", "\xff"}))
			p = slices.Concat(around, p, around)
		case 8:
			if len(rest) > 0 {
				p = slices.Clone(p)
				p[at] ^= 1 << w.below(8)
			}
		case 9:
			p = bytes.ToUpper(p)
		case 10:
			p = bytes.ToLower(p)
		case 11:
			if len(rest) > 0 {
				p = slices.Concat(p[:at], bytes.Map(swapCase, rest[:1]), rest[1:])
			}
		}
	}

	return p
}

func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}

	return unicode.ToUpper(r)
}

// maxSample bounds the length of a sample, in bytes, as far as the pattern
// leaves a choice.
const maxSample = 600

// sample appends to out a text that re matches, if what stands around it and
// its assertions agree.
func (w *writer) sample(re *syntax.Regexp, out []byte) []byte {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 {
				for range w.below(3) {
					r = unicode.SimpleFold(r)
				}
			}
			out = w.character(r, out)
		}
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			out = w.character(w.member(re.Rune), out)
		}
	case syntax.OpAnyCharNotNL:
		out = append(out, pick(w.choices, []string{"a", " ", "_", "k", "\xff", "é", "\x00", "😀", "\r"})...)
	case syntax.OpAnyChar:
		out = append(out, pick(w.choices, []string{"a", "\n", "_", "s", "\xff", "é", "\r\n"})...)
	case syntax.OpBeginLine, syntax.OpEndLine:
		out = append(out, pick(w.choices, []string{"", "", "\n"})...)
	case syntax.OpWordBoundary:
		out = append(out, pick(w.choices, []string{"", "", "", " "})...)
	case syntax.OpCapture:
		out = w.sample(re.Sub[0], out)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			out = w.sample(sub, out)
		}
	case syntax.OpAlternate:
		out = w.sample(pick(w.choices, re.Sub), out)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		out = w.times(re, out)
	}

	return out
}

// times repeats what a repetition repeats, often as few or as many times as it
// allows.
func (w *writer) times(re *syntax.Regexp, out []byte) []byte {
	least, most := 0, re.Max
	switch re.Op {
	case syntax.OpPlus:
		least, most = 1, -1
	case syntax.OpStar:
		most = -1
	case syntax.OpQuest:
		most = 1
	case syntax.OpRepeat:
		least = re.Min
	}
	if most < 0 {
		most = least + 20
	}
	n := least

	switch w.below(4) {
	case 1:
		n = least + w.below(most-least+1)
	case 2:
		n = most
	case 3:
		n = min(most, least+1)
	}

	for i := range n {
		if i >= least && len(out) > maxSample || len(out) > 8*maxSample {
			break
		}
		out = w.sample(re.Sub[0], out)
	}

	return out
}

// member chooses a character of a class, given as ranges: the ends of ranges,
// those that are often special, or any.
func (w *writer) member(ranges []rune) rune {
	i := 2 * w.below(len(ranges)/2)
	lo, hi := ranges[i], ranges[i+1]
	switch w.below(4) {
	case 0:
		for _, r := range "a0_ Zk" {
			if lo <= r && r <= hi {
				return r
			}
		}
	case 1:
		return hi
	case 2:
		return lo + rune(w.below(int(min(hi-lo, 255))+1))
	case 3:
		special := []rune{utf8.RuneError, '\u212a', '\u017f', '\n', 0, 'é', '\r'}
		if r := pick(w.choices, special); lo <= r && r <= hi {
			return r
		}
	}

	return lo
}

// character appends r; U+FFFD often as a byte that is not UTF-8.
func (w *writer) character(r rune, out []byte) []byte {
	if r == utf8.RuneError && !w.one(3) {
		return append(out, pick(w.choices, []byte{0xff, 0x80, 0xe2, 0xc0})) // bytes, not characters
	}

	return utf8.AppendRune(out, r)
}
