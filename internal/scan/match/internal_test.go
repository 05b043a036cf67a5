package match

import (
	"context"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRequired(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string][]string{
		`fmt\.Print(ln|f)?\(`:    {"fmt.println(", "fmt.printf(", "fmt.print("},
		`(?:AKIA|ASIA)[A-Z2-7]+`: {"akia", "asia"},
		`password\s*=\s*"\w+"`:   {"password"},
		`(?i)abc`:                {"abc"},
		`(?i)key`:                {"key", "\u212aey"},
		`a[bc]d`:                 {"abd", "acd"},
		`\w+secret\w+`:           {"secret"},
		`(?:abc)+`:               {"abc"},
		`(?:ab){2}`:              {"abab"},
		`(abc)?d`:                nil,
		`abc|d`:                  nil,
		`ab`:                     nil,
		`\d+`:                    nil,
		`\x{FFFD}abc`:            {"abc"},
		`ab\x{FFFD}c`:            nil,
	} {
		re, err := syntax.Parse(pattern, syntax.Perl)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, required(re), pattern)
	}
}

// The reader is taken for large texts only; here it is taken always.
func TestGuardedSearchIsTheSame(t *testing.T) {
	t.Parallel()
	texts := []string{"", "abc", "xx abc\xff abc\nabc é", strings.Repeat("ab\n", 1000) + "abc", "\u212a k", "a\xe2\x84"}
	for _, pattern := range []string{`abc`, `(?m)^abc$`, `\babc`, `(?s)a.*c`, `a.`, `[^a]`, `(?i)k`, `\x{FFFD}`, `b\n`} {
		for _, text := range texts {
			var spans []Span
			p, _, err := newProgram(Rule{Pattern: pattern})
			require.NoError(t, err)
			p.plainSteps = -1
			g := &guard{ctx: context.Background(), used: new(atomic.Int64), budget: time.Hour, started: time.Now()}
			p.all([]byte(text), g, func(s Span) { spans = append(spans, s) })
			var want []Span
			for _, loc := range regexp.MustCompile(pattern).FindAllStringIndex(text, -1) {
				want = append(want, Span{loc[0], loc[1]})
			}
			assert.Equal(t, want, spans, "%s on %.20q", pattern, text)
		}
	}
}

func FuzzProgramSize(f *testing.F) {
	for _, seed := range []string{`a{3,5}`, `(?:ab|cd)*`, `(a?){4}`, `x{2,}`, `[a-z]+?`, `(?i)straße`, `(?:a{3}){4}`, `(?:)`, `((a*)*)+`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil || len(pattern) > MaxPattern || programSize(re) > 10*MaxProgram {
			return
		}
		prog, err := syntax.Compile(re.Simplify())
		require.NoError(t, err)
		// The estimate may be off by what Simplify does, never by a factor.
		real := len(prog.Inst)
		require.LessOrEqual(t, real, 2*programSize(re)+10)
	})
}
