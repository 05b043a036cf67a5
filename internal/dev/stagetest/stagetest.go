// Package stagetest is what the tests of the engine's stages share: a notation
// for sequences of byte sets, and small random patterns and texts.
package stagetest

import (
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/match/byteset"
)

// Show writes a sequence of sets for people: a byte by itself, a few in
// brackets, most as [^…], and any byte as a dot. Elements are separated by
// blanks; a blank itself is ␣, and the bytes of characters beyond ASCII are
// \x80 to \xff.
//
//	c o l o [ru] [\t␣=]
func Show(seq []byteset.Set) string {
	parts := make([]string, len(seq))
	for i, set := range seq {
		parts[i] = showSet(set)
	}
	return strings.Join(parts, " ")
}

func showSet(set byteset.Set) string {
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
func Sets(text string) []byteset.Set {
	digits := byteset.Range('0', '9')
	class := map[byte]byteset.Set{
		'd':  digits,
		'h':  digits.Union(byteset.Range('a', 'f')),
		'w':  digits.Union(byteset.Range('a', 'z')).Union(byteset.Range('A', 'Z')).Union(byteset.Of('_')),
		'.':  byteset.Range(0, 0xFF),
		'\\': byteset.Of('\\'),
	}
	var seq []byteset.Set
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			seq = append(seq, byteset.Of(text[i]))
			continue
		}
		i++
		seq = append(seq, class[text[i]])
	}
	return seq
}

// Stands says whether a sequence stands in text at an offset.
func Stands(seq []byteset.Set, text string, at int) bool {
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

// Texts returns all texts of up to most letters, which may have several bytes
// each.
func Texts(letters []string, most int) []string {
	texts := []string{""}
	for from, n := 0, 0; n < most; n++ {
		end := len(texts)
		for _, text := range texts[from:end] {
			for _, letter := range letters {
				texts = append(texts, text+letter)
			}
		}
		from = end
	}
	return texts
}
