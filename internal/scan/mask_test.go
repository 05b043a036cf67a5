package scan_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

func TestRedaction(t *testing.T) {
	t.Parallel()
	token := regex("secrets/token", `tok_[a-z]+`, redact, origin(rule.OriginDefault))
	key := regex("secrets/key", `(?s)BEGIN.*?END`, redact, multiline)
	other := regex("other", "todo")
	block := regex("block", `(?s)start.*?stop`, multiline)
	elsewhere := regex("s", "tok_x", redact, func(r *rule.Rule) { r.Paths.Include = []string{"x"} })
	touching := regex("s", "ab", redact)

	for name, tt := range map[string]struct {
		text     string
		rules    []rule.Rule
		ruleset  string
		snippets []string
	}{
		"the match":               {"+a tok_x b", []rule.Rule{token}, "", []string{"a **** b"}},
		"every match of the line": {"+tok_x,tok_yy", []rule.Rule{token}, "", []string{"****,****"}},
		"every occurrence of the text": {
			"+key tok_x not-a-wordtok_x", []rule.Rule{regex("s", `\btok_x\b`, redact)}, "",
			[]string{"key **** not-a-word****"},
		},
		"another rule's snippet": {"+todo tok_x", []rule.Rule{token, other}, "", []string{"todo ****", "todo ****"}},
		"within the other's match": {
			"+todo=tok_x", []rule.Rule{token, regex("other", `todo=\w+`)}, "", []string{"todo=****", "todo=****"},
		},
		"a line that was not added": {" start tok_x\n+stop", []rule.Rule{token, block}, "", []string{"start ****"}},
		"a rule that is not selected": {
			"+todo tok_x", []rule.Rule{token, other}, rule.RulesetCustom, []string{"todo ****"},
		},
		"a multiline match": {
			"+todo BEGIN a\n+b todo\n+END todo", []rule.Rule{key, other}, "",
			[]string{"todo ****", "todo ****", "****", "**** todo"},
		},
		"a multiline match before": {" BEGIN a\n todo b\n END\n+todo c", []rule.Rule{key, other}, "",
			[]string{"todo c"}},
		"a rule that does not look here": {"+todo tok_x", []rule.Rule{other, elsewhere}, "", []string{"todo tok_x"}},
		"touching matches become one":    {"+abab", []rule.Rule{touching}, "", []string{"****"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := try(t, &pull{files: []scan.File{marked("a", tt.text)}}, tt.rules, setup{ruleset: tt.ruleset})
			require.NoError(t, err)
			var snippets []string

			for _, f := range got.Findings {
				snippets = append(snippets, f.Snippet)
			}

			assert.Equal(t, tt.snippets, snippets)
		})
	}
}

// A redacting rule that had no time left can't say what is secret, so nothing
// is shown.
func TestRedactionFailsSafe(t *testing.T) {
	t.Parallel()
	slow := regex("secrets/slow", `(?s)a.*z|a`, multiline, redact)
	text := strings.Repeat(strings.Repeat("a", 100)+"\n", 5000) + "todo a\n"
	got := run(t, &pull{files: []scan.File{file("x", text)}}, slow, regex("todo", "todo"))
	require.Len(t, got.Skips, 1)

	for _, f := range got.Findings {
		require.Equal(t, "****", f.Snippet)
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	secret := []rule.Rule{regex("s", "s+", redact)}

	for name, tt := range map[string]struct {
		line  string
		rules []rule.Rule
		want  string // "" when only the general checks are made
	}{
		"CRLF":               {"todo\r\n", nil, "todo"},
		"control characters": {"\x1b[31mtodo\x7f\x01\r\u0085", nil, "\ufffd[31mtodo\ufffd\ufffd\ufffd\ufffd"},
		"long, at the start": {"todo" + strings.Repeat("é", 400), nil, "todo" + strings.Repeat("é", 248)},
		"long, in the middle": {strings.Repeat("é", 400) + "todo" + strings.Repeat("x", 600), nil,
			strings.Repeat("é", 50) + "todo" + strings.Repeat("x", 396)},
		"long and invalid":     {strings.Repeat("\x80", 1000) + "todo" + strings.Repeat("\x80", 600), nil, ""},
		"masks grow":           {strings.Repeat("s-", 200) + "todo", []rule.Rule{regex("s", "s", redact)}, ""},
		"a long secret before": {"todo " + strings.Repeat("s", 600) + " after", secret, "todo **** after"},
		"the window cuts a secret": {strings.Repeat("-", 450) + strings.Repeat("s", 200) + "todo" + strings.Repeat("x", 10),
			secret, "****todoxxxxxxxxxx"},
		"the window ends in a secret": {"todo" + strings.Repeat("-", 490) + strings.Repeat("s", 200) + "xx", secret,
			"todo" + strings.Repeat("-", 490) + "****xx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, &pull{files: []scan.File{file("a", tt.line)}}, append(tt.rules, regex("todo", "todo"))...)
			found := false

			for _, f := range got.Findings {
				if f.RuleID != "custom/todo" {
					continue
				}

				found = true

				assert.Contains(t, f.Snippet, "todo")
				assert.LessOrEqual(t, len(f.Snippet), scan.MaxSnippet)
				assert.True(t, utf8.ValidString(f.Snippet))
				if len(tt.rules) > 0 {
					assert.NotContains(t, f.Snippet, "s")
				}

				if tt.want != "" {
					assert.Equal(t, tt.want, f.Snippet)
				}
			}

			assert.True(t, found)
		})
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	token := regex("secrets/token", `tok_[a-z]+`, redact)
	prints := func(path, text string, rules ...rule.Rule) []string {
		var list []string
		for _, f := range run(t, &pull{files: []scan.File{marked(path, text)}}, rules...).Findings {
			assert.Regexp(t, `^[0-9a-f]{32}$`, f.Fingerprint)
			list = append(list, f.Fingerprint)
		}

		return list
	}

	todo := regex("todo", "todo")
	base := prints("a", "+x = todo\n", todo)
	require.Len(t, base, 1)
	assert.Equal(t, base, prints("a", " moved\n+\tx=  todo \r\n", todo), "moved, and white space")
	assert.Equal(t, base, prints("a", "+x = todo\n", todo, regex("other", "moved")), "other rules")
	assert.NotEqual(t, base, prints("b", "+x = todo\n", todo), "path")
	assert.NotEqual(t, base, prints("a", "+y = todo\n", todo), "text")
	assert.NotEqual(t, base, prints("a", "+x = todo\n", regex("fix", "todo")), "rule")
	twice := prints("a", "+x = todo\n+x = todo\n", todo)

	assert.Equal(t, base[0], twice[0])
	assert.NotEqual(t, twice[0], twice[1], "occurrence")
	assert.Equal(t, base, prints("a", " x = todo\n+x = todo\n", todo), "a line that was there before is no occurrence")
	assert.Equal(t, prints("a", "+k = tok_a\n", token), prints("a", "+k = tok_zzz\n", token),
		"a fingerprint does not tell a secret")
}
