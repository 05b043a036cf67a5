package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriteConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, err := writeConfig(dir, DefaultLimits())
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, configFile(DefaultLimits()), string(text))

	// With what it needs there already, it writes nothing, so that it can start
	// on a full disk.
	before, err := os.Stat(path)
	require.NoError(t, err)
	_, err = writeConfig(dir, DefaultLimits())
	require.NoError(t, err)
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))

	other := DefaultLimits()
	other.LowSpeed += time.Second
	_, err = writeConfig(dir, other)
	require.NoError(t, err)
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, configFile(other), string(text))
}

// TestWriteConfigFails leaves nothing behind when the file can't be put in its
// place.
func TestWriteConfigFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "gitconfig", "in the way"), 0o700))
	_, err := writeConfig(dir, DefaultLimits())
	require.Error(t, err)
	left, err := filepath.Glob(filepath.Join(dir, "gitconfig-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}
