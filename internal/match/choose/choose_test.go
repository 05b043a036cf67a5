package choose

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/stagetest"
	"github.com/prwarden/prwarden/internal/match/extract"
	"github.com/prwarden/prwarden/internal/match/filter"
	"github.com/prwarden/prwarden/internal/match/parse"
)

// choiceOf is what the stages up to this one make of a pattern.
func choiceOf(t testing.TB, pattern string) Choice {
	t.Helper()
	p, err := parse.Parse(pattern, false)
	require.NoError(t, err)

	return Best(extract.Extract(p.Tree, Cost).Clauses)
}

var kinds = map[filter.Kind]string{filter.Grams: "grams", filter.Pair: "pair", filter.Run: "run"}

// show writes the windows of a choice.
func show(c Choice) []string {
	var list []string
	for _, w := range c.Windows {
		text := stagetest.Show(w.Sets())
		if w.Kind == filter.Run {
			text = fmt.Sprint(stagetest.Show(w.Sets()[:1]), " × ", w.Len)
		}
		at := "?"
		if b := w.begin(); b != extract.Unknown {
			at = fmt.Sprint(b)
		}
		list = append(list, kinds[w.Kind]+" "+text+" @"+at)
	}

	return list
}

// Which windows are chosen: two for each alternative, at an even and an odd
// offset of it, or one where the filter looks at every place. @ is where in the
// match a window begins; -1 is one byte before it.
func TestBest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, pattern string
		windows       []string
	}{
		{"what is rare in a name", `innerHTML`, []string{`grams r H T M @4`, `grams e r H T @3`}},
		{"a prefix with a class", `AKIA[2-7A-Z]{16}`, []string{`grams A K I A @0`, `grams K I A [2-7A-Z] @1`}},
		{"small sets are multiplied out", `SK[0-9a-f]{32}`, []string{
			`grams S K [0-9a-f] [0-9a-f] @0`, `grams . S K [0-9a-f] @-1`,
		}},
		{"three bytes, and any byte before them", `qzx`, []string{`grams q z x @0`, `grams . q z x @-1`}},
		{"each alternative has its own", `(?:quux|zorg)\(`, []string{
			`grams q u u x @0`, `grams u u x ( @1`, `grams z o r g @0`, `grams o r g ( @1`,
		}},
		{"those that are the same are one", `foo_qzxjv|bar_qzxjv`, []string{`grams q z x j @4`, `grams z x j v @5`}},
		{"at a varying place", `(?:cat|horse)x*qzxj`, []string{`grams [etx] q z x @?`, `grams q z x j @?`}},
		{"either case", `(?i)innerHTML`, []string{`grams [Rr] [Hh] [Tt] [Mm] @4`, `grams [Ee] [Rr] [Hh] [Tt] @3`}},
		{"two bytes are a pair", `\$\{`, []string{`pair $ { @0`}},
		{"so are those of one character", `é`, []string{`pair \xc3 \xa9 @0`}},
		{"a long run", `[A-Za-z0-9+/]{94,}`, []string{`run [+/-9A-Za-z] × 94 @0`}},
		{"a word rather than the run behind it", `qzxj[a-f0-9]{32}`, []string{`grams q z x j @0`, `grams z x j [0-9a-f] @1`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.windows, show(choiceOf(t, test.pattern)))
		})
	}
}

func TestWeak(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`[ \t]+$`, `\w+`, `.`, `a|b`, `e`, `[a-z]{3}`, `kubectl|.`} {
		c := choiceOf(t, pattern)
		assert.Empty(t, c.Windows, pattern)
		assert.EqualValues(t, Weak, c.Price, pattern)
	}
}

// Each pattern costs less than the next.
func TestPricesAreInOrder(t *testing.T) {
	t.Parallel()
	for name, patterns := range map[string][]string{
		"rare names, common words, weak ones": {`\bkubectl\b`, `\bTODO\b`, `\berr\b`, `\bif\b`, `\be\b`},
		"longer words":                        {`\bgetRequestHeader\(`, `Header`, `ead`, `ea`},
		"more branches":                       {`kubectl`, `kubectl|TODO`, `kubectl|TODO|name`},
		"more of a token is known":            {`AKIA[2-7A-Z]{16}`, `SK[0-9a-f]{32}`, `[0-9]{4}`},
		"longer runs":                         {`[A-Za-z0-9+/]{200,}`, `[A-Za-z0-9+/]{94,}`},
		"a known begin is worth more":         {`(?:cats|dogs)_qzxj`, `(?:cats|dogs)_*qzxj`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range patterns[1:] {
				cheap, dear := choiceOf(t, patterns[i]), choiceOf(t, patterns[i+1])
				assert.Less(t, cheap.Price, dear.Price, "%s, %s", patterns[i], patterns[i+1])
			}
		})
	}
}

// Best takes no clause that costs more than another, and Cost knows prices that
// are too high for Best.
func TestBestIsTheCheapest(t *testing.T) {
	t.Parallel()
	clause := func(text string, start int) extract.Clause {
		return extract.Clause{{Seq: stagetest.Sets(text), Start: start}}
	}
	rare, common, weak := clause("qzxj", 0), clause("name", 0), clause("e", 0)
	assert.Less(t, Cost(rare), Cost(common))
	assert.Less(t, Cost(common), float64(Weak))
	assert.Greater(t, Cost(weak), float64(Weak))
	assert.Equal(t, Best([]extract.Clause{rare}), Best([]extract.Clause{weak, common, rare}))
	assert.Equal(t, Cost(common), Best([]extract.Clause{weak, common}).Price)
	assert.Greater(t, Best([]extract.Clause{clause("name", extract.Unknown)}).Price, Cost(common))
	assert.Equal(t, Choice{Price: Weak}, Best(nil))
}
