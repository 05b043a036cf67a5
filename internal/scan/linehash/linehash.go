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
	h := hasher{wanted: lines, found: make([]Hash, 0, len(lines)), overflow: 1, fresh: true}
	for range window {
		h.overflow *= factor
	}
	h.read(text)
	return h.numbered()
}

// hasher reads a text. It keeps the hashes of all lines up to the last that is
// wanted, as equal ones are counted.
type hasher struct {
	wanted   []int
	found    []Hash   // of wanted, without Text
	hashes   []uint64 // by line
	overflow uint64   // factor to the power of window

	hash    uint64
	units   [window]uint16
	at      int            // of the next unit in units
	begins  [window]uint32 // 1 + the offset of the line that begins at a unit; 0 when none does
	fresh   bool           // the next unit begins a line
	afterCR bool
}

func (h *hasher) read(text []byte) {
	for i := 0; i < len(text); {
		if h.done() {
			return
		}
		if b := text[i]; b < utf8.RuneSelf {
			h.char(uint16(b), i)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			size = broken(text[i:])
		}
		if first, second := utf16.EncodeRune(r); first != utf8.RuneError {
			h.char(uint16(first), i)
			h.char(uint16(second), i)
		} else {
			h.char(uint16(r), i)
		}
		i += size
	}
	h.char(eof, len(text))
	for range window {
		h.flush(len(text))
		h.unit(0)
	}
}

func (h *hasher) done() bool { return len(h.found) == len(h.wanted) }

// char takes a unit of the text, which is at an offset.
func (h *hasher) char(c uint16, offset int) {
	if c == ' ' || c == '\t' || h.afterCR && c == '\n' {
		h.afterCR = false
		return
	}
	if h.afterCR = c == '\r'; h.afterCR {
		c = '\n'
	}
	h.flush(offset)
	if h.fresh {
		h.begins[h.at] = uint32(offset) + 1
	}
	h.fresh = c == '\n'
	h.unit(c)
}

// flush notes the hash of a line of which there are as many units as count. What
// is at offset is not one of them.
func (h *hasher) flush(offset int) {
	begin := h.begins[h.at]
	if begin == 0 {
		return
	}
	h.begins[h.at] = 0
	h.hashes = append(h.hashes, h.hash)
	if !h.done() && h.wanted[len(h.found)] == len(h.hashes) {
		h.found = append(h.found, Hash{Start: int(begin) - 1, End: offset})
	}
}

func (h *hasher) unit(c uint16) {
	h.hash = factor*h.hash + uint64(c) - h.overflow*uint64(h.units[h.at])
	h.units[h.at] = c
	if h.at++; h.at == window {
		h.at = 0
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
