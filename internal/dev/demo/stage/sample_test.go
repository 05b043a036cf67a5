package stage

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMakeRepository(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, MakeRepository(root))
	require.NoError(t, MakeRepository(root), "it can be made again over an old one")
	g := gitDir{filepath.Join(root, "acme", "shop.git")}
	changed, err := g.run(nil, "diff", "--name-only", "refs/heads/main...refs/pull/1/head")
	require.NoError(t, err)
	assert.Equal(t, []string{
		".github/workflows/label.yml", "api/orders.py", "cmd/worker/main.go",
		"deploy/Dockerfile", "deploy/install.sh", "web/cart.js",
	}, strings.Split(changed, "\n"))
	_, err = g.run(nil, "cat-file", "-e", "refs/heads/main:.prwarden/rules.yml")
	require.NoError(t, err)
}
