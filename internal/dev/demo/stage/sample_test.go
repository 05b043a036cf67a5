package stage_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

func TestMakeRepository(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, stage.MakeRepository(root))
	require.NoError(t, stage.MakeRepository(root), "it can be made again over an old one")
	changed := func(span string) []string {
		dir := filepath.Join(root, "acme", "shop.git")
		out, err := exec.Command("git", "--git-dir", dir, "diff", "--name-only", span).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	assert.Equal(t, []string{
		".github/workflows/label.yml", "api/orders.py", "cmd/worker/main.go",
		"deploy/Dockerfile", "deploy/install.sh", "web/cart.js",
	}, changed("main...refs/pull/1/head"))
	assert.Equal(t, []string{"api/refunds.py", "web/refund.js"}, changed("main...refs/pull/2/head"))

	require.NoError(t, stage.Push(root))
	assert.Equal(t, []string{"api/refunds.py", "deploy/install.sh", "web/refund.js"}, changed("main...refs/pull/2/head"))
	assert.Equal(t, []string{"api/refunds.py", "deploy/install.sh", "web/refund.js"},
		changed("refs/pull/2/head^..refs/pull/2/head"))
}
