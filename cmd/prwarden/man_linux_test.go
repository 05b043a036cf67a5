package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
)

func TestMan(t *testing.T) {
	t.Parallel()
	epoch := []string{"SOURCE_DATE_EPOCH=1780000000"}
	pages := func(args ...string) map[string]string {
		dir := filepath.Join(t.TempDir(), "man1")
		code, out, errs := prwarden(t, epoch, append([]string{"man", dir}, args...)...)
		require.Equal(t, cli.ExitOK, code, errs)
		assert.Empty(t, out+errs)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		all := map[string]string{}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			all[e.Name()] = string(text)
		}
		return all
	}
	all := pages()
	for _, cmd := range commands(newRoot(cli.Streams{})) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		assert.Contains(t, all[name], `"May 2026"`, name)
		if !cmd.HasSubCommands() && cmd.Name() != "version" {
			assert.Contains(t, all[name], "\n.SH EXAMPLE\n", name)
		}
	}
	assert.Len(t, all, len(commands(newRoot(cli.Streams{}))))
	assert.Equal(t, all, pages(), "the same every time")

	client := pages("--client")
	assert.Contains(t, client, "prwarden-review.1")
	assert.NotContains(t, client, "prwarden-serve.1")
	assert.NotContains(t, client["prwarden.1"], `prwarden-serve`)

	code, _, errs := prwarden(t, []string{"SOURCE_DATE_EPOCH=today"}, "man", t.TempDir())
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, `SOURCE_DATE_EPOCH: "today" is not a number of seconds since 1970`)
}
