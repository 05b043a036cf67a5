package ngram

import (
	"math/bits"

	"github.com/prwarden/prwarden/internal/match/byteset"
)

// MaxWindow is the length of the longest window that is rated, in bytes.
const MaxWindow = 8

// Rate is the expected number of places per MiB of code at which window
// matches: each byte in its set, when ASCII letters are compared without regard
// to case. A line feed in a set counts for nothing. A window of no or over
// MaxWindow sets is a mistake of the caller, and panics. The first use of the
// package decodes the table.
func Rate(window []byteset.Set) float64 { return committed().rateOfSets(window) }

// mustFit panics unless windows may have n bytes.
func mustFit(n int) {
	if n < 1 || n > MaxWindow {
		panic("ngram: a window has 1 to 8 bytes")
	}
}

// rateOfBytes follows the chain abcd = abc · bcd / bc, corrected where that is
// known to be off.
func (t *table) rateOfBytes(window []byte) float64 {
	mustFit(len(window))
	rate := t.share[window[0]]
	for _, b := range window[1:] {
		rate *= t.share[b]
	}
	a := int(t.symbol[window[0]])
	if len(window) == 1 {
		return float64(rate * t.single[a])
	}
	before, ab := none, a*symbols+int(t.symbol[window[1]])
	rate *= t.pair[ab]
	for _, c := range window[2:] {
		var part float32
		part, before, ab = t.follow(before, ab, int(t.symbol[c]))
		rate *= part
	}

	return float64(rate)
}

// none is the pair before the first one.
const none = -1

// follow is the part of the places with the pair ab that c comes next at, when
// the pair before ab, one byte earlier, is known or none. It returns the two
// pairs for the next step.
func (t *table) follow(before, ab, c int) (part float32, nextBefore, bc int) {
	bc = ab%symbols*symbols + c
	if t.pair[ab] == 0 {
		return 0, ab, bc
	}
	part = t.rate[t.triple[ab*symbols+c]] / t.pair[ab]
	if before != none {
		part *= t.correction(before, bc)
	}

	return part, ab, bc
}

// part is a symbol in a set, and the share of its bytes that the set has.
type part struct {
	symbol uint32
	share  float32
}

// parts is a set in symbols.
type parts struct {
	list [symbols]part
	n    int
}

func (p *parts) all() []part { return p.list[:p.n] }

// reduce writes a set as symbols.
func (t *table) reduce(set *byteset.Set, p *parts) {
	var place [symbols]uint8 // in the list, from 1
	for at, word := range set {
		for ; word != 0; word &= word - 1 {
			b := at<<6 | bits.TrailingZeros64(word)
			share := t.share[b]
			if share == 0 {
				continue
			}
			s := t.symbol[b]
			if place[s] == 0 {
				p.list[p.n].symbol = uint32(s)
				p.n++
				place[s] = uint8(p.n)
			}
			p.list[place[s]-1].share += share
		}
	}
}

// maxTexts bounds the texts in symbols that a window is written out as.
const maxTexts = 64

// rateOfSets sums the chain over all texts that a window stands for: one by
// one while they are few; else by their last two symbols, without corrections,
// which would need four and even out over many texts.
func (t *table) rateOfSets(window []byteset.Set) float64 {
	mustFit(len(window))
	var folded [MaxWindow]byteset.Set
	for i, set := range window {
		folded[i] = set.Fold()
	}
	window = folded[:len(window)]
	if exact, ok := exactly(window); ok {
		return t.rateOfBytes(exact[:len(window)])
	}
	var of [MaxWindow]parts
	most, texts := 0, 1
	for i := range window {
		t.reduce(&window[i], &of[i])
		most = max(most, of[i].n)
		texts = min(texts*of[i].n, maxTexts+1)
	}
	switch {
	case len(window) == 1:
		var sum float32
		for _, a := range of[0].all() {
			sum += t.single[a.symbol] * a.share
		}

		return float64(sum)
	case texts <= maxTexts:
		return float64(t.each(of[:len(window)]))
	case most*most <= smallState:
		var state [2][smallState]float32
		return t.walk(of[:len(window)], state[0][:], state[1][:])
	default:
		var state [2][pairs]float32
		return t.walk(of[:len(window)], state[0][:], state[1][:])
	}
}

// exactly returns the bytes of a window whose sets have one each.
func exactly(window []byteset.Set) (exact [MaxWindow]byte, ok bool) {
	for i := range window {
		if window[i].Len() != 1 {
			return exact, false
		}
		for at, word := range window[i] {
			if word != 0 {
				exact[i] = byte(at<<6 | bits.TrailingZeros64(word))
			}
		}
	}

	return exact, true
}

// each is the sum over all texts of two symbols or more.
func (t *table) each(of []parts) float32 {
	var sum float32
	for _, a := range of[0].all() {
		for _, b := range of[1].all() {
			ab := int(a.symbol*symbols + b.symbol)
			sum += a.share * b.share * t.pair[ab] * t.rest(of[2:], none, ab)
		}
	}

	return sum
}

// rest is the part of the places with the pair ab at which a text of the
// following sets comes next.
func (t *table) rest(of []parts, before, ab int) float32 {
	if len(of) == 0 {
		return 1
	}
	var sum float32
	for _, c := range of[0].all() {
		part, before, bc := t.follow(before, ab, int(c.symbol))
		if part > 0 {
			sum += c.share * part * t.rest(of[1:], before, bc)
		}
	}

	return sum
}

// smallState is the number of pairs up to which less memory is cleared.
const smallState = 256

// maxTriples bounds the triples that are looked up to extend a window by one
// set. Over it the byte before the last one is forgotten: c follows ab as it
// follows b. With sets so large that makes little difference.
const maxTriples = 4096

// walk is the sum over all texts that two sets or more stand for, by dynamic
// programming: state[i,j] is the rate of the texts so far that end in symbol i
// of the last set but one and symbol j of the last set.
func (t *table) walk(of []parts, state, next []float32) float64 {
	first, last := of[0].all(), of[1].all()
	for i, a := range first {
		for j, b := range last {
			state[i*len(last)+j] = t.pair[a.symbol*symbols+b.symbol] * a.share * b.share
		}
	}
	for i := range of[2:] {
		after := of[2+i].all()
		if len(first)*len(last)*len(after) <= maxTriples {
			t.extend(first, last, after, state, next)
		} else {
			t.extendByLast(len(first), last, after, state, next)
		}
		first, last = last, after
		state, next = next, state
	}
	var sum float64
	for _, rate := range state[:len(first)*len(last)] {
		sum += float64(rate)
	}

	return sum
}

// extend puts into next[b,c] the sum over a of state[a,b] times the part of the
// places of ab that c follows at.
func (t *table) extend(first, last, after []part, state, next []float32) {
	clear(next[:len(last)*len(after)])
	for i, a := range first {
		for j, b := range last {
			ab := int(a.symbol*symbols + b.symbol)
			rate := state[i*len(last)+j]
			if rate == 0 {
				continue
			}
			rate /= t.pair[ab]
			row, sums := t.triple[ab*symbols:][:symbols], next[j*len(after):][:len(after)]
			for k, c := range after {
				sums[k] += rate * c.share * t.rate[row[c.symbol]]
			}
		}
	}
}

// extendByLast is extend with c following b, whatever was before it.
func (t *table) extendByLast(firsts int, last, after []part, state, next []float32) {
	for j, b := range last {
		var rate float32
		for i := range firsts {
			rate += state[i*len(last)+j]
		}
		if rate > 0 {
			rate /= t.single[b.symbol]
		}
		for k, c := range after {
			next[j*len(after)+k] = rate * c.share * t.pair[b.symbol*symbols+c.symbol]
		}
	}
}

// symbols is the size of the alphabet that bytes are reduced to.
const symbols = 64

// The order is of no meaning, except that it is part of the table's format.
const (
	symControl  = iota // line feed, carriage return and all other ASCII controls but tab
	symTab             //
	symDigit           // 0 to 9
	symTrailing        // 0x80 to 0xbf: the bytes of a UTF-8 character after its first
	symLeading         // 0xc0 to 0xff: the first byte of a UTF-8 character
	symLetter          // and the 25 after it: a to z, and A to Z like them
	symMark     = symLetter + 26
)

// marks are the bytes that have a symbol each, beginning at symMark.
const marks = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// symbolOf returns the symbol of a byte. Upper-case letters have that of their
// lower-case ones.
func symbolOf(b byte) uint8 {
	switch {
	case b == '\t':
		return symTab
	case b < ' ' || b == 0x7f:
		return symControl
	case '0' <= b && b <= '9':
		return symDigit
	case 'a' <= b && b <= 'z':
		return symLetter + b - 'a'
	case 'A' <= b && b <= 'Z':
		return symLetter + b - 'A'
	case b >= 0xc0:
		return symLeading
	case b >= 0x80:
		return symTrailing
	}
	for i := range len(marks) {
		if marks[i] == b {
			return uint8(symMark + i)
		}
	}
	panic("ngram: a byte has no symbol")
}

// fold returns the lower-case letter of an upper-case one, and any other byte
// as it is.
func fold(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}

	return b
}
