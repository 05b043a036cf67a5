package stage_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
	"github.com/prwarden/prwarden/internal/dev/program"
)

func TestMakeRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, stage.MakeRepository(t.Context(), dir))
	changed := func(span string) []string {
		out, err := program.Git(t.Context(), filepath.Join(dir, "repos", "acme", "shop.git"), "", "diff", "--name-only", span)
		require.NoError(t, err)
		return strings.Fields(out)
	}
	assert.Equal(t, []string{
		".github/workflows/label.yml", "api/orders.py", "cmd/worker/main.go",
		"deploy/Dockerfile", "deploy/install.sh", "web/cart.js",
	}, changed("main...refs/pull/1/head"))
	assert.Equal(t, []string{"api/refunds.py", "web/refund.js"}, changed("main...refs/pull/2/head"))

	require.NoError(t, stage.Push(t.Context(), dir))
	again := []string{"api/refunds.py", "deploy/install.sh", "web/refund.js"}
	assert.Equal(t, again, changed("main...refs/pull/2/head"))
	assert.Equal(t, again, changed("refs/pull/2/head^..refs/pull/2/head"))
}
