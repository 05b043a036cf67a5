// Package stagetest is what the tests of the engine's stages share: a notation
// for sequences of byte sets.
package stagetest

import (
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/match/extract"
)

// Show writes a sequence of sets for people: a byte by itself, a few in
// brackets, most as [^…], and any byte as a dot. Elements are separated by
// blanks; a blank itself is ␣, and the bytes of characters beyond ASCII are
// \x80 to \xff.
//
//	c o l o [ru] [\t␣=]
func Show(seq extract.Seq) string {
	parts := make([]string, len(seq))
	for i, set := range seq {
		parts[i] = showSet(set)
	}
	return strings.Join(parts, " ")
}

func showSet(set extract.Set) string {
	not := ""
	switch n := set.Len(); {
	case n == 256:
		return "."
	case n == 1:
		var one string
		set.Each(func(b byte) { one = showByte(b) })
		if one == "." || one == "[" || one == `\` {
			return `\` + one
		}
		return one
	case n > 128:
		not = "^"
		for i := range set {
			set[i] = ^set[i]
		}
	}
	var list []byte
	set.Each(func(b byte) { list = append(list, b) })
	var out strings.Builder
	for i := 0; i < len(list); {
		end := i
		for end+1 < len(list) && list[end+1] == list[end]+1 {
			end++
		}
		if end-i < 2 {
			end = i
			out.WriteString(showByte(list[i]))
		} else {
			out.WriteString(showByte(list[i]) + "-" + showByte(list[end]))
		}
		i = end + 1
	}
	return "[" + not + out.String() + "]"
}

func showByte(b byte) string {
	switch {
	case b == ' ':
		return "␣"
	case b > ' ' && b < 0x7F:
		return string(rune(b))
	}
	return strings.Trim(strconv.Quote(string([]byte{b})), `"`)
}

// Sets reads a short form of sequences: a byte stands for itself, \d for a
// digit, \h for a hexadecimal digit in lower case, \w for a letter, digit or
// underscore, \. for any byte, and \\ for a backslash.
func Sets(text string) extract.Seq {
	digits := extract.Range('0', '9')
	class := map[byte]extract.Set{
		'd':  digits,
		'h':  digits.Union(extract.Range('a', 'f')),
		'w':  digits.Union(extract.Range('a', 'z')).Union(extract.Range('A', 'Z')).Union(extract.SetOf('_')),
		'.':  extract.Range(0, 0xFF),
		'\\': extract.SetOf('\\'),
	}
	var seq extract.Seq
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			seq = append(seq, extract.SetOf(text[i]))
			continue
		}
		i++
		seq = append(seq, class[text[i]])
	}
	return seq
}

// Stands says whether a sequence stands in text at an offset.
func Stands(seq extract.Seq, text string, at int) bool {
	if at < 0 || at+len(seq) > len(text) {
		return false
	}
	for i := range seq {
		if !seq[i].Has(text[at+i]) {
			return false
		}
	}
	return true
}
