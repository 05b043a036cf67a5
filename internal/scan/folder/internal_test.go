package folder

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
)

// What is said to be excluded with all that is in it, is.
func TestPrunes(t *testing.T) {
	t.Parallel()
	globs := []string{"vendor/**", "**/node_modules/**", "{a,b}/c/**", "x/*.d/**", "**/*.md", "lit", "one/*", "two/**/y"}
	compile := func(globs ...string) *Rules {
		l := Loaded{File: &rule.File{Exclude: globs}}
		r, err := l.Compile("", nil)
		require.NoError(t, err)
		return r
	}

	r := compile(globs...)
	pruned := []string{}

	for _, dir := range []string{
		"vendor", "vendors", "vendor/x", "x/vendor", "node_modules", "a/b/node_modules", "node_modules/x/y",
		"a/c", "c", "a/c/d", "x/y.d", "x/y", "lit", "one", "one/z", "two", "two/y",
	} {
		if r.pruned.Match(dir) {
			pruned = append(pruned, dir)

			for _, below := range []string{"/f", "/d/e/f", "/f.md"} {
				assert.True(t, r.exclude.Match(dir+below), dir+below)
			}
		}
	}

	assert.Equal(t, []string{
		"vendor", "vendor/x", "node_modules", "a/b/node_modules", "node_modules/x/y", "a/c", "a/c/d", "x/y.d",
	}, pruned)

	assert.True(t, compile("**").pruned.Match("a"))
	assert.False(t, slices.ContainsFunc([]string{"a/{b,c/**}", "[a/**]"}, func(g string) bool {
		return compile(g).pruned.Match("a/c")
	}))
}
