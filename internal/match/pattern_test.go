package match_test

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/steady"
	"github.com/prwarden/prwarden/internal/match"
)

func TestCheckPattern(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern string
		err     string // "" when the pattern is fine
	}{
		{`fmt\.Print(ln|f)?\(`, ""},
		{`\beval\(`, ""},
		{`(?i)^todo$`, ""},
		{`(?m)^x$`, ""},
		{`(?s)BEGIN.*?END`, ""},
		{`a{1000}`, ""},
		{`(?:(?:(?:a{1,1}){1,1}){1,1}){1,1}`, ""},
		{strings.Repeat("a", 1024), ""},
		{`é\x{1F600}`, ""},
		{`(?P<name>x)`, ""},
		{`(?<name>x)`, ""},

		{``, "must not be empty"},
		{strings.Repeat("a", 1025), "has 1025 bytes; at most 1024"},
		{"a\x00b", `NUL at byte 2`},
		{"a\xff", "UTF-8"},
		{`a*`, "can match the empty string"},
		{`^`, "can match the empty string"},
		{`(?m)$`, "can match the empty string"},
		{`\b`, "can match the empty string"},
		{`(?:a|b?)`, "can match the empty string"},
		{`a{0,3}`, "can match the empty string"},
		{`(a?){3}`, "can match the empty string"},
		{`foo(?=bar)`, "at byte 4: lookahead (?=…) is not supported: patterns are RE2"},
		{`foo(?!bar)`, "at byte 4: negative lookahead"},
		{`(?<=a)b`, "at byte 1: lookbehind"},
		{`(?<!a)b`, "at byte 1: negative lookbehind"},
		{`\(?=(?=x)`, "at byte 5: lookahead"},
		{`(?>a)`, "at byte 1: the atomic group"},
		{`(a)\1`, `at byte 4: the backreference \1`},
		{`(?P<n>a)(?P=n)`, "at byte 9: the backreference (?P=…)"},
		{`(?<n>a)\k<n>`, `at byte 8: the backreference \k`},
		{`a++`, "at byte 2: invalid nested repetition operator: ++"},
		{`*a`, "at byte 1: missing argument to repetition operator: *"},
		{`a(b`, "at byte 2: missing closing )"},
		{`\((a[(](b)`, "at byte 3: missing closing )"},
		{`a)b`, "at byte 2: unexpected )"},
		{`a[b`, "at byte 2: missing closing ]: [b"},
		{`a[z-a]`, "at byte 3: invalid character class range: z-a"},
		{`a\`, "trailing backslash"},
		{`\Zx`, `at byte 1: \Z is not supported`},
		{`a{1001}`, "at byte 2: {1001}: a count is at most 1000"},
		{`(?:a{50}){50}`, "at byte 10: {50}: a count is at most 1000, and so is the product"},
		{`(?:ab|cd|ef){500}`, "compiles to 4002 instructions; at most 2000"},
		{`(?:(?:a{10}){10}){10}x`, ""},
		{strings.Repeat("(?:", 40) + "a" + strings.Repeat("{1,2})", 40), "a count is at most 1000"},
		{"x?" + strings.Repeat(`(?:\w\d){1000}`, 5), "compiles to 10"},
		{`[\p{L} ]{3,250}`, ""},
		{strings.Repeat(`(?i)\pL`, 15), ""},
		{strings.Repeat(`\PL`, 340), "classes of 224400 ranges of characters in all; at most 10000"},
		{strings.Repeat(`[\p{Lu}\p{Mn}\p{Nd}]`, 10), "classes of 10440 ranges"},
		{`\pL{1000}`, "repetitions expand to 659000 ranges of characters; at most 200000"},
		{`(?:\pL{1,20}){20}`, "repetitions expand to 263600 ranges"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.40q", tt.pattern), func(t *testing.T) {
			t.Parallel()
			err := match.CheckPattern(tt.pattern)
			if tt.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.err)
		})
	}
}

// A hostile pattern must not cost more than a moment to refuse.
func TestCheckPatternIsQuick(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		strings.Repeat("(?:", 300) + "a" + strings.Repeat(")", 100) + "*",
		strings.Repeat(`[a-z\pL]{9}`, 93),
		"((((a{9}){9}){9}){9}){9}",
		strings.Repeat("(", 1023),
		strings.Repeat(`(?i)\pL`, 146),
		strings.Repeat("a|", 511) + "b(",
	} {
		took := steady.Least(time.Second, func() { _ = match.CheckPattern(pattern) })
		assert.Less(t, took, time.Second, "%.40q", pattern)
	}
}

func FuzzCheckPattern(f *testing.F) {
	for _, seed := range []string{
		`a+b`, `(?i)x{2,5}`, `(a|b)*c`, `[^a]`, `(?=x)`, `\1`, `(`, `a)`, `\Q(\E(`, `[[:alpha:]]`, `(?U)a+`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if match.CheckPattern(pattern) != nil {
			return
		}
		re, err := syntax.Parse(pattern, syntax.Perl)
		require.NoError(t, err)
		prog, err := syntax.Compile(re.Simplify())
		require.NoError(t, err)
		require.LessOrEqual(t, len(prog.Inst), match.MaxProgram)
		_, err = match.Compile([]match.Rule{{Pattern: pattern}})
		require.NoError(t, err)
	})
}
