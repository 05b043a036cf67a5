package match_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

func TestCheckGlob(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // glob: what is wrong with it
		"**/*.go":                              "",
		"a":                                    "",
		"**/*.{js,jsx,ts,tsx}":                 "",
		"{a,b}/{c,d}/**":                       "",
		`a\{b`:                                 "",
		strings.Repeat("é", 255):               "",
		"":                                     "must not be empty",
		strings.Repeat("é", 256):               "256 characters",
		"a\xff":                                "UTF-8",
		"a\x00":                                "NUL",
		"/src/**":                              `without "/"`,
		"./src":                                `without "./"`,
		"vendor/":                              `write "vendor/**"`,
		"a[b":                                  "not a valid glob",
		"a{b":                                  "not a valid glob",
		"a}":                                   "not a valid glob",
		`a\`:                                   "not a valid glob",
		strings.Repeat("{a,b}", 7):             "more than 100 combinations",
		"{" + strings.Repeat("a,", 101):        "not a valid glob",
		"{" + strings.Repeat("a,", 101) + "a}": "more than 100 combinations",
	}
	for glob, want := range tests {
		err := match.CheckGlob(glob)
		if want == "" {
			assert.NoError(t, err, glob)
		} else {
			assert.ErrorContains(t, err, want, glob)
		}
	}
}

func TestGlobs(t *testing.T) {
	t.Parallel()
	globs := match.NewGlobs([]string{"vendor/**", "**/*.min.js", "?.txt"})
	for path, want := range map[string]bool{
		"vendor/a/b.go": true, "vendor": true, "a/vendor/b.go": false,
		"x.min.js": true, "a/b/.min.js": true, "a/x.js": false,
		"a.txt": true, "a/b.txt": false, "\xff.txt": true,
		"vendor/" + strings.Repeat("a/", 2100): false, // too long to match
	} {
		assert.Equal(t, want, globs.Match(path), "%.40q", path)
	}
}

// Globs that choose files for rules match in any case, and whatever they match as they
// are written.
func TestIncludes(t *testing.T) {
	t.Parallel()
	globs := match.NewIncludes([]string{"**/*.{sql,PSQL}", "**/Dockerfile", "Src/[A-Z]?.txt", "**/*[^A-Z].c", `a\B`})
	for path, want := range map[string]bool{
		"a.sql": true, "a.SQL": true, "x/A.psql": true, "x/dockerfile": true, "DOCKERFILE": true, "src/ab.TXT": true,
		"Src/AB.txt": true, "src/1b.txt": false, "xa.c": true, "a.sqlx": false, "AB": true, "\xff.SQL": true,
	} {
		assert.Equal(t, want, globs.Match(path), "%q", path)
	}
	assert.False(t, match.NewGlobs([]string{"**/*.sql"}).Match("a.SQL"))
}

// The quick ways of matching a glob say what doublestar says.
func FuzzGlob(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	join := func(parts ...string) (text string) {
		for range 1 + r.IntN(5) {
			text += parts[r.IntN(len(parts))]
		}

		return text
	}
	for range 3000 {
		f.Add(join("a", "b", ".x", "**/", "*", "**/*", "?", "[ab]", "[^a]", "{a,b}", "{.x,b/}", "{,a}", "{a,{b,c}}", "/",
			"**",
			`\*`, `\a`, ",", "]"), join("a", "b", "/", ".x", "c", "*", ",", "]", "\xff"))
	}
	for range 3000 { // segments
		f.Add("**/"+join("a", "b", ".x", "*", "**", "[ab]", "[^a]", "?")+join("/**", "", "/*"), join("a", "b", "/", ".x", "\xff"))
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		if match.CheckGlob(glob) != nil || len(path) > 4096 {
			return
		}
		want := doublestar.MatchUnvalidated(glob, path)
		require.Equal(t, want, match.NewGlobs([]string{glob}).Match(path), "%q %q", glob, path)

		m, err := match.Compile([]match.Rule{{Pattern: "a", Exclude: []string{glob}}, {Pattern: "b", Include: []string{glob}}})
		require.NoError(t, err)
		file := m.NewSession(match.Limit{File: 1}, nil).File(path)
		require.Equal(t, !want, file.Looks(0), "%q %q", glob, path)
		require.Equal(t, match.NewIncludes([]string{glob}).Match(path), file.Looks(1), "%q %q", glob, path)
	})
}
