package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
)

// A rules file that never ends does not keep an interrupted scan.
func TestScanIsInterruptedWhileRulesLoad(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	fifo := filepath.Join(root, "rules")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	t.Cleanup(func() { // let go of the reader
		f, err := os.OpenFile(fifo, os.O_RDWR, 0)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error, 1)
	go func() {
		var out, errOut strings.Builder
		ended <- cli.Scan(ctx, cli.Streams{Out: &out, Err: &errOut},
			all(root, withRules(fifo)))
	}()
	select {
	case err := <-ended:
		require.ErrorContains(t, err, "interrupted")
		assert.Equal(t, cli.ExitFailed, cli.ExitCode(err))
	case <-time.After(5 * time.Minute):
		assert.Fail(t, "the scan goes on")
	}
}
