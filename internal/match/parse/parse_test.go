package parse

import (
	"regexp/syntax"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the stage makes of a pattern.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, pattern, tree string }{
		{"nothing to do", `TODO`, `TODO`},
		{"the package's example", `(?m)^\s*(import|from) .*`, `\A[\t\f\r ]*(?:import|from) `},

		// Captures go.
		{"captures", `((a)|b)(?P<name>c)`, `(?:a|b)c`},

		// There is no "\n" on a line.
		{"dot", `(?s)a.b`, `(?-s:a.b)`},
		{"negated class", `a[^x]b`, `a[^\nx]b`},
		{"class", `a\sb`, `a[\t\f\r ]b`},
		{"a line feed that may be there", `a\n?b`, `ab`},
		{"a branch with a line feed", `a|b\nc`, `a`},

		// ^ and $ are the ends of the line, whatever their flags.
		{"ends of lines", `(?m)^a$`, `\Aa\z`},
		{"ends of the text", `^a$`, `(?-m:\Aa$)`},

		// What may be left out at an end of a match goes.
		{"optional ends", `[\w.-]{0,50}secret\s*`, `secret`},
		{"repeated ends", `x+yz+`, `xyz`},
		{"counted ends", `x{2,5}yz{3,}`, `x{2}yz{3}`},
		{"several parts", `a*b*c`, `c`},
		{"inside of groups", `(a+b+)+`, `ab`},
		{"inside of branches", `(?:x*a|y*b)c`, `(?:a|b)c`},
		{"a branch that is optional as a whole", `(x|y?)a`, `a`},
		{"not behind an assertion", `\b\w*foo`, `\b[0-9A-Z_a-z]*foo`},
		{"nor in the middle", `ax*b`, `ax*b`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, err := Parse(test.pattern, false)
			require.NoError(t, err)
			assert.Equal(t, test.tree, p.Tree.String())
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

func TestParseFails(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`(`, `a**`, `[z-a]`, `(?=a)`} {
		_, err := Parse(pattern, false)
		var se *syntax.Error
		assert.ErrorAs(t, err, &se, pattern)
	}
}

// Begins says whether nothing was dropped at the begin.
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
