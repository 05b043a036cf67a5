package hostile

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
	"github.com/prwarden/prwarden/internal/match"
)

func cases(t *testing.T) map[string]Case {
	t.Helper()
	model := []ruleset.Rule{
		{ID: "call", Pattern: `\bfetchNode[\t ]*\(`}, {ID: "word", Pattern: `(?i:\bSKIP\b)`}, {ID: "token", Pattern: `\bacmex-[0-9a-z]{20}\b`},
	}
	text := strings.Repeat("if fetchNode(skip) {\r\n\treturn nil // kept\n", 3000)
	list, err := Cases(model, corpus.Corpus{Files: []corpus.File{{Path: "a", Text: []byte(text)}}}, 100_000)
	require.NoError(t, err)
	byName := map[string]Case{}
	for _, c := range list {
		byName[c.Name] = c
	}
	require.Len(t, byName, len(list))
	return byName
}

func TestCasesAreWithinTheLimits(t *testing.T) {
	t.Parallel()
	for name, c := range cases(t) {
		for _, r := range c.Rules {
			assert.NoError(t, match.CheckPattern(r.Pattern), "%s: %s", name, r.Pattern)
		}
		assert.NotEmpty(t, c.Rules, name)
		assert.NotEmpty(t, c.Usual, name)
		assert.Greater(t, c.Text.Bytes(), int64(1_000), name)
		for _, f := range c.Text.Files {
			assert.True(t, corpus.Reviewed(f.Text), "%s: %s", name, f.Path)
		}
	}
}

func TestEveryRuleHitsEveryLine(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"every rule hits on every line, a word for each", "every rule hits on every line, the same word for all"} {
		c := cases(t)[name]
		for _, r := range c.Rules {
			re := regexp.MustCompile(r.Pattern)
			for line := range bytes.Lines(c.Text.Files[0].Text) {
				require.True(t, re.Match(line), "%s: %s", name, r.Pattern)
			}
		}
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	lines := match.SplitLines(cases(t)["lines of 16 KiB"].Text.Files[0].Text)
	for n := 1; n < lines.Count(); n++ {
		assert.Len(t, lines.Line(n), match.MaxLine)
	}
}

func TestKelvin(t *testing.T) {
	t.Parallel()
	text := string(kelvin(corpus.Corpus{Files: []corpus.File{{Text: []byte("SKip")}}}).Files[0].Text)
	assert.Equal(t, "ſ\u212aip\n", text)
	assert.Regexp(t, `(?i)^skip`, text)
}
