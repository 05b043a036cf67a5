package match_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

// hostileRules are rules of one kind, none of them like another.
func hostileRules(n int, pattern func(i int) string) []match.Rule {
	rules := make([]match.Rule, n)
	for i := range rules {
		rules[i] = match.Rule{Pattern: pattern(i)}
	}

	return rules
}

// What a matcher holds, also once it was used, is not much more than it says.
// It is not parallel, because it measures the memory of the process.
func TestSizeIsThatOfTheMemory(t *testing.T) { //nolint:paralleltest // see above
	letters := rand.New(rand.NewPCG(1, 2))
	for name, rules := range map[string][]match.Rule{
		"default rules":  defaultRules(),
		"thousand rules": thousandRules(),
		"classes": hostileRules(300, func(i int) string {
			return fmt.Sprintf("x%d", i) + strings.Repeat(`\PL`, 15)
		}),
		"classes from the begin of the line": hostileRules(300, func(i int) string {
			return fmt.Sprintf("^x%d", i) + strings.Repeat(`\PL\pN`, 10)
		}),
		"repeated classes": hostileRules(200, func(i int) string { return fmt.Sprintf(`^a%d\PL{250}`, i) }),
		"large programs":   hostileRules(300, func(i int) string { return fmt.Sprintf(`x%d(?:[ab][cd]?){600}`, i) }),
		"many states": hostileRules(300, func(i int) string {
			return fmt.Sprintf(`x(?:a|b)*a(?:a|b){%d}c`, 10+i%8)
		}),
		"folded classes": hostileRules(200, func(i int) string { return fmt.Sprintf(`x%d(?i)\pL{3}\p{Lu}y+`, i) }),
		"literals": hostileRules(300, func(i int) string {
			var words []string
			for range 60 {
				words = append(words, fmt.Sprintf("%d%c%c%c%x", i, 'a'+letters.IntN(26), 'a'+letters.IntN(26),
					'a'+letters.IntN(26), letters.Uint32()))
			}

			return strings.Join(words, "|")
		}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range rules {
				require.NoError(t, match.CheckPattern(r.Pattern))
			}
			before := liveHeap()
			m, err := match.Compile(rules)
			require.NoError(t, err)
			compiled := liveHeap() - before
			useAll(t, m, len(rules))
			used := liveHeap() - before
			size := m.Size()
			t.Logf("compiled %d KiB, used %d KiB, Size %d KiB", compiled>>10, used>>10, size>>10)
			assert.Less(t, float64(used), 1.2*float64(size)+float64(1<<20))
			assert.Less(t, size, int64(64<<20))
			runtime.KeepAlive(m)
		})
	}
}

// liveHeap is the memory of what is reachable, in bytes.
func liveHeap() int64 {
	for range 3 { // a sync.Pool lets go in the second
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)

	return int64(stats.HeapAlloc)
}

// useAll has each rule asked for its automata and its regexps.
func useAll(t *testing.T, m *match.Matcher, rules int) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	for i := range rules {
		for _, format := range []string{"x%d", "^x%d", "a%d", "x%d"} {
			fmt.Fprintf(&text, format, i)
			for range 40 {
				text.WriteByte(" -;1ab"[rnd.IntN(6)])
			}
			text.WriteString("aabbc\n")
		}
		fmt.Fprintf(&text, "x%dabcabdacbdabdcacéé1é-yyy\n", i)
	}
	lines := match.SplitLines([]byte(text.String()))
	session := m.NewSession(forever, nil)
	_, err := session.File("a.go").Match(t.Context(), lines, []match.LineRange{{First: 1, Last: lines.Count()}}, 1000)
	require.NoError(t, err)

	for i := range rules {
		text := fmt.Sprintf("x%d------------------------------ x%[1]d\n", i)
		_, _, err = session.File("").Spans(t.Context(), []byte(text), len(text), i)
		require.NoError(t, err)
	}
}
