package parse

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/stagetest"
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

// letters are characters that patterns treat in different ways.
var letters = []string{"a", "b", "k", "_", " ", "-", "\r", "\u017f", "\u212a", "é"}

// some is a few letters, for a pattern and its texts.
func some(r *rand.Rand, n int) []string {
	list := slices.Clone(letters)
	r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })

	return list[:n]
}

// Lines match the tree that match the pattern, of all small lines and many
// patterns.
func TestTreeMatchesTheSameLines(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		alphabet := some(r, 3)
		same(t, stagetest.Pattern(r, alphabet), false, stagetest.Texts(append(alphabet, "\xff"), 4))
	}
}

// So do whole files with a multiline pattern.
func TestTreeMatchesTheSameFiles(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		alphabet := some(r, 3)
		same(t, stagetest.Pattern(r, alphabet), true, stagetest.Texts(append(alphabet, "\n"), 4))
	}
}

// same compares a pattern with what the stage makes of it.
func same(t *testing.T, pattern string, multiline bool, texts []string) {
	t.Helper()
	p, err := Parse(pattern, multiline)
	require.NoError(t, err)
	want := regexp.MustCompile(pattern)
	line, tree := regexp.MustCompile(p.Line.String()), regexp.MustCompile(p.Tree.String())
	back := Reverse(p.Line)
	reversed := regexp.MustCompile(back.String())
	for _, text := range texts {
		begin := want.FindStringIndex(text)
		switch is := begin != nil; {
		case is && p.Never:
			require.Fail(t, "matches", "%s on %q", pattern, text)
		case is != line.MatchString(text):
			require.Fail(t, "Line differs", "%s as %s on %q", pattern, p.Line, text)
		case !p.Never && is != tree.MatchString(text):
			require.Fail(t, "Tree differs", "%s as %s on %q", pattern, p.Tree, text)
		case is && p.Begins && tree.FindStringIndex(text)[0] != begin[0]:
			require.Fail(t, "Begins is wrong", "%s as %s on %q", pattern, p.Tree, text)
		case is != reversed.MatchString(backwards(text)):
			require.Fail(t, "Reverse differs", "%s backwards as %s on %q", pattern, back, text)
		}
	}
}

// backwards is a text's characters from last to first; a byte that is not UTF-8
// is one.
func backwards(text string) string {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		end := len(text)
		for i := range text {
			end = i
		}
		out, text = append(out, text[end:]...), text[:end]
	}

	return string(out)
}
