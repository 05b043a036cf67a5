package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/rules"
	"github.com/prwarden/prwarden/internal/rule"
)

// The rules files in the user guide are valid, and what it shows of the commands
// is what they print.
func TestUserGuide(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../docs/rules.md")
	require.NoError(t, err)
	var blocks []string
	for i, part := range strings.Split(string(data), "```") {
		if i%2 == 1 {
			blocks = append(blocks, part)
		}
	}
	dir := t.TempDir()
	place := func(name, content string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	valid, shown := 0, 0
	var file, sample string
	for i, block := range blocks {
		kind, content, _ := strings.Cut(block, "\n")
		switch {
		case kind == "yaml" && strings.Contains(content, "version: 1\n"):
			_, err := rule.ParseFile(t.Context(), []byte(content))
			require.NoError(t, err, content)
			file = place("rules.yml", content)
			valid++
		case kind == "go":
			sample = place("samples/print.go", content)
		case strings.HasPrefix(content, "version: 1\n"): // a broken one, and what is said about it
			path := place(".prwarden/rules.yml", content)
			r := run(t, 200, func(st cli.Streams) error {
				return rules.Check(t.Context(), st, rules.CheckInput{Files: []string{path}, Look: usual(rules.Look{})})
			})
			require.ErrorIs(t, r.err, cli.ErrFound)
			_, want, _ := strings.Cut(blocks[i+1], "\n")
			assert.Equal(t, want, strings.ReplaceAll(r.out, dir+string(filepath.Separator), ""))
			shown++
		case strings.HasPrefix(content, "FAIL  samples/"):
			r := test(t, rules.TestInput{File: file, Samples: []string{sample}})
			require.ErrorIs(t, r.err, cli.ErrFound)
			want, _, _ := strings.Cut(content, "\nWHAT ")
			assert.Contains(t, strings.ReplaceAll(r.out, dir+string(filepath.Separator), ""), want)
			shown++
		}
	}
	assert.Equal(t, 2, shown)
	assert.Positive(t, valid)
}
