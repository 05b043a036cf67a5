package rule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestPatternHints(t *testing.T) {
	t.Parallel()
	const (
		plus     = "write `+` for the last `*`"
		question = "remove the last `?`"
		several  = "write `+` for `*`, remove `?`, or write `{1,3}` for `{0,3}`, in as many places as it takes"
		literal  = "write `\\*`, `\\+` or `\\?` for the character"
		group    = "keep one of the two, or put the first into a group, as `(?:a{2})+`"
	)
	for pattern, want := range map[string]string{
		"a*":                plus,
		"(a?b*)$":           plus,
		"(a*)*$":            several, // (a*)+$ matches nothing, too
		"(ab*)*":            plus,
		"(a|b*)":            plus,
		"(a*|b*)":           several,
		"a?b?":              question,
		"(a?)?":             several,
		"a*?":               several,
		"a{0,3}":            several,
		"a**":               literal,
		"a{2}{3}":           group,
		"a{1,1000}{1,1000}": group,
		"a{2}*":             group,
	} {
		err := match.CheckPattern(pattern)
		require.Error(t, err, pattern)
		assert.Equal(t, want, rule.Hint(rule.Rule{Pattern: pattern}, "pattern", err.Error()), pattern)
	}
}
