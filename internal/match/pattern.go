package match

import (
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"strings"
	"unicode/utf16"
)

const (
	// MaxPattern is the length of a pattern, in bytes.
	MaxPattern = 1024
	// MaxProgram is the number of instructions of a compiled pattern.
	MaxProgram = 2000
)

// CheckPattern says what is wrong with a pattern and where, or nothing. A
// pattern is a regular expression in Go's syntax (RE2) of 1 to MaxPattern
// bytes that compiles to at most MaxProgram instructions, and every match of
// it has at least one byte. Places are given in bytes from 1.
func CheckPattern(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("must not be empty")
	case len(pattern) > MaxPattern:
		return fmt.Errorf("has %d bytes; at most %d are allowed", len(pattern), MaxPattern)
	case strings.ContainsRune(pattern, 0):
		return fmt.Errorf("has a NUL at byte %d; write \\x00", strings.IndexByte(pattern, 0)+1)
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return explain(pattern, err)
	}
	if r, ok := surrogate(re); ok {
		return fmt.Errorf("has \\x{%X}, half of a UTF-16 pair, which is no character and in no text", r)
	}
	if minLength(re) == 0 {
		return errors.New("can match the empty string (as a*, ^ and \\b do), so it would fire on every line; make " +
			"some part of it required")
	}
	size := programSize(re)
	if size <= 10*MaxProgram { // near enough to count
		prog, err := syntax.Compile(re.Simplify())
		if err != nil {
			return explain(pattern, err)
		}
		size = len(prog.Inst)
	}
	if size > MaxProgram {
		return fmt.Errorf(
			"compiles to %d instructions; at most %d are allowed: lower the counts of its {n,m} repetitions", size,
			MaxProgram,
		)
	}
	return nil
}

// explain turns an error of regexp/syntax into a sentence that says where.
func explain(pattern string, err error) error {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return fmt.Errorf("is not a valid regular expression: %w", err)
	}
	at := place(pattern, se)
	where := ""
	if at >= 0 {
		where = fmt.Sprintf("at byte %d: ", at+1)
	}
	rest := ""
	if at >= 0 {
		rest = pattern[at:]
	}
	for _, hint := range []struct{ prefix, text string }{
		{"(?=", "lookahead (?=…) is not supported"},
		{"(?!", "negative lookahead (?!…) is not supported"},
		{"(?<=", "lookbehind (?<=…) is not supported"},
		{"(?<!", "negative lookbehind (?<!…) is not supported"},
		{"(?>", "the atomic group (?>…) is not supported"},
		{"(?#", "the comment (?#…) is not supported"},
		{"(?P=", "the backreference (?P=…) is not supported"},
		{`\k`, `the backreference \k is not supported`},
		{`\g`, `the backreference \g is not supported`},
		{`\Z`, `\Z is not supported; write \z or $`},
	} {
		if strings.HasPrefix(rest, hint.prefix) {
			return fmt.Errorf("%s%s: patterns are RE2, without lookaround and backreferences", where, hint.text)
		}
	}
	if len(rest) > 1 && rest[0] == '\\' && rest[1] >= '1' && rest[1] <= '9' {
		return fmt.Errorf(
			"%sthe backreference \\%c is not supported: patterns are RE2, without lookaround and backreferences", where,
			rest[1],
		)
	}
	if se.Code == syntax.ErrInvalidRepeatSize {
		return fmt.Errorf(
			"%s%s: a count is at most 1000, and so is the product of the counts of nested repetitions", where, se.Expr,
		)
	}
	if at >= 0 && se.Expr != pattern && se.Expr != "" {
		return fmt.Errorf("%s%s: %s", where, se.Code, se.Expr)
	}
	return fmt.Errorf("%s%s", where, se.Code)
}

// place returns the offset in pattern of what an error is about, or -1 when it
// is about the whole. The parser does not say, so it is found by cutting the
// pattern shorter until the mistake is gone.
func place(pattern string, want *syntax.Error) int {
	switch want.Code {
	case syntax.ErrMissingParen:
		return unclosed(pattern)
	case syntax.ErrLarge, syntax.ErrNestingDepth, syntax.ErrInvalidUTF8, syntax.ErrInternalError:
		return -1
	}
	// The parser stops at its first mistake, so every longer beginning of the
	// pattern has the same one.
	end := len(pattern)
	for ; end > 0; end-- {
		_, err := syntax.Parse(pattern[:end-1], syntax.Perl)
		var se *syntax.Error
		if !errors.As(err, &se) || se.Code != want.Code {
			break
		}
		if want.Code != syntax.ErrUnexpectedParen && se.Expr != want.Expr {
			break
		}
	}
	if want.Code == syntax.ErrUnexpectedParen {
		return end - 1
	}
	return end - len(want.Expr)
}

// unclosed returns the offset of the last `(` without its `)`, or -1.
func unclosed(pattern string) int {
	var open []int
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if strings.HasPrefix(pattern[i+1:], "^") {
				i++
			}
			if strings.HasPrefix(pattern[i+1:], "]") { // first in a class, it stands for itself
				i++
			}
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}

// surrogate returns a code point of a pattern's literals that UTF-8 can't have.
func surrogate(re *syntax.Regexp) (r rune, ok bool) {
	if re.Op == syntax.OpLiteral {
		for _, r := range re.Rune {
			if utf16.IsSurrogate(r) {
				return r, true
			}
		}
	}
	for _, sub := range re.Sub {
		if r, ok := surrogate(sub); ok {
			return r, true
		}
	}
	return 0, false
}

// minLength is the least number of characters of a match of re, ignoring what
// assertions demand; math.MaxInt32 when nothing matches.
func minLength(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpNoMatch:
		return math.MaxInt32
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return math.MaxInt32
		}
		return 1
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return minLength(re.Sub[0])
	case syntax.OpRepeat:
		return min(re.Min*minLength(re.Sub[0]), math.MaxInt32)
	case syntax.OpConcat:
		sum := 0
		for _, sub := range re.Sub {
			sum = min(sum+minLength(sub), math.MaxInt32)
		}
		return sum
	case syntax.OpAlternate:
		least := math.MaxInt32
		for _, sub := range re.Sub {
			least = min(least, minLength(sub))
		}
		return least
	}
	return 0
}

// programSize estimates from above the number of instructions that re compiles
// to, without compiling it: that would take memory in proportion.
func programSize(re *syntax.Regexp) int { return min(2+exprSize(re), math.MaxInt32) }

func exprSize(re *syntax.Regexp) int {
	sum := 0
	for _, sub := range re.Sub {
		sum = min(sum+exprSize(sub), math.MaxInt32)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCapture:
		return sum + 2
	case syntax.OpRepeat:
		size := max(re.Min, 1)*sum + 1 // x{n,} is n-1 copies and x+
		if re.Max >= 0 {
			size = max(re.Min*sum+(re.Max-re.Min)*(sum+1), 1) // n copies and m-n times x?
		}
		return min(size, math.MaxInt32)
	case syntax.OpAlternate:
		return sum + len(re.Sub)
	case syntax.OpConcat:
		return sum
	}
	return sum + 1
}
