package extract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/stagetest"
	"github.com/prwarden/prwarden/internal/match/extract"
	"github.com/prwarden/prwarden/internal/match/parse"
)

// longest takes the clause whose shortest sequence is the longest.
func longest(c extract.Clause) float64 {
	least := len(c[0].Seq)
	for _, a := range c {
		least = min(least, len(a.Seq))
	}

	return -float64(least)
}

func factsOf(t *testing.T, pattern string) extract.Facts {
	t.Helper()
	p, err := parse.Parse(pattern, false)
	require.NoError(t, err)

	return extract.Extract(p.Tree, longest)
}

// show writes a clause as its alternatives, each with where in the match it
// stands: @? when that varies.
func show(c extract.Clause) string {
	list := make([]string, len(c))
	for i, a := range c {
		at := "?"
		if a.Start != extract.Unknown {
			at = fmt.Sprint(a.Start)
		}
		list[i] = stagetest.Show(a.Seq) + " @" + at
	}

	return strings.Join(list, " | ")
}

// What the stage makes of a pattern, a clause a line.
func TestExtract(t *testing.T) {
	t.Parallel()
	hex8 := "S K" + strings.Repeat(" [0-9a-f]", 8) + " @0"
	for _, test := range []struct {
		name, pattern string
		clauses       []string
	}{
		{"a word", `TODO`, []string{`T O D O @0`}},
		{"a class in a word", `SK[0-9a-f]{8}`, []string{hex8}},
		{"the package's example", `\bcolou?r[\t ]*=[\t ]*#[0-9a-f]{6}`, []string{
			`c o l o [ru] [\t␣=r] [\t␣#=] [\t␣#0-9=a-f] @0`,
			`c o l o r [\t␣=] [\t␣#=] [\t␣#0-9=a-f] [\t␣#0-9=a-f] @0 | c o l o u r @0`,
			`[co] [lo] [lo] [ou] r [\t␣=] [\t␣#=] [\t␣#0-9=a-f] [\t␣#0-9=a-f] @?`,
			`[\t␣loru] [\t␣loru] [\t␣oru] [\t␣r] = [\t␣#] [\t␣#0-9a-f] [\t␣#0-9a-f] [\t␣#0-9a-f] @?`,
			`# [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] @?`,
		}},
		{"nothing is sure", `^$`, nil},
		{"a branch of which nothing is sure", `abc|.`, nil},

		// Branches.
		{"branches are multiplied out", `(?:foo|bar)baz`, []string{
			`[bf] [ao] [or] b a z @0`, `f o o b a z @0 | b a r b a z @0`,
		}},
		{"so is what may be absent", `foo(?:1|2)?bar`, []string{
			`f o o [12b] [ab] [ar] @0`, `[fo] o [12o] b a r @?`, `f o o b a r @0 | f o o [12] b a r @0`,
		}},
		{"one clause of each branch", `abcdefg|x.*hijklm`, []string{
			`a b c d e f g @0 | h i j k l m @?`,
		}},

		// Parts of varying length: sequences go on for up to four bytes, with all
		// that may stand there, unless they have six known bytes of themselves.
		{"around a gap", `foo.*bar`, []string{`f o o [^\n] [^\n] [^\n] @0`, `[^\n] [^\n] [^\n] b a r @?`}},
		{"enough without", `foobar.*bazqux`, []string{`f o o b a r @0`, `b a z q u x @?`}},
		{"blanks", `x\s+=`, []string{`x [\t\f\r␣] [\t\f\r␣=] @0`, `[\t\f\r␣] = @?`}},
		{"a short word", `"\w+"`, []string{`" [0-9A-Z_a-z] ["0-9A-Z_a-z] @0`, `[0-9A-Z_a-z] " @?`}},

		// Repetitions begin and end with what is repeated. Begin and end may be the
		// same bytes, so neither counts on the other: "axa" has two letters around
		// its x, not "a x x a".
		{"one or more", `ax+a`, []string{`a x [ax] @0`, `x a @?`}},
		{"two or more", `ab{2,}c`, []string{`a b b [bc] @0`, `b b c @?`}},
		{"of several bytes", `a(bc)+d`, []string{`a b c [bd] @0`, `b c d @?`}},
		{"exactly three", `ab{3}c`, []string{`a b b b c @0`}},

		// Characters beyond ASCII.
		{"one", `é`, []string{`\xc3 \xa9 @0`}},
		{"in either case", `(?i)é`, []string{`\xc3 \x89 @0 | \xc3 \xa9 @0`}},
		{"a few", `x[éè]yyyyy`, []string{
			`x [\x80-\xff] [^\x00-xz-\x7f] [^\x00-xz-\x7f] [^\x00-xz-\x7f] @0`,
			`[^\x00-wy-\x7f] [\x80-\xff] y y y y y @1`,
			`x \xc3 \xa8 y y y y y @0 | x \xc3 \xa9 y y y y y @0`,
		}},
		{"a byte that is not UTF-8 is U+FFFD too", `\x{fffd}abc`, []string{`[\x80-\xff] a b c @?`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range factsOf(t, test.pattern).Clauses {
				if s := show(c); !slices.Contains(got, s) {
					got = append(got, s)
				}
			}
			assert.Equal(t, test.clauses, got)
		})
	}
}

// The letters s and k have a third form beyond ASCII when case is ignored.
func TestFolds(t *testing.T) {
	t.Parallel()
	for pattern, folds := range map[string]bool{
		`(?i)rule`: false, `(?i)task`: true, `(?i)risk`: true, `task`: false, `(?i)[r-t]ule`: true,
		`[s\x{17f}]ecret`: true, `[k\x{212a}]`: true, `ſecret`: false, `\x{212a}`: false,
	} {
		assert.Equal(t, folds, factsOf(t, pattern).Folds, pattern)
	}
	assert.Equal(t, `[Tt] [Aa] [Ss] [Kk] @0`, show(factsOf(t, `(?i)task`).Clauses[0]))
	assert.Equal(t, `s e c r e t @0`, show(factsOf(t, `[s\x{17f}]ecret`).Clauses[0]), "ſ is left out")
	// Alone, it is no s: a text has either, so nothing is known of this byte.
	for _, c := range factsOf(t, `ſecret`).Clauses {
		assert.NotContains(t, show(c), "s e c")
		assert.NotContains(t, show(c), `\xbf`)
	}
}

// words is an alternation of n words that share neither begins nor ends.
func words(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%c%c%cword%c", rune(0x100+i), rune(0x600+i), rune(0x900+i), rune(0x1000+i))
	}

	return strings.Join(list, "|")
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range factsOf(t, `[a-z]{1000}`).Clauses {
		assert.LessOrEqual(t, len(c[0].Seq), 128+4)
	}
	// As many branches as are multiplied out, then as many as a clause has.
	within := factsOf(t, `x(?:`+words(64)+`)y`).Clauses
	assert.Len(t, within[len(within)-1], 64)
	assert.Equal(t, 0, within[len(within)-1][0].Start)
	beyond := factsOf(t, `x(?:`+words(65)+`)y`).Clauses
	assert.True(t, slices.ContainsFunc(beyond, func(c extract.Clause) bool { return len(c) == 65 && c[0].Start == 1 }))
	assert.Len(t, factsOf(t, words(512)).Clauses[0], 512)
	assert.Empty(t, factsOf(t, words(513)).Clauses)
	// A class of few characters beyond ASCII is taken apart, one of more is not.
	assert.Len(t, factsOf(t, `[\x{400}-\x{407}]`).Clauses[0], 8)
	assert.Empty(t, factsOf(t, `[\x{400}-\x{408}]`).Clauses)
}

// Patterns with many ways to go on end early and do not take long.
func TestManyWays(t *testing.T) {
	t.Parallel()
	pattern := strings.Repeat(`(?:a?b?c?d?)?`, 40) + "x"
	assert.NotPanics(t, func() { factsOf(t, `y`+pattern) })
}
