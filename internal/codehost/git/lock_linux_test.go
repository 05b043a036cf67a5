package git

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A process that is just being started has copies of all handles.
func TestCloseLockDespiteACopyOfTheHandle(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		return f
	}
	first, second := open(), open()
	copied, err := syscall.Dup(int(first.Fd()))
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Close(copied)) }()

	locked, err := tryLock(first, true)
	require.NoError(t, err)
	require.True(t, locked)
	locked, err = tryLock(second, false)
	require.NoError(t, err)
	assert.False(t, locked)

	require.NoError(t, closeLock(first))
	require.ErrorIs(t, closeLock(first), os.ErrClosed)
	locked, err = tryLock(second, true)
	require.NoError(t, err)
	assert.True(t, locked)
	require.NoError(t, closeLock(second))
}
