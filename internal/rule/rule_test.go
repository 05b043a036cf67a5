package rule_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/rule"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 100)
	for _, name := range []string{"a/b", "acme/api", "A-1_.x/..y", "-/-", long + "/" + long, "a/.github",
		"group/sub/name", "~user/name", strings.Repeat("a/", 19) + "b",
	} {
		assert.NoError(t, rule.CheckRepository(name), name)
	}

	for _, name := range []string{
		"", "a", "/", "a/", "/b", "a//b", "~/b", "a/~b", "~~a/b", "a/b/", "a/../b", strings.Repeat("a/", 20) + "b",
		strings.Repeat(long+"/", 5) + "b", "./b", "a/..", "../b", "a/.", "a b/c", "a/b\n", "é/b",
		"a%2Fb", "a/b?c", "a\\b", long + "a/b", "a/" + long + "a", "a/b\x00",
	} {
		assert.ErrorContains(t, rule.CheckRepository(name), "owner", "%q", name)
	}
}

func FuzzCheckRepository(f *testing.F) {
	for _, seed := range []string{"a/b", "a/../b", "", "/", "a/b/c", "..//.", "ACME/x.y_z-1"} {
		f.Add(seed)
	}

	form := regexp.MustCompile(`\A~?[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){1,19}\z`)
	f.Fuzz(func(t *testing.T, name string) {
		parts := strings.Split(strings.TrimPrefix(name, "~"), "/")
		dots := slices.ContainsFunc(parts, func(s string) bool { return s == "." || s == ".." })
		long := slices.ContainsFunc(parts, func(s string) bool { return len(s) > 100 }) || len(name) > 500
		assert.Equal(t, form.MatchString(name) && !dots && !long, rule.CheckRepository(name) == nil, "%q", name)
	})
}
