package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	found, err := exec.LookPath("git")
	require.NoError(t, err)
	link, cache := filepath.Join(dir, "git"), filepath.Join(dir, "cache")
	require.NoError(t, os.Symlink(found, link))
	s, err := New(Options{Dir: cache, Git: link, Limits: DefaultLimits()})
	require.NoError(t, err)
	before, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.NoError(t, s.Check(t.Context()))
	after, err := os.ReadDir(cache)
	require.NoError(t, err)
	assert.Len(t, after, len(before), "nothing is left behind")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Check(ended), context.Canceled)

	require.NoError(t, os.Rename(link, link+".away"))
	require.ErrorContains(t, s.Check(t.Context()), "git")
	require.NoError(t, os.Rename(link+".away", link))
	require.NoError(t, s.Check(t.Context()))

	require.NoError(t, os.RemoveAll(cache))
	require.ErrorIs(t, s.Check(t.Context()), os.ErrNotExist)
	require.NoError(t, os.WriteFile(cache, nil, 0o600)) // no directory, for root too
	require.Error(t, s.Check(t.Context()))
}
