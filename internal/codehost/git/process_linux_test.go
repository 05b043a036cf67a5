package git

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestLongCommandsHaveALowPriority(t *testing.T) {
	t.Parallel()
	own, err := unix.Getpriority(unix.PRIO_PROCESS, os.Getpid()) // 20 less the niceness
	require.NoError(t, err)
	path, err := exec.LookPath("git")
	require.NoError(t, err)
	limits := DefaultLimits()
	limits.Moment = time.Nanosecond
	g := &git{path: path, limits: limits, dir: t.TempDir()}
	p, err := g.start(t.Context(), newCommand("hash-object", "--stdin")) // it waits for its input
	require.NoError(t, err)
	defer p.kill()
	require.Eventually(t, func() bool {
		raw, err := unix.Getpriority(unix.PRIO_PROCESS, p.cmd.Process.Pid)
		return err == nil && 20-raw == min(20-own+10, 19)
	}, time.Minute, time.Millisecond)
}

// A thread ends with a goroutine that has locked it, as those of package background
// do, and with it everything that it started would.
func TestCommandsOutliveThreads(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("git")
	require.NoError(t, err)
	g := &git{path: path, limits: DefaultLimits(), dir: t.TempDir()}
	started := make(chan *process)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		p, err := g.start(t.Context(), newCommand("hash-object", "--stdin"))
		assert.NoError(t, err)
		started <- p
	}()
	p := <-started
	require.NotNil(t, p)
	for range 20 { // the thread has ended then
		done := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(done)
		}()
		<-done
	}
	require.NoError(t, p.stdin.Close())
	hash, err := io.ReadAll(p.stdout)
	require.NoError(t, err)
	require.NoError(t, p.wait(t.Context()))
	assert.Equal(t, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n", string(hash))
}
