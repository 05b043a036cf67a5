package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

func spelt(change func(r *rule.Rule)) rule.Rule {
	r := rule.Rule{
		ID: "spelt", Type: rule.TypeSpelling, Message: "Correct it.", Severity: rule.Info, Scope: rule.ScopeOrg,
		Words: map[string]string{"atleast": "at least", "doesnt": "doesn't"},
	}
	if change != nil {
		change(&r)
	}

	return r
}

func TestSpellingRules(t *testing.T) {
	t.Parallel()
	words := func(words map[string]string) func(r *rule.Rule) { return func(r *rule.Rule) { r.Words = words } }
	many := map[string]string{}
	for i := range rule.MaxWords {
		many["q"+string([]byte{'a' + byte(i/26/26), 'a' + byte(i/26%26), 'a' + byte(i%26)})] = "x"
	}
	more := map[string]string{"over": "x"}
	for wrong, right := range many {
		more[wrong] = right
	}
	for name, tt := range map[string]struct {
		change func(r *rule.Rule)
		want   string
	}{
		"words":                    {nil, ""},
		"no words":                 {words(nil), ""},
		"what regex rules have":    {func(r *rule.Rule) { r.In, r.Conditions.Allow = []rule.Place{"comment"}, []string{"a"} }, ""},
		"as many as are allowed":   {words(many), ""},
		"more":                     {words(more), "words: has 1001 entries; at most 1000"},
		"short":                    {words(map[string]string{"ab": "x"}), `words: has "ab", which can't be a misspelt word`},
		"long":                     {words(map[string]string{strings.Repeat("a", 51): "x"}), "words: has something, which can't be"},
		"upper case":               {words(map[string]string{"Abc": "x"}), "words: has something, which can't be"},
		"right in upper case":      {words(map[string]string{"abc": "X"}), `words: must have for "abc" what is right`},
		"nothing right":            {words(map[string]string{"abc": ""}), `words: must have for "abc" what is right`},
		"a hyphen at the end":      {words(map[string]string{"abc": "a-"}), `words: must have for "abc" what is right`},
		"right and wrong":          {words(map[string]string{"abc": "abd", "abd": "x"}), `words: has "abd" both as what is right`},
		"a pattern":                {func(r *rule.Rule) { r.Pattern = "a" }, `pattern: is not allowed with type "spelling"`},
		"multiline":                {func(r *rule.Rule) { r.Multiline = true }, "multiline: is not allowed"},
		"redact":                   {func(r *rule.Rule) { r.Redact = true }, "redact: is not allowed"},
		"entropy":                  {func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{} }, "entropy: is not allowed"},
		"stopwords":                {func(r *rule.Rule) { r.Conditions.Stopwords = []string{"a"} }, "stopwords: is not allowed"},
		"a fix":                    {func(r *rule.Rule) { r.Fix = new("x") }, "fix: is not allowed"},
		"of structure":             {func(r *rule.Rule) { r.Structure.Focus = "X" }, "focus: is for rules of type"},
		"of taint":                 {func(r *rule.Rule) { r.Taint.Sinks = patterns("x") }, "sinks: is for rules of type"},
		"another type":             {func(r *rule.Rule) { r.Type, r.Pattern = rule.TypeRegex, "a" }, "words: is for rules of type"},
		"a case that is no word":   {func(r *rule.Rule) { r.Cases.Match = []string{"the separate"} }, "cases.match[0]: the rule does not"},
		"a case that is one's own": {func(r *rule.Rule) { r.Cases.NoMatch = []string{"the atleast"} }, "cases.no_match[0]: the rule matches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := rule.Validate(t.Context(), spelt(tt.change))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			var e *errs.Error
			require.ErrorAs(t, err, &e)
			all := make([]string, len(e.Fields))
			for i, v := range e.Fields {
				all[i] = v.Field + ": " + v.Description
			}
			assert.Contains(t, strings.Join(all, "\n"), tt.want)
		})
	}
}

func TestSpellingInFiles(t *testing.T) {
	t.Parallel()
	const text = "version: 1\nrules:\n- {id: a, type: spelling, message: m, severity: low, words: %s}\n"
	f, err := rule.ParseFile(t.Context(), fmt.Appendf(nil, text, "{atleast: at least, doesnt: doesn't, nono: no}"))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"atleast": "at least", "doesnt": "doesn't", "nono": "no"}, f.Rules[0].Words)
	f.Rules[0].Scope = rule.ScopeOrg
	out, err := rule.DocumentsOf(f.Rules).YAML()
	require.NoError(t, err)
	again, err := rule.ParsePushFile(t.Context(), out)
	require.NoError(t, err)
	assert.Equal(t, f.Rules[0].Words, again[0].Words)

	for words, want := range map[string]string{
		"[a]":                       "rules[0].words: must be a mapping",
		"{abc: [x]}":                "rules[0].words.abc: must be a text",
		"{abc: x, abc: y}":          `rules[0].words: key "abc" is there twice`,
		"{ABC: x}":                  "rules[0].words: has something, which can't be",
		"{abc: }":                   `rules[0].words: must have for "abc"`,
		"{" + longWords(1001) + "}": "rules[0].words: has 1001 entries",
	} {
		_, err := rule.ParseFile(t.Context(), fmt.Appendf(nil, text, words))
		assert.ErrorContains(t, err, want)
	}
	_, err = rule.ParseFile(t.Context(), fmt.Appendf(nil, text, "null"))
	assert.NoError(t, err)
}

func longWords(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("w%d: x", i))
	}

	return strings.Join(list, ", ")
}

func TestSpellingFixes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"a word":               {"a\n// wait for the seperate one\nb\n", "a\n// wait for the separate one\nb\n"},
		"in the writer's case": {"// The SEPERATE and Seperate one\n", "// The SEPARATE and Seperate one\n"},
		"more words":           {"// it has atleast two\r\n", "// it has at least two\r\n"},
		"an apostrophe":        {"// it doesnt do that\n", "// it doesn't do that\n"},
		"in a string":          {"f(\"it doesnt do that\")\n", "f(\"it doesn't do that\")\n"},
		"that ends a string":   {"f('it doesnt do that')\n", ""},
		"a long line":          {"// the seperate" + strings.Repeat(" x", rule.MaxEdit) + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := spelt(func(r *rule.Rule) { r.Languages = []string{"javascript"} })
			now, _, ok := edited(t, r, tt.text)
			assert.Equal(t, tt.want, now)
			assert.Equal(t, tt.want != "", ok)
		})
	}
}

// Words decide what a scan finds, and so are in the digest.
func TestSpellingDigest(t *testing.T) {
	t.Parallel()
	digest := func(words map[string]string) string {
		return rule.Digest([]rule.Rule{spelt(func(r *rule.Rule) { r.Words = words })})
	}
	assert.NotEqual(t, digest(nil), digest(map[string]string{"abc": "x"}))
	assert.NotEqual(t, digest(map[string]string{"abc": "y"}), digest(map[string]string{"abc": "x"}))
	assert.Equal(t, digest(map[string]string{"abc": "x", "abd": "y"}), digest(map[string]string{"abd": "y", "abc": "x"}))
}

// FuzzSpelling corrects words in texts of all kinds: hits are inside their lines, and an edit
// changes no other line.
func FuzzSpelling(f *testing.F) {
	f.Add("go", "// wait for teh seperate one\nx := 1\n")
	f.Add("python", "'it doesnt do that'\n# Recieve the message")
	f.Add("", "\xff the seperate\r\né seperate the")
	f.Fuzz(func(t *testing.T, language, text string) {
		lines := match.SplitLines([]byte(text))
		reader, hits := hitsOf(t, spelt(func(r *rule.Rule) { r.Languages = []string{language} }), lines)
		for _, hit := range hits {
			line := lines.Line(hit.Line)
			require.True(t, hit.Line == hit.EndLine && 1 <= hit.Column && hit.Column < hit.EndColumn && hit.EndColumn <= len(line)+1)
			e, ok := reader.Edit(lines, 0, hit)
			if !ok {
				continue
			}
			require.True(t, e.StartLine == hit.Line && e.EndLine == hit.Line)
			require.True(t, strings.HasPrefix(e.Text, string(line[:hit.Column-1])))
			require.True(t, strings.HasSuffix(e.Text, string(line[hit.EndColumn-1:])))
			require.NotEqual(t, string(line), e.Text)
		}
	})
}
