package ruleset

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// errUntranslatable is why a pattern can't be given to an engine of bytes.
var errUntranslatable = errors.New("needs runes over U+007F in a class")

// ByteSyntax writes a pattern for an engine of bytes, such as vectorscan, so that
// it matches on the same lines of a whole file: neither class nor dot takes a
// line feed, and what means the ends of a text or line is written ^ and $ and is
// to mean those of a line. A class that has every rune over U+007F takes every
// such byte; the two that case folding adds to ASCII letters, U+017F and U+212A,
// are left out; a class with other ones has no translation.
//
// A carriage return at the end of a line belongs to the line for such an engine
// and not for prwarden.
func ByteSyntax(pattern string) (string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	t := translator{}
	t.write(re)
	return t.String(), t.err
}

type translator struct {
	strings.Builder
	err error
}

func (t *translator) write(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		t.err = errors.New("matches nothing")
	case syntax.OpEmptyMatch:
		t.WriteString("(?:)")
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			t.WriteString("(?i:")
			defer t.WriteString(")")
		}
		for _, r := range re.Rune {
			if r == '\n' {
				t.err = errors.New("needs a line feed")
			}
			for _, b := range utf8.AppendRune(nil, r) {
				t.WriteString(escape(b))
			}
		}
	case syntax.OpCharClass:
		t.class(re.Rune)
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		t.WriteString(`[^\n]`)
	case syntax.OpBeginLine, syntax.OpBeginText:
		t.WriteString("^")
	case syntax.OpEndLine, syntax.OpEndText:
		t.WriteString("$")
	case syntax.OpWordBoundary:
		t.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		t.WriteString(`\B`)
	case syntax.OpCapture:
		t.group(re.Sub[0], "")
	case syntax.OpStar:
		t.group(re.Sub[0], "*")
	case syntax.OpPlus:
		t.group(re.Sub[0], "+")
	case syntax.OpQuest:
		t.group(re.Sub[0], "?")
	case syntax.OpRepeat:
		switch {
		case re.Max < 0:
			t.group(re.Sub[0], fmt.Sprintf("{%d,}", re.Min))
		case re.Max == re.Min:
			t.group(re.Sub[0], fmt.Sprintf("{%d}", re.Min))
		default:
			t.group(re.Sub[0], fmt.Sprintf("{%d,%d}", re.Min, re.Max))
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			t.write(sub)
		}
	case syntax.OpAlternate:
		t.WriteString("(?:")
		for i, sub := range re.Sub {
			if i > 0 {
				t.WriteString("|")
			}
			t.write(sub)
		}
		t.WriteString(")")
	}
}

// group writes re, followed by an operator that is to apply to all of it.
func (t *translator) group(re *syntax.Regexp, operator string) {
	if re.Op == syntax.OpCharClass || re.Op == syntax.OpAnyCharNotNL || re.Op == syntax.OpAnyChar {
		t.write(re)
	} else {
		t.WriteString("(?:")
		t.write(re)
		t.WriteString(")")
	}
	t.WriteString(operator)
}

func (t *translator) class(ranges []rune) {
	var in [256]bool
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		for r := lo; r <= hi && r < utf8.RuneSelf; r++ {
			in[r] = r != '\n'
		}
		lo = max(lo, utf8.RuneSelf)
		switch {
		case hi < utf8.RuneSelf, lo == hi && (lo == 'ſ' || lo == '\u212a'):
		case lo == utf8.RuneSelf && hi == utf8.MaxRune:
			for b := utf8.RuneSelf; b < 256; b++ {
				in[b] = true
			}
		default:
			t.err = errUntranslatable
			return
		}
	}
	t.WriteString("[")
	empty := true
	for b := 0; b < 256; b++ {
		if !in[b] {
			continue
		}
		empty = false
		end := b
		for end < 255 && in[end+1] {
			end++
		}
		t.WriteString(escape(byte(b)))
		if end > b {
			t.WriteString("-" + escape(byte(end)))
		}
		b = end
	}
	t.WriteString("]")
	if empty {
		t.err = errors.New("matches only line feeds")
	}
}

// escape writes one byte of a pattern.
func escape(b byte) string {
	if b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' {
		return string(rune(b))
	}
	return fmt.Sprintf(`\x%02x`, b)
}
