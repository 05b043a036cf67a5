// Package spelling finds misspelt English words in lines of text. It knows the common ones, and
// common words with a letter too many, too few or in the wrong place; it has no list of all the
// words that are right.
package spelling

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"

	"github.com/golangci/misspell"

	"github.com/prwarden/prwarden/internal/match"
)

// Bounds of the words of a List.
const (
	MinWord = 3  // letters; the shortest common misspelling has so many
	MaxWord = 50 // letters
)

// List is misspelt words and what is right. The zero List has the common ones. It is
// immutable and safe for concurrent use.
type List struct{ own words }

// NewList has words of one's own beside the common ones and instead of them: from what
// is wrong to what is right, as IsWord and IsRight have them. The map must not be changed
// afterwards.
func NewList(own map[string]string) List { return List{wordsOf(own)} }

// common are the misspelt words that are no rule's own: about 28,000 of a list, and 19,000
// variants of common words. They take 3 MB, so they are made when they are needed first, once
// for all rules.
var common = sync.OnceValue(func() words {
	right := make(map[string]string, 48_000)
	addListed(right)
	addVariants(right)

	return wordsOf(right)
})

// addListed adds the misspelt words that everybody knows.
func addListed(right map[string]string) {
	list := misspell.DictMain
	for i := 0; i+1 < len(list); i += 2 {
		if IsWord(list[i]) && IsRight(list[i+1]) { // else, in ten pairs, it is more than words
			right[list[i]] = list[i+1]
		}
	}
}

// words are misspelt words with what is right, and what tells most others at once.
type words struct {
	right  map[string]string
	filter []uint64 // bits by hash; a power of 2 of them, at least 16 for each word
	shift  int      // from a hash to the number of a bit
}

func wordsOf(right map[string]string) words {
	w := words{right: right, shift: 26}
	for 1<<(32-w.shift) < 16*len(right) {
		w.shift--
	}
	w.filter = make([]uint64, 1<<(32-w.shift-6))
	for wrong := range right {
		bit := hashOf([]byte(wrong), 0, len(wrong)) >> w.shift
		w.filter[bit/64] |= 1 << (bit % 64)
	}

	return w
}

// mayHave reports whether a word of a hash may be misspelt.
func (w words) mayHave(hash uint32) bool {
	bit := hash >> w.shift

	return len(w.filter) > 0 && w.filter[bit/64]>>(bit%64)&1 > 0
}

// hashOf is the hash of a word of a text, in any case. It is made of the first and the last
// 8 letters.
func hashOf(text []byte, from, to int) uint32 {
	const blanks, prime = 0x2020202020202020, 0x9E3779B97F4A7C15
	n := to - from
	first := uint64(0)
	if from+8 <= len(text) {
		first = binary.LittleEndian.Uint64(text[from:])
	} else {
		for i, c := range text[from:] {
			first |= uint64(c) << (8 * i)
		}
	}
	if n < 8 {
		first &= 1<<(8*n) - 1
	}
	last := first
	if n > 8 {
		last = binary.LittleEndian.Uint64(text[to-8:])
	}

	return uint32(((first|blanks)*prime ^ bits.RotateLeft64(last|blanks, 29) + uint64(n)) * prime >> 32)
}

// IsWord reports whether a text can be a misspelt word of a List: MinWord to MaxWord
// lower-case letters of ASCII.
func IsWord(text string) bool {
	return len(text) >= MinWord && len(text) <= MaxWord && strings.Trim(text, letters) == ""
}

// IsRight reports whether a text can be what is right in a List: words of lower-case letters
// of ASCII, with apostrophes and hyphens inside, and blanks between them, of at most MaxWord
// bytes.
func IsRight(text string) bool {
	return text != "" && len(text) <= MaxWord && strings.Trim(text, letters+"'- ") == "" &&
		strings.Trim(text, "'- ") == text
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// Right is how a word is spelt, in the case in which it is written; ok is false for a word
// that isn't known to be wrong.
func (l List) Right(word []byte) (right string, ok bool) {
	if len(word) < MinWord || len(word) > MaxWord {
		return "", false
	}
	var lower [MaxWord]byte
	n := copyLower(lower[:], word)
	if right, ok = l.own.right[string(lower[:n])]; !ok {
		right, ok = common().right[string(lower[:n])]
	}
	switch {
	case !ok || word[0] >= 'a':
	case word[1] >= 'a':
		right = strings.ToUpper(right[:1]) + right[1:]
	default:
		right = strings.ToUpper(right)
	}

	return right, ok
}

// What a byte is for words.
const (
	letter = 1 << iota
	before // a word may begin behind it
	behind // a word may end before it
)

var class = func() (all [256]byte) {
	for _, c := range []byte(letters) {
		all[c], all[c-0x20] = letter, letter
	}
	for _, c := range []byte(" \t\n(\"'`*/") {
		all[c] |= before
	}
	for _, c := range []byte(" \t\r\n,;:.!?)") {
		all[c] |= behind
	}

	return all
}()

// minUpper is how many letters a word has, at least, that is all upper case: shorter ones are
// names and abbreviations.
const minUpper = 5

// Next implements match.Finder: it finds misspelt words of lines that may be English.
//
// A word is letters of ASCII in lower case, the first of which may be in upper case, or all
// when they are minUpper or more. Before it is a blank or one of ("'`*/, and behind it a blank,
// one of ,;:!?) or a full stop with a blank behind it; the ends of the line count as blanks. So
// identifiers, paths and addresses aren't words.
func (l List) Next(text []byte, at, end int) (word match.Span, work int, ok bool) {
	all := common()
	for i := at; i < end; {
		runs, next := lettersAt(text, i, end), min(i+64, end)
		for runs != 0 {
			rest := runs + runs&-runs // the lowest run carries into the bit behind it
			first, last := bits.TrailingZeros64(runs), bits.TrailingZeros64(rest)
			if last == 64 && first > 0 { // it may go on
				next = i + first

				break
			}
			runs &= rest
			from, to := i+first, i+last
			if to-from < MinWord || to-from > MaxWord || !mayBeBounded(text, from, to) {
				continue
			}
			hash := hashOf(text, from, to)
			if !all.mayHave(hash) && !l.own.mayHave(hash) || !isBounded(text, from, to) || !isCased(text[from:to]) {
				continue
			}
			if _, ok := l.Right(text[from:to]); !ok {
				continue
			}
			work += 2 * reach
			start, behind := lineAround(text, from, to)
			if isEnglish(text[start:behind], from-start) {
				return match.Span{Start: from, End: to}, work + to - at, true
			}
			next = min(behind, end) // so that none is looked at again and again

			break
		}
		i = next
	}

	return word, work + end - at, false
}

// lettersAt has a bit for each of the 64 bytes of a text from an offset on that is a letter and
// before end: the lowest bit for the first byte.
func lettersAt(text []byte, at, end int) (letters uint64) {
	const each = 0x0101010101010101
	block := text[at:]
	if len(block) < 64 {
		var last [64]byte
		copy(last[:], block)
		block = last[:]
	}
	for i := 0; i < 64; i += 8 {
		bytes := binary.LittleEndian.Uint64(block[i:])
		lower := (bytes | 0x20*each) & (0x7F * each)
		is := (lower + (0x80-'a')*each) &^ (lower + (0x80-'z'-1)*each) &^ bytes & (0x80 * each)
		letters |= is >> 7 * 0x0102040810204080 >> 56 << i
	}

	return letters & (1<<(end-at) - 1)
}

// lineAround is the part of the line of a word that is looked at around it.
func lineAround(text []byte, from, to int) (start, end int) {
	start, end = max(0, from-reach), min(to+reach, len(text))
	if i := bytes.LastIndexByte(text[start:from], '\n'); i >= 0 {
		start += i + 1
	}
	if i := bytes.IndexByte(text[to:end], '\n'); i >= 0 {
		end = to + i
	}

	return start, end
}

// isCased reports whether a run of letters is a word by its case.
func isCased(word []byte) bool {
	upper := 0
	for _, c := range word {
		if c < 'a' {
			upper++
		}
	}

	return upper == 0 || upper == 1 && word[0] < 'a' || upper == len(word) && upper >= minUpper
}

// isBounded reports whether a run of letters is a word by what is around it.
func isBounded(line []byte, from, to int) bool { return mayBeBounded(line, from, to) && ends(line, to) }

// mayBeBounded reports whether a run of letters may be a word by one byte before and behind it.
func mayBeBounded(line []byte, from, to int) bool {
	first, last := byte('\n'), byte('\n')
	if from > 0 {
		first = line[from-1]
	}
	if to < len(line) {
		last = line[to]
	}

	return class[first]&before|class[last]&behind == before|behind // one branch, which is seldom foreseen
}

// ends reports whether a word may end at an offset of a line.
func ends(line []byte, at int) bool {
	if at == len(line) {
		return true
	}
	next := byte(' ')
	if at+1 < len(line) {
		next = line[at+1]
	}
	switch line[at] {
	case '.':
		return next == ' ' || next == '\t' || next == '\r' || next == '\n'
	case '!', '?': // not those of x!.y and x?.y
		return next != '.'
	}

	return class[line[at]]&behind != 0
}
