package rule_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
)

// Each example of docs/structure.md is a valid rule that its own cases prove.
func TestExamplesOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/structure.md")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	assert.GreaterOrEqual(t, len(examples), 20)
	for _, example := range examples {
		f, err := rule.ParseLocalFile(t.Context(), append([]byte("version: 1\nrules:\n"), example[1]...))
		if !assert.NoError(t, err, "%s", example[1]) {
			continue
		}
		for _, r := range f.Rules {
			assert.Equal(t, rule.TypeStructure, r.Type, r.ID)
			assert.NotEmpty(t, r.Cases.Match, r.ID)
			assert.NotEmpty(t, r.Cases.NoMatch, r.ID)
		}
	}
}

// A rule of a file that somebody gives another pattern is matched by that one.
func TestChangedPattern(t *testing.T) {
	t.Parallel()
	f, err := rule.ParseLocalFile(t.Context(), []byte("version: 1\nrules:\n"+
		"  - {id: a, type: structure, languages: [go], pattern: f($X), message: Don't., severity: low}\n"))
	require.NoError(t, err)
	r := f.Rules[0]
	for _, name := range []string{"f", "g"} {
		r.Pattern = name + "($X)"
		hits, _, err := rule.Try(t.Context(), r, nil, "\n"+name+"(1)\n", 10)
		require.NoError(t, err)
		assert.Len(t, hits, 1, name)
		reader := rule.NewPlaces([]rule.Rule{r}).Reader(r.Languages)
		assert.True(t, reader.MayFind([]byte(name+"(1)"), 0), name)
	}
}
