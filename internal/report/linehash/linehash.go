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
	"bytes"
	"math"
	"slices"
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
		wanted: lines, found: make([]Hash, 0, len(lines)), overflow: 1,
		hashes: make([]uint64, 0, min(lines[len(lines)-1], len(text)+1)),
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
	open  []lineStart // of the lines that have no hash yet, at most a window of them
}

// lineStart is what there is before a line.
type lineStart struct {
	sum           uint64
	units, offset int
}

func (h *hasher) read(text []byte) {
	h.open = append(h.open, lineStart{})
	for at := h.plain(text, 0); at < len(text) && len(h.found) < len(h.wanted); at = h.plain(text, at) {
		r, size := utf8.DecodeRune(text[at:])
		end := at + size

		switch {
		case r == ' ' || r == '\t':
		case r == '\r' || r == '\n':
			if bytes.HasPrefix(text[at:], []byte("\r\n")) {
				end++
			}
			h.unit('\n', end)
			h.open = append(h.open, lineStart{h.sum, h.units, end})
		case r == utf8.RuneError && size == 1:
			end = at + broken(text[at:])
			h.unit(utf8.RuneError, end)
		case r < 0x10000:
			h.unit(uint16(r), end)
		default:
			first, second := utf16.EncodeRune(r)
			h.unit(uint16(first), end)
			h.unit(uint16(second), end)
		}
		at = end
	}

	h.unit(eof, len(text))
	for range window {
		h.unit(0, len(text))
	}
}

// plain takes the ASCII from an offset on, which is nearly all that there is, up
// to where a line ends or gets its hash. It returns the offset of the rest.
func (h *hasher) plain(text []byte, at int) int {
	due := math.MaxInt
	if len(h.open) > 0 {
		due = h.open[0].units + window
	}

	sum, units := h.sum, h.units
	for ; at < len(text) && units+1 < due; at++ {
		c := text[at]
		if c == ' ' || c == '\t' {
			continue
		}
		if c < ' ' || c >= utf8.RuneSelf {
			break
		}
		sum = factor*sum + uint64(c)
		units++
	}
	h.sum, h.units = sum, units
	return at
}

// unit takes a unit, which ends before an offset. It may be the last one of the
// first line that is open.
func (h *hasher) unit(c uint16, end int) {
	h.sum = factor*h.sum + uint64(c)
	h.units++
	if len(h.open) == 0 || h.units < h.open[0].units+window {
		return
	}

	line := h.open[0]
	h.open = slices.Delete(h.open, 0, 1) // keeps its memory
	h.hashes = append(h.hashes, h.sum-h.overflow*line.sum)
	if n := len(h.found); n < len(h.wanted) && h.wanted[n] == len(h.hashes) {
		h.found = append(h.found, Hash{Start: line.offset, End: end})
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
		n, ok := seen[hash]
		if next == len(h.found) || !ok {
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
