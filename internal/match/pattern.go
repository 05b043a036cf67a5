package match

import (
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/prwarden/prwarden/internal/match/choose"
	"github.com/prwarden/prwarden/internal/match/confirm"
	"github.com/prwarden/prwarden/internal/match/extract"
	"github.com/prwarden/prwarden/internal/match/ngram"
	"github.com/prwarden/prwarden/internal/match/parse"
)

const (
	// MaxPattern is the length of a pattern, in bytes.
	MaxPattern = 1024
	// MaxProgram is the number of instructions of a compiled pattern.
	MaxProgram = 2000
	// MaxRanges is the number of ranges of characters in a pattern's classes:
	// [a-z0-9] has two, \pL 659.
	MaxRanges = 10_000
	// MaxExpandedRanges is that number where a class counts as often as a repetition
	// has it copied.
	MaxExpandedRanges = 200_000
)

// CheckPattern says what is wrong with a pattern and where, or nothing. A
// pattern is a regular expression in Go's syntax (RE2) of 1 to MaxPattern
// bytes that compiles to at most MaxProgram instructions, its classes have at most
// MaxRanges and MaxExpandedRanges ranges, and every match of it has at least one
// byte. Places are given in bytes from 1.
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
	if err := checkRanges(confirm.RangesOf(re)); err != nil {
		return err
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

func checkRanges(r confirm.Ranges) error {
	switch {
	case r.Tree > MaxRanges:
		return fmt.Errorf("has classes of %d ranges of characters in all; at most %d are allowed: a class such as \\pL "+
			"has hundreds, so use fewer of them", r.Tree, MaxRanges)
	case r.Expanded > MaxExpandedRanges:
		return fmt.Errorf("has classes that its repetitions expand to %d ranges of characters; at most %d are allowed: "+
			"lower the counts of the repetitions of classes such as \\pL", r.Expanded, MaxExpandedRanges)
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

// Cost is what a rule is expected to cost on code of all kinds, from how often
// the bytes occur in it that the rule is found by. It does not depend on the
// machine.
type Cost struct {
	// Stops is how often the engine stops for the rule in a MiB of code to look
	// closer. A word of eight letters costs about ten, three letters a thousand.
	Stops float64
	// Weak says that the rule has nothing that the engine could look for, so
	// that it is tried on every line, or on every file when it is multiline.
	Weak bool
	// By is the text that the rule is found by or, when there are several, that
	// which is met more often than all others: at most 40 characters of printable
	// ASCII, letters in lower case where either case is looked for. It is empty
	// when there is no such text: the rule is weak, found by many, or by classes,
	// as `[0-9]{4}` is.
	By string
}

// stopTime is what a stop costs about, measured.
const stopTime = 40 * time.Nanosecond

// weakTime is what a weak rule costs about in a MiB, measured.
const weakTime = 3 * time.Millisecond

// Time is about how long the rule takes for a MiB of code, on one core of a
// machine of 2025.
func (c Cost) Time() time.Duration {
	if c.Weak {
		return weakTime
	}

	return time.Duration(c.Stops * float64(stopTime))
}

// CostOf estimates what a pattern costs that is valid by CheckPattern. It takes
// as long as compiling the rule: mostly 0.1 ms, and 20 ms for the worst patterns
// known.
func CostOf(pattern string, multiline bool) (Cost, error) {
	p, err := parse.Parse(pattern, multiline)
	if err != nil || p.Never {
		return Cost{}, err
	}
	c := choose.Best(extract.Extract(p.Tree, choose.Cost).Clauses)

	return Cost{Stops: c.Price, Weak: c.Windows == nil, By: foundBy(c.Windows)}, nil
}

// maxBy bounds Cost.By, in bytes: it is for people.
const maxBy = 40

// foundBy is Cost.By.
func foundBy(windows []choose.Window) string {
	rates := map[string]float64{} // by text; of classes by ""
	all := 0.0
	for _, w := range windows {
		sets := w.Sets() // those of a run are too many to rate, and all alike
		rate := ngram.Rate(sets[:min(len(sets), 4)])
		rates[textAround(w)] += rate
		all += rate
	}

	for text, rate := range rates {
		if rate > all/2 {
			return text
		}
	}

	return ""
}

// textAround is the text that a window stands for, with what is known before
// and behind it; empty when it has a class.
func textAround(w choose.Window) string {
	seq, from, to := w.Alt.Seq, w.At, w.At+w.Len
	// A window may reach beyond the text, which is too short for it.
	for from < to && seq[from] == choose.AnyByte {
		from++
	}

	for from < to && seq[to-1] == choose.AnyByte {
		to--
	}
	if len(known(seq[from:to])) < to-from {
		return ""
	}
	before := from

	for before > 0 && to-before < maxBy && len(known(seq[before-1:before])) > 0 {
		before--
	}

	return known(seq[before:min(len(seq), before+maxBy)])
}

// known is the text that a sequence is sure to begin with, as far as it is
// printable ASCII. A letter of which either case may stand there is in lower
// case.
func known(seq extract.Seq) string {
	var text []byte
	for _, set := range seq {
		if set.Len() > 1 {
			set = set.Fold()
		}
		var b byte
		set.Each(func(x byte) { b = x })
		if set.Len() != 1 || b < ' ' || b > '~' {
			break
		}
		text = append(text, b)
	}

	return string(text)
}
