package parse

import (
	"regexp/syntax"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the stage makes of a pattern: the pattern for a single line, and the tree
// in which the ends that need not be there are gone.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, pattern, line, tree string }{
		{"nothing to do", `TODO`, `TODO`, `TODO`},
		{
			"the package's example", `(?m)^\s*(import|from) .*`, `(?-s:\A[\t\f\r ]*(?:import|from) .*)`,
			`\A[\t\f\r ]*(?:import|from) `,
		},

		// Captures go.
		{"captures", `((a)|b)(?P<name>c)`, `(?:a|b)c`, `(?:a|b)c`},

		// There is no "\n" on a line.
		{"dot", `(?s)a.b`, `(?-s:a.b)`, `(?-s:a.b)`},
		{"negated class", `a[^x]b`, `a[^\nx]b`, `a[^\nx]b`},
		{"class", `a\sb`, `a[\t\f\r ]b`, `a[\t\f\r ]b`},
		{"a line feed that may be there", `a\n?b`, `ab`, `ab`},
		{"a branch with a line feed", `a|b\nc`, `a`, `a`},

		// ^ and $ are the ends of the line, whatever their flags.
		{"ends of lines", `(?m)^a$`, `\Aa\z`, `\Aa\z`},
		{"ends of the text", `^a$`, `(?-m:\Aa$)`, `(?-m:\Aa$)`},

		// What may be left out at an end of a match goes.
		{"optional ends", `[\w.-]{0,50}secret\s*`, `[\-\.0-9A-Z_a-z]{0,50}secret[\t\f\r ]*`, `secret`},
		{"repeated ends", `x+yz+`, `x+yz+`, `xyz`},
		{"counted ends", `x{2,5}yz{3,}`, `x{2,5}yz{3,}`, `x{2}yz{3}`},
		{"several parts", `a*b*c`, `a*b*c`, `c`},
		{"inside of groups", `(a+b+)+`, `(?:a+b+)+`, `ab`},
		{"inside of branches", `(?:x*a|y*b)c`, `(?:x*a|y*b)c`, `(?:a|b)c`},
		{"a branch that is optional as a whole", `(x|y?)a`, `(?:x|y?)a`, `a`},
		{"not behind an assertion", `\b\w*foo`, `\b[0-9A-Z_a-z]*foo`, `\b[0-9A-Z_a-z]*foo`},
		{"nor in the middle", `ax*b`, `ax*b`, `ax*b`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, err := Parse(test.pattern, false)
			require.NoError(t, err)
			assert.Equal(t, test.line, p.Line.String(), "line")
			assert.Equal(t, test.tree, p.Tree.String(), "tree")
			assert.False(t, p.Never)
		})
	}
}

// A multiline pattern keeps its line feeds and its ends of lines.
func TestParseMultiline(t *testing.T) {
	t.Parallel()
	for pattern, tree := range map[string]string{
		`(?s)a.b`:            `(?s:a.b)`,
		`(?m)^(a)\s+$`:       `(?m:^a[\t\n\f\r ]+$)`,
		`a|b\nc`:             `a|b\nc`,
		`\s*secret[^x]b{2,}`: `secret[^x]b{2}`,
	} {
		p, err := Parse(pattern, true)
		require.NoError(t, err)
		assert.Equal(t, tree, p.Tree.String(), pattern)
		assert.False(t, p.Never)
	}
}

func TestNever(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`a\nb`, `\n`, `[\n]+`, `(?:a\nb){2,3}`, `x(?:\n|\n\n)`, `[^\x00-\x{10FFFF}]`} {
		p, err := Parse(pattern, false)
		require.NoError(t, err)
		assert.True(t, p.Never, pattern)
		p, err = Parse(pattern, true)
		require.NoError(t, err)
		assert.Equal(t, pattern == `[^\x00-\x{10FFFF}]`, p.Never, "%s, multiline", pattern)
	}
}

// Twice reversed is the same, and what is reversed is left alone.
func TestReverseTwice(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`abc`, `^a(b|cd)*\z`, `(?m)^x\b[yz]$`, `(?i)a+b{2,3}c??`} {
		p, err := Parse(pattern, true)
		require.NoError(t, err)
		line, source := p.Line.String(), p.Source.String()
		assert.Equal(t, line, Reverse(Reverse(p.Line)).String(), pattern)
		assert.Equal(t, line, p.Line.String(), pattern)
		assert.Equal(t, source, p.Source.String(), pattern)
	}
}

// Begins says whether something was dropped at the begin.
func TestBegins(t *testing.T) {
	t.Parallel()
	for pattern, begins := range map[string]bool{
		`secret`: true, `secret\s*`: true, `\bx*y`: true, `ax*b+`: true, `(?:a|b)c*`: true,
		`\s*secret`: false, `x+y`: false, `x{2,5}y`: false, `(?:x*a|b)c`: false, `(?:x?y)+`: false,
	} {
		p, err := Parse(pattern, false)
		require.NoError(t, err)
		assert.Equal(t, begins, p.Begins, pattern)
	}
}

func TestParseFails(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`(`, `a**`, `[z-a]`, `(?=a)`} {
		_, err := Parse(pattern, false)
		var se *syntax.Error
		assert.ErrorAs(t, err, &se, pattern)
	}
}

func TestReverse(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`abc`:           `cba`,
		`\Aab*(c|de)`:   `(?:c|ed)b*a\z`,
		`(?m)^x\b[yz]$`: `(?m:^[yz]\bx$)`,
		`(?i)sé+`:       `(?i:É+S)`,
	} {
		p, err := Parse(pattern, true)
		require.NoError(t, err)
		assert.Equal(t, want, Reverse(p.Line).String(), pattern)
	}
}
