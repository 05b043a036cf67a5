package ruleset

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
)

func TestRulesFileIsOne(t *testing.T) {
	t.Parallel()
	rules := []Rule{{ID: "one", Pattern: `it's \d+ "x" # y`}, {ID: "two", Pattern: `[a-zſK]{3}: &x`}}
	file, err := rule.ParseLocalFile(t.Context(), RulesFile(rules))
	require.NoError(t, err)
	require.Len(t, file.Rules, 2)
	for i, r := range rules {
		assert.Equal(t, r.Pattern, file.Rules[i].Pattern)
	}
}

func TestKeywords(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string][]string{
		`\bFetchNode[\t ]*\(`:             {"fetchnode"},
		`\b(?:a(?:uthor|nnounce)d|xyz)\(`: {"nnounce", "uthor", "xyz"},
		`(?i)secret_token`:                {"ecret_to"},
		`(?:abcd|x\d+)y`:                  nil,
		`(?:abcd)?efgh`:                   {"efgh"},
		`(?:abcd){2,}`:                    {"abcd"},
		`[0-9]{20}`:                       nil,
		`<<[\t ]*5`:                       nil,
		`éclair`:                          {"clair"},
	} {
		got, err := keywords(pattern)
		require.NoError(t, err)
		assert.Equal(t, want, got, pattern)
	}
}

// TestKeywordsAreNecessary looks for the keywords in texts that rules match.
func TestKeywordsAreNecessary(t *testing.T) {
	t.Parallel()
	known := shapes()
	for _, r := range thousand(t) {
		rule, err := takeApart(known, r)
		require.NoError(t, err)
		if rule.shape.name != "call" && rule.shape.name != "alternative calls" {
			continue
		}
		words, err := keywords(r.Pattern)
		require.NoError(t, err)
		for _, name := range expand(rule.parts[0]) {
			text := name + " ("
			require.Regexp(t, r.Pattern, text)
			found := slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(text), w) })
			assert.True(t, found || len(words) == 0, "%s has none of %q", text, words)
		}
	}
}

func TestGitleaksConfig(t *testing.T) {
	t.Parallel()
	got, err := GitleaksConfig([]Rule{{ID: "one", Pattern: `\bone-[a-z]`}, {ID: "two", Pattern: `\d{9}`}})
	require.NoError(t, err)
	assert.Equal(t, "title = \"benchmark\"\n\n[[rules]]\nid = \"one\"\nregex = '''\\bone-[a-z]'''\nkeywords = [\"one-\"]\n"+
		"\n[[rules]]\nid = \"two\"\nregex = '''\\d{9}'''\n", string(got))
	rules, _, err := parseGitleaks(strings.NewReader(string(got)))
	require.NoError(t, err)
	assert.Len(t, rules, 2)
	_, err = GitleaksConfig([]Rule{{ID: "x", Pattern: "a'''b"}})
	assert.Error(t, err)

	patterns, err := PatternList([]Rule{{Pattern: `\-a`}, {Pattern: "b{2}?"}})
	require.NoError(t, err)
	assert.Equal(t, "(?-u:\\x2da)\n(?-u:(?:b){2})\n", string(patterns))
}
