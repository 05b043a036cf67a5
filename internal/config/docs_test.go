package config_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/config"
)

var update = flag.Bool("update", false, "write the table of settings into the documentation")

const (
	operations = "../../docs/operations/configure.md"
	tableBegin = "<!-- settings: written by go test ./internal/config -update -->\n"
	tableEnd   = "<!-- end of settings -->\n"
)

// The documentation's table of settings is the code's.
func TestOperationsListsEverySetting(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(operations)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(data), tableBegin)
	require.True(t, found)
	table, after, found := strings.Cut(rest, tableEnd)
	require.True(t, found)
	if *update {
		table = settingsTable()
		require.NoError(t, os.WriteFile(operations, []byte(before+tableBegin+table+tableEnd+after), 0o644))
	}
	assert.Equal(t, settingsTable(), table, "run go test ./internal/config -update")
}

func settingsTable() string {
	commands := []struct {
		bit  config.Command
		name string
	}{
		{config.Serve, "serve"},
		{config.Scanner, "scanner"},
		{config.Migrate, "migrate"},
		{config.Keys, "keys"},
		{config.Review, "review"},
		{config.Backup, "backup, restore"},
		{config.Organizations, "organizations"},
		{config.Connections, "connections"},
		{config.Users, "users"},
	}
	var b strings.Builder
	b.WriteString("\n| Flag | File | Default | Commands | What it is |\n|---|---|---|---|---|\n")
	for _, s := range config.Settings(all) {
		var names []string
		for _, c := range commands {
			if s.Commands&c.bit != 0 {
				names = append(names, c.name)
			}
		}
		flagText := "--" + s.Flag()
		if s.Value != "" {
			flagText += " " + s.Value
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", flagText, code(s.FileKey()), s.Default,
			strings.Join(names, ", "), strings.ReplaceAll(s.Usage, "\n", " "))
	}
	b.WriteString("\n")
	return b.String()
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
