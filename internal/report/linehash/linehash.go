// Package linehash computes `primaryLocationLineHash`, the fingerprint by which
// GitHub code scanning recognises a result when lines move. It is the hash that
// the uploader of GitHub's own action adds to SARIF files without one, so both
// give the same alerts:
// https://github.com/github/codeql-action/blob/main/src/fingerprints.ts
//
// The text is read as JavaScript reads it, in UTF-16 code units, with U+FFFD for
// what is not UTF-8. Spaces and tabs don't count, and each of "\r\n", "\r" and
// "\n" is "\n". 0xFFFF stands for the end. A line's hash is of the 100 units from
// its first one on, also of those on later lines, with zeros behind the end: a
// polynomial in 37 modulo 2⁶⁴. Behind it, after a colon, is its number among the
// equal ones of the file.
//
// Such a hash hides nothing: whoever knows most of those units can compute the
// few others. So a Hash says what it is made of.
package linehash

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	factor = 37
	window = 100    // units that a hash is of
	eof    = 0xFFFF // the unit behind the text
)

// Hash is the hash of a line.
type Hash struct {
	Text       string // `hash:number`; empty when there is no such line
	Start, End int    // the bytes of the text that it is made of, End not included
}

// Of returns the hashes of the lines of a text with the given numbers, which
// count from 1 and ascend. Lines are counted as the uploader counts them: "\r"
// alone ends one, too.
func Of(text []byte, lines []int) []Hash {
	if len(lines) == 0 {
		return nil
	}
	h := hasher{
		wanted: lines, found: make([]Hash, 0, len(lines)),
		hashes: make([]uint64, 0, min(lines[len(lines)-1], len(text)+1)), overflow: 1,
	}
	for range window {
		h.overflow *= factor
	}
	h.read(text)
	return h.numbered()
}

// hasher reads a text. It keeps the hashes of all lines up to the last that is
// wanted, as equal ones are counted.
//
// There is one sum, of all units so far. A line's hash is the sum behind its last
// unit without the sum before its first, which has become overflow times as much
// meanwhile.
type hasher struct {
	wanted   []int
	found    []Hash   // of wanted, without Text
	hashes   []uint64 // by line
	overflow uint64   // factor to the power of window

	sum   uint64
	units int
	begun int             // lines that have
	open  [room]beginning // of those without a hash, each at its index modulo room
	due   int             // units behind which the first of them gets its hash
}

// room is for more lines than can be without a hash at once, and a power of two.
const room = 128

// beginning is what there is before a line.
type beginning struct {
	sum           uint64
	units, offset int
}

func (h *hasher) read(text []byte) {
	h.begin(0)
	for i := 0; i < len(text) && !h.done(); {
		// Nearly all that there is, so in few steps.
		sum, units := h.sum, h.units
		for ; i < len(text) && units < h.due; i++ {
			b := text[i]
			if b == ' ' || b == '\t' {
				continue
			}
			if b < ' ' || b >= utf8.RuneSelf {
				break
			}
			sum = factor*sum + uint64(b)
			units++
		}
		h.sum, h.units = sum, units
		switch {
		case units == h.due:
			h.end(i)
		case i < len(text):
			i = h.char(text, i)
		}
	}
	h.unit(eof, len(text))
	for range window {
		h.unit(0, len(text))
	}
}

func (h *hasher) done() bool { return len(h.found) == len(h.wanted) }

// char reads a character that does not just count, and returns the offset
// behind it.
func (h *hasher) char(text []byte, at int) int {
	r, size := utf8.DecodeRune(text[at:])
	switch {
	case r == '\r' || r == '\n':
		if r == '\r' && at+1 < len(text) && text[at+1] == '\n' {
			size = 2
		}
		h.unit('\n', at+size)
		h.begin(at + size)
		return at + size
	case r == utf8.RuneError && size == 1:
		size = broken(text[at:])
	}
	if first, second := utf16.EncodeRune(r); first != utf8.RuneError {
		h.unit(uint16(first), at+size)
		h.unit(uint16(second), at+size)
	} else {
		h.unit(uint16(r), at+size)
	}
	return at + size
}

// unit takes a unit, which ends before an offset.
func (h *hasher) unit(c uint16, end int) {
	h.sum = factor*h.sum + uint64(c)
	if h.units++; h.units == h.due {
		h.end(end)
	}
}

// begin begins a line at an offset.
func (h *hasher) begin(offset int) {
	h.open[h.begun%room] = beginning{h.sum, h.units, offset}
	h.begun++
	h.expect()
}

// end notes the hash of a line of which all units are there. They end before an
// offset.
func (h *hasher) end(offset int) {
	line := h.open[len(h.hashes)%room]
	h.hashes = append(h.hashes, h.sum-h.overflow*line.sum)
	if !h.done() && h.wanted[len(h.found)] == len(h.hashes) {
		h.found = append(h.found, Hash{Start: line.offset, End: offset})
	}
	h.expect()
}

// expect sets due.
func (h *hasher) expect() {
	h.due = math.MaxInt
	if len(h.hashes) < h.begun {
		h.due = h.open[len(h.hashes)%room].units + window
	}
}

// numbered returns what was found, with its texts.
func (h *hasher) numbered() []Hash {
	seen := make(map[uint64]int, len(h.found)) // only of those that are wanted
	for i := range h.found {
		seen[h.hashes[h.wanted[i]-1]] = 0
	}
	next := 0
	for i, hash := range h.hashes {
		if next == len(h.found) {
			break
		}
		n, ok := seen[hash]
		if !ok {
			continue
		}
		seen[hash] = n + 1
		if h.wanted[next] == i+1 {
			h.found[next].Text = strconv.FormatUint(hash, 16) + ":" + strconv.Itoa(n+1)
			next++
		}
	}
	return append(h.found, make([]Hash, len(h.wanted)-len(h.found))...)
}

// broken is the length of what one U+FFFD stands for at the start of a text that
// does not start with a character: as much as some character starts with
// (https://encoding.spec.whatwg.org/#utf-8-decoder).
func broken(text []byte) int {
	low, high := byte(0x80), byte(0xBF)
	more := 0 // bytes that the character would have after the first
	switch b := text[0]; {
	case b >= 0xC2 && b <= 0xDF:
		more = 1
	case b >= 0xE0 && b <= 0xEF:
		more = 2
		switch b {
		case 0xE0:
			low = 0xA0
		case 0xED:
			high = 0x9F
		}
	case b >= 0xF0 && b <= 0xF4:
		more = 3
		switch b {
		case 0xF0:
			low = 0x90
		case 0xF4:
			high = 0x8F
		}
	}
	n := 1
	for ; n <= more && n < len(text) && text[n] >= low && text[n] <= high; n++ {
		low, high = 0x80, 0xBF
	}
	return n
}
