// Package ngram says how often a few neighbouring bytes occur in code.
//
// The engine looks for a rule in two steps: it looks everywhere for a window of
// about four bytes that every match of the rule has, and then, at the places
// where the window is, for the rule. Most rules offer several windows, and which
// one is taken decides how many places there are. innerHTML has six, here with
// their places in each MiB of code, letters without regard to case:
//
//	window     inne   nner   nerh   erht   rhtm   html
//	expected   19.0   53.8   1.09   0.92   0.25   69.8
//	actual     37.5   49.8   6.26   7.10   6.69    115
//
// To take the first one or the last one costs 6 to 18 times the visits of the
// third. Nobody needs exact rates for that, only their order, so a small table
// will do.
//
// # The idea
//
// A table of all windows of four bytes would have 2^32 entries. This one has
// three parts:
//
//   - Bytes are reduced to 64 symbols: a letter in either case is one, each
//     punctuation mark is one, all digits are one (see symbolOf). Bytes of one
//     symbol share its rate as they share its places.
//   - The rates of pairs and triples of symbols are known, as logarithms in a
//     byte each. Longer texts are put together: of all places of "ner", the part
//     that "h" follows at is taken to be what it is of all places of "er",
//     whatever was before, so
//     rate("nerh") = rate("ner") · rate("erh") / rate("er").
//     This is a Markov chain of second order.
//   - Code is full of words, and for a word the chain is wrong: of "er" at the
//     end of a word it can't know which word that was. The 24,000 sequences of
//     four symbols where it is most wrong, and that matters, have a correction:
//     a power of two from 1/256 to 256.
//
// A window of sets, `SK[0-9a-f]`, has the sum of the rates of all texts it stands
// for. Up to 512 texts of symbols are added up one by one. More are summed by a
// chain of first order, which knows only the symbol before; over so many texts
// that makes little difference.
//
// # Training
//
// The table is a file, table.bin. It was counted from text files up to 1 MiB,
// each content once, weighted so that files of one extension count for no more
// than 6 MiB: 67,744 files, which count for 149 MiB, of 58 public repositories
// (Go, Python, TypeScript, JavaScript, Java, Kotlin, PHP, Ruby, Rust, C, C++,
// shell, Terraform, YAML, Markdown and more) and of Go's own source. Nothing but
// counts is in it. The program that counted them is in the history of this
// repository, in internal/dev/ngramtrain.
//
// # What was measured
//
// On 168 MiB of 14 other repositories, of which nothing was in the training: 5,000
// names of 4 to 20 bytes, picked by hash among those that occur at ten places or
// more, with 13,387 different windows of four bytes.
//
//	                               chain    this   all windows
//	                               alone   table   of training
//	rank correlation with actual    0.68    0.80          0.81
//	median factor to actual         2.81    2.09          1.97
//	chosen within 2 x of best       72 %    83 %          86 %
//	hits per MiB of the chosen      23.2    14.0          13.7
//
// "Chosen" is the window of a name with the least expected rate, "best" the one
// with the least actual rate: 10.6 hits per MiB. Taking each name's last window
// gives 274. The last column is what a table of unlimited size would do, with
// every window of the training text in it. So the error that is left is not in
// the size of the table but in other code being different.
//
// Four exact bytes take 0.1 µs, larger windows up to 10 µs, and decoding the table
// about 2.5 ms, once. The file has 59 KiB, the table in memory 330 KiB.
package ngram

import (
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/prwarden/prwarden/internal/match/extract"
)

//go:embed table.bin
var embedded string

// committed is the table that is built in, decoded when it is first asked for.
var committed = sync.OnceValue(func() *table { return decode(embedded) })

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

	return uint8(symMark + strings.IndexByte(marks, b))
}

// The table's file is
//
//	header      7 bytes: "ngram", NUL, the format's version
//	levels      of the 256 bytes, the 64² pairs and the 64³ triples, a byte each
//	number      of corrections, a varint
//	quads       that are corrected, ascending: varints, the first as it is and
//	            each other one as its distance from the one before
//	steps       of the corrections, a byte each
//
// all after the header deflated. A level is a rate in eighths of an octave:
// level v is 2^((v-95)/8) places per MiB, and 0 is "not known" in the file.
const (
	header    = "ngram\x00\x02"
	perOctave = 8
	base      = 95 // the level of one place per MiB; 255 is 2^20, which is every place
)

const (
	pairs   = symbols * symbols
	triples = symbols * pairs

	levels = 256 + pairs + triples // bytes of a file's body before the corrections
)

// table is the trained rates, in the form in which they are looked up: 330 KiB.
type table struct {
	symbol [256]uint8
	share  [256]float32     // of a byte among the bytes of its symbol
	rate   [256]float32     // that a level stands for
	single [symbols]float32 // rate of a symbol
	pair   [pairs]float32   // rate of two
	triple [triples]uint8   // level of three

	// Corrections of four: those that begin with the pair ab are
	// fix[first[ab]:first[ab+1]], each cd<<4 | step, ascending.
	first [pairs + 1]uint16
	fix   []uint16
}

// decode reads a table's file. The file is a part of the program, so it panics
// when that is damaged; a test reads it.
func decode(file string) *table {
	body, err := io.ReadAll(flate.NewReader(strings.NewReader(strings.TrimPrefix(file, header))))
	if err != nil {
		panic(err)
	}

	var t table
	copy(t.triple[:], body[256+pairs:])
	for i := range t.rate {
		t.rate[i] = float32(math.Exp2((float64(i) - base) / perOctave))
	}

	t.divide(body[:256])
	t.fill(body[256:][:pairs])
	t.correct(body[levels:])

	return &t
}

// divide computes the rates of symbols, and each byte's share of its own. A line
// feed has none, as it is in no window, and upper-case letters are in none.
func (t *table) divide(levels []byte) {
	for i, level := range levels {
		s := symbolOf(byte(i))
		t.symbol[i] = s
		if level > 0 {
			t.single[s] += t.rate[level]
		}
	}
	for i, level := range levels {
		if level > 0 && i != '\n' {
			t.share[i] = t.rate[level] / t.single[t.symbol[i]]
		}
	}
}

// fill completes the pairs and triples. A pair that isn't known never occurred.
// A triple that isn't known is rare: its rate is taken to be ab · bc / b, as if
// c didn't depend on a, but not over the rarest known one.
func (t *table) fill(pair []byte) {
	rarest := math.MaxUint8
	for _, level := range t.triple {
		if level > 0 {
			rarest = min(rarest, int(level))
		}
	}
	var after [pairs]int // c after b: bc / b, in steps of a level
	for b := range symbols {
		single := int(max(math.Round(base+perOctave*math.Log2(float64(t.single[b]))), 1))
		for c := range symbols {
			bc := b*symbols + c
			after[bc] = -math.MaxUint8
			if level := pair[bc]; level > 0 {
				t.pair[bc] = t.rate[level]
				after[bc] = int(level) - single
			}
		}
	}
	for ab, level := range pair {
		if level == 0 {
			continue // its triples are never asked for
		}
		row, next := t.triple[ab*symbols:][:symbols], after[ab%symbols*symbols:][:symbols]
		for c, known := range row {
			row[c] = max(known, uint8(min(max(int(level)+next[c], 0), rarest))) // what is known is at least rarest
		}
	}
}

// correct reads the corrections.
func (t *table) correct(body []byte) {
	number := func() uint64 {
		n, size := binary.Uvarint(body)
		body = body[size:]

		return n
	}

	t.fix = make([]uint16, number())
	quad := uint64(0)
	for i := range t.fix {
		quad += number()
		t.fix[i] = uint16(quad % pairs << 4)
		t.first[quad/pairs+1] = uint16(i + 1)
	}

	for ab := range pairs {
		t.first[ab+1] = max(t.first[ab+1], t.first[ab])
	}
	for i, step := range body {
		t.fix[i] |= uint16(step)
	}
}

// correction is what the chain's rate of four symbols, ab and cd, is to be
// multiplied by: step s under 8 is 2^(s-8), from 8 on 2^(s-7), so never 1.
func (t *table) correction(ab, cd int) float32 {
	fix := t.fix[t.first[ab]:t.first[ab+1]]
	if len(fix) == 0 {
		return 1
	}
	i, _ := slices.BinarySearch(fix, uint16(cd<<4))
	if i == len(fix) || int(fix[i]>>4) != cd {
		return 1
	}
	octaves := int(fix[i]&15) - 8
	if octaves >= 0 {
		octaves++
	}

	return float32(math.Ldexp(1, octaves))
}

// Rate is the expected number of places per MiB of code at which a window of 1
// to 4 sets matches: each byte in its set, when ASCII letters are compared
// without regard to case. A line feed in a set counts for nothing. The first call
// decodes the table.
func Rate(window extract.Seq) float64 { return committed().sum(window) }

// maxTexts bounds the texts of symbols that a window is written out as.
const maxTexts = 512

// part is a symbol in a set, and the share of its bytes that the set has.
type part struct {
	symbol int
	share  float32
}

// parts is a set in symbols.
type parts struct {
	list [symbols]part
	n    int
}

func (p *parts) all() []part { return p.list[:p.n] }

// reduce writes a set as symbols.
func (t *table) reduce(set extract.Set, p *parts) {
	var place [symbols]uint8 // in the list, from 1
	set.Fold().Each(func(b byte) {
		s := t.symbol[b]
		if t.share[b] == 0 {
			return
		}
		if place[s] == 0 {
			p.list[p.n].symbol = int(s)
			p.n++
			place[s] = uint8(p.n)
		}
		p.list[place[s]-1].share += t.share[b]
	})
}

// sum adds up the rates of the texts that a window stands for.
func (t *table) sum(window extract.Seq) float64 {
	var list [4]parts
	of, texts := list[:len(window)], 1
	for i, set := range window {
		t.reduce(set, &of[i])
		texts *= of[i].n
	}
	if len(of) <= 2 || texts > maxTexts {
		return t.chain(of)
	}
	var sum float32
	for _, a := range of[0].all() {
		for _, b := range of[1].all() {
			ab := a.symbol*symbols + b.symbol
			sum += a.share * b.share * t.pair[ab] * t.after(of[2:], none, ab)
		}
	}

	return float64(sum)
}

// none is the pair before the first one.
const none = -1

// after is the part of the places with the pair ab, behind another pair or none,
// at which a text of the following sets comes next: abcd = abc · bcd / bc,
// corrected where that is known to be off.
func (t *table) after(of []parts, before, ab int) float32 {
	if len(of) == 0 {
		return 1
	}
	if t.pair[ab] == 0 {
		return 0
	}
	var sum float32
	for _, c := range of[0].all() {
		bc := ab%symbols*symbols + c.symbol
		part := t.rate[t.triple[ab*symbols+c.symbol]] / t.pair[ab]
		if before != none {
			part *= t.correction(before, bc)
		}
		sum += c.share * part * t.after(of[1:], ab, bc)
	}

	return sum
}

// chain is the sum where a symbol depends on the one before it only. One or two
// sets need no more.
func (t *table) chain(of []parts) float64 {
	var rates [symbols]float32 // of the texts so far, by their last symbol
	for _, a := range of[0].all() {
		rates[a.symbol] = t.single[a.symbol] * a.share
	}
	for i, after := range of[1:] {
		var next [symbols]float32
		for _, b := range of[i].all() {
			rate := rates[b.symbol] / t.single[b.symbol]
			for _, c := range after.all() {
				next[c.symbol] += rate * c.share * t.pair[b.symbol*symbols+c.symbol]
			}
		}
		rates = next
	}
	var sum float64
	for _, rate := range rates {
		sum += float64(rate)
	}

	return sum
}
