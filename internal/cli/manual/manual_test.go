package manual_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/manual"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

// tree is a program with everything that a manual has to show.
func tree() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "Look at things"}
	root.SetHelpFunc(manual.Help)
	root.SetUsageFunc(manual.Usage)
	root.AddGroup(&cobra.Group{ID: "look", Title: "Look:"})
	look := &cobra.Command{
		Use: "look THING", Short: "Look at a thing", GroupID: "look", Run: run,
		Long: `.start with a dot, 'quoted', C:\path and ~/x^2, in a line that is much too long for eighty columns.
Next line - "of" the same.

  kept   as it
  is     written

Exit status: 0 when it was seen,
2 otherwise.`,
		Example: "  # Look\n  tool look --width 3 \\\n      'a b'\n\n  .profile",
	}
	flags := look.Flags()
	flags.IntP(
		"width",
		"w",
		80,
		"How wide it is, in `COLUMNS`,\nat most.\n[env TOOL_WIDTH, default as wide as the terminal of whoever looks, "+
			"and no wider than that]",
	)
	flags.String("format", "table", "What comes out.")
	flags.Bool("all", false, "Everything.")
	flags.Bool("secret", false, "Not shown.")
	if err := flags.MarkHidden("secret"); err != nil {
		panic(err)
	}
	root.AddCommand(look, &cobra.Command{Use: "other", Short: "Do something else", Run: run},
		&cobra.Command{Use: "hidden", Short: "Not shown", Hidden: true, Run: run})
	return root
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"tool.help": {"--help"}, "look.help": {"look", "--help"}} {
		var out strings.Builder
		root := tree()
		root.SetOut(&out)
		root.SetArgs(args)
		require.NoError(t, root.Execute())
		golden(t, name, out.String())
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), manual.Columns, line)
		}
	}
}

func TestWritePages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edition := manual.Edition{Version: "1.2.3", Date: time.Date(2026, 11, 30, 23, 0, 0, 0, time.FixedZone("", -7200))}
	require.NoError(t, manual.WritePages(dir, tree(), edition))
	var names []string
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		golden(t, e.Name(), string(text))
		assert.Contains(t, string(text), `"Dec 2026"`, "in UTC")
	}
	assert.Equal(t, []string{"tool-look.1", "tool-other.1", "tool.1"}, names)
	require.Error(t, manual.WritePages(filepath.Join(dir, "none"), tree(), edition))
}
