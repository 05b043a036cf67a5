package folder_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

const ownRule = "{id: own, type: regex, pattern: needle, message: m, severity: low}"

func ids(l *folder.Loaded) []string {
	var list []string
	for _, r := range slices.Concat(l.Defaults, l.File.Rules) {
		list = append(list, r.FullID())
	}

	return list
}

func TestLoad(t *testing.T) {
	t.Parallel()
	builtIn, err := defaults.Load()
	require.NoError(t, err)
	first, second := builtIn[0].FullID(), builtIn[1].FullID()
	root := tree(t, map[string]string{
		".prwarden/rules.yml": "version: 1\ndisable: [" + first + ", none/such]\n" +
			"override: {none/other: {severity: low}, " + second +
			": {severity: low}}\nexclude: [x]\nrules: [" + ownRule + "]\n",
		"rules.yml": "version: 1\nrules: [" + strings.Replace(ownRule, "own", "cli", 1) + "]\n",
		"sub/file":  "",
	})

	inRoot, given := filepath.Join(root, ".prwarden", "rules.yml"), filepath.Join(root, "rules.yml")

	l, err := folder.Load(t.Context(), folder.Sources{Root: root})
	require.NoError(t, err)
	assert.Equal(t, inRoot, l.Path)
	assert.Len(t, ids(l), len(builtIn)+1)
	assert.Contains(t, ids(l), "custom/own")
	assert.Equal(t, []rule.Disabled{{ID: first, Line: 2}, {ID: "none/such", Line: 2}}, l.File.Disable)

	l, err = folder.Load(t.Context(), folder.Sources{Root: root, NoDefaults: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"custom/own"}, ids(l))

	l, err = folder.Load(t.Context(), folder.Sources{Root: root, File: given})
	require.NoError(t, err)
	assert.Equal(t, given, l.Path)
	assert.Len(t, ids(l), len(builtIn)+1)
	assert.Contains(t, ids(l), "custom/cli")
	assert.NotContains(t, ids(l), "custom/own", "instead of the folder's")

	for _, without := range []string{filepath.Join(root, "sub"), filepath.Join(root, "sub", "file")} {
		l, err = folder.Load(t.Context(), folder.Sources{Root: without})
		require.NoError(t, err)
		assert.Empty(t, l.Path)
		assert.Len(t, ids(l), len(builtIn))
		_, err = folder.Load(t.Context(), folder.Sources{Root: without, NoDefaults: true})
		require.ErrorIs(t, err, folder.ErrNoRules)
	}
}

func TestLoadFails(t *testing.T) {
	t.Parallel()
	builtIn, err := defaults.Load()
	require.NoError(t, err)
	many := func(n int) string {
		var b strings.Builder
		b.WriteString("version: 1\nrules:\n")

		for i := range n {
			fmt.Fprintf(&b, "- {id: r%d, type: regex, pattern: a, message: m, severity: low}\n", i)
		}

		return b.String()
	}

	clash := "version: 1\nrules:\n- " + strings.Replace(ownRule, "own", builtIn[0].ID, 1)
	root := tree(t, map[string]string{
		"broken.yml": "version: 1\nrules: [{id: a}]\n", "clash.yml": clash, "many.yml": many(501), rule.FilePath: many(501),
	})

	for name, tt := range map[string]struct {
		sources folder.Sources
		want    string
	}{
		"broken": {folder.Sources{Root: root, File: "broken.yml"}, "broken.yml: line 2: rules[0].type: is required"},
		"a clash": {
			folder.Sources{Root: root, File: "clash.yml"},
			"clash.yml: line 3: id: " + builtIn[0].ID + " is the id of a rule of the default ruleset",
		},
		"no file":        {folder.Sources{Root: root, File: "none.yml"}, "the rules file can't be read: "},
		"a directory":    {folder.Sources{Root: root, File: ".prwarden"}, "the rules file can't be read: "},
		"many in folder": {folder.Sources{Root: root}, "rules.yml: line 503: rules: has 501 entries; at most 500"},
		"no root":        {folder.Sources{Root: filepath.Join(root, "none")}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.sources.File != "" {
				tt.sources.File = filepath.Join(root, tt.sources.File)
			}

			_, err := folder.Load(t.Context(), tt.sources)
			require.ErrorContains(t, err, tt.want)
		})
	}

	for file, rules := range map[string]int{"many.yml": 501, "clash.yml": 1} { // one's own file may have more
		l, err := folder.Load(t.Context(), folder.Sources{File: filepath.Join(root, file), NoDefaults: true})
		require.NoError(t, err)
		assert.Len(t, ids(l), rules)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = folder.Load(ctx, folder.Sources{Root: root, File: filepath.Join(root, "many.yml")})
	require.ErrorIs(t, err, context.Canceled)
}

// As in a review, a link is not what it points to.
func TestLoadFollowsNoLinks(t *testing.T) {
	t.Parallel()
	elsewhere := tree(t, map[string]string{"rules.yml": "version: 1\nrules: [" + ownRule + "]\n"})

	for name, link := range map[string]func(root string) error{
		"file": func(root string) error {
			dir := filepath.Join(root, ".prwarden")
			target := filepath.Join(elsewhere, "rules.yml")
			return errors.Join(os.Mkdir(dir, 0o755), os.Symlink(target, filepath.Join(dir, "rules.yml")))
		},
		"directory": func(root string) error { return os.Symlink(elsewhere, filepath.Join(root, ".prwarden")) },
		"a directory of it": func(root string) error {
			return os.MkdirAll(filepath.Join(root, ".prwarden", "rules.yml"), 0o755)
		},
	} {
		root := t.TempDir()
		require.NoError(t, link(root), name)
		l, err := folder.Load(t.Context(), folder.Sources{Root: root})
		require.NoError(t, err, name)
		assert.True(t, l.Irregular, name)
		assert.Empty(t, l.File, name)
	}
}
