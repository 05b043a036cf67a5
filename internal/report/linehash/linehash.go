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
	found := make([]Hash, len(lines))
	if len(lines) == 0 {
		return found
	}

	overflow := uint64(1) // what a unit is multiplied with until it leaves the window
	for range window {
		overflow *= factor
	}

	// A line's hash is the sum behind its window without the sum before it, which
	// has become overflow times as much meanwhile.
	u := read(text, lines[len(lines)-1])
	var before, behind uint64
	from, to, next := 0, 0, 0
	seen := make(map[uint64]int, len(u.lines))

	for i, line := range u.lines[:min(len(u.lines), lines[len(lines)-1])] {
		for ; from < line.unit; from++ {
			before = factor*before + uint64(u.values[from])
		}

		for ; to < line.unit+window; to++ {
			behind = factor*behind + uint64(u.values[to])
		}

		hash := behind - overflow*before
		seen[hash]++
		if next < len(lines) && lines[next] == i+1 {
			found[next] = Hash{
				Text:  strconv.FormatUint(hash, 16) + ":" + strconv.Itoa(seen[hash]),
				Start: line.offset, End: int(u.ends[line.unit+window-1]),
			}
			next++
		}
	}
	return found
}

// units are the code units of a text.
type units struct {
	values []uint16
	ends   []int32 // the byte after each
	lines  []lineStart
}

// lineStart is the first unit of a line, and the byte where the line starts.
type lineStart struct{ unit, offset int }

func (u *units) add(value uint16, end int) {
	u.values = append(u.values, value)
	u.ends = append(u.ends, int32(end))
}

// read reads as much of a text as the hashes of its first lines need.
func read(text []byte, lines int) units {
	most := len(text) + 1 + window
	u := units{values: make([]uint16, 0, most), ends: make([]int32, 0, most), lines: []lineStart{{}}}
	for at := 0; at < len(text); {
		end := at + 1
		switch c := text[at]; {
		case c == ' ' || c == '\t':
		case c == '\r' || c == '\n':
			if len(u.lines) > lines && len(u.values) >= u.lines[lines-1].unit+window {
				return u
			}
			if bytes.HasPrefix(text[at:], []byte("\r\n")) {
				end++
			}
			u.add('\n', end)
			u.lines = append(u.lines, lineStart{len(u.values), end})
		case c < utf8.RuneSelf:
			u.add(uint16(c), end)
		default:
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 {
				size = broken(text[at:])
			}

			end = at + size
			for _, value := range utf16.AppendRune(nil, r) {
				u.add(value, end)
			}
		}
		at = end
	}

	u.add(eof, len(text))
	for range window {
		u.add(0, len(text))
	}
	return u
}

// broken is the length of what one U+FFFD stands for at the start of a text that
// does not start with a character: as much as some character starts with
// (https://encoding.spec.whatwg.org/#utf-8-decoder).
func broken(text []byte) int {
	n := 1
	for n < len(text) && !utf8.FullRune(text[:n+1]) {
		n++
	}
	return n
}
