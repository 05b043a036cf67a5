package match

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"
)

// The quick ways of matching a glob say what doublestar says.
func TestGlobsMatchAsDoublestarDoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	join := func(n int, parts ...string) string {
		var b strings.Builder
		for range n {
			b.WriteString(parts[r.IntN(len(parts))])
		}

		return b.String()
	}
	matched := 0
	for range 200_000 {
		pattern := join(
			1+r.IntN(5), "a", "b", ".x", "**/", "*", "**/*", "?", "[ab]", "[^a]", "{a,b}", "{.x,b/}", "{,a}", "{a,{b,c}}",
			"/", "**", `\*`, `\a`, ",", "]",
		)
		if CheckGlob(pattern) != nil {
			continue
		}
		for range 5 {
			path := join(1+r.IntN(5), "a", "b", "/", ".x", "c", "*", ",", "]")
			want := doublestar.MatchUnvalidated(pattern, path)
			require.Equal(t, want, newGlob(pattern).match(path), "%q %q", pattern, path)
			if want {
				matched++
			}
		}
	}
	require.Greater(t, matched, 10_000)
}
