package match_test

import (
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

func FuzzGlob(f *testing.F) {
	f.Add("**/*.go", "a/b.go")
	f.Add("**/*", ".")
	f.Add("{a,b{c,d}}/?[x-z]", "bc/ay")
	f.Add("**/*.é", "\xff/é")
	f.Fuzz(func(t *testing.T, glob, path string) {
		if match.CheckGlob(glob) != nil || len(path) > 4096 {
			return
		}
		require.Equal(t, doublestar.MatchUnvalidated(glob, path), match.NewGlobs([]string{glob}).Match(path))
	})
}
