package blackbox_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// process is a running program under test.
type process struct {
	*program.Process
	home string // of nobody else
}

// startProcess runs the program, with all that it writes in dir and with more of an environment, and waits until it
// says that it serves. Who starts it ends it. What it leaves behind ends before the test does, and so before dir is
// removed.
func startProcess(t *testing.T, dir string, environment []string, args ...string) *process {
	t.Helper()
	p := &process{home: dir}
	t.Cleanup(func() {
		if t.Failed() && p.Process != nil {
			_ = p.Signal(syscall.SIGKILL) // a test that broke off may not have come to its end
		}
		require.Eventually(t, func() bool {
			return len(environs(t, "="+dir)) == 0
		}, eventually, tick, "what works in %s does not end", dir)
	})

	var err error
	o := program.Options{Path: binary, Args: args, Env: environment, Dir: dir}
	p.Process, err = program.Start(context.Background(), o) // the test ends it
	require.NoError(t, err)
	return p
}

// environs are the environments that hold a text, whoever is the parent of the
// process, by its folder below /proc.
func environs(t *testing.T, text string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	found := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(text)) { // else it has ended
			found[filepath.Dir(path)] = string(data)
		}
	}

	return found
}

func (p *process) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	require.NoError(t, p.Signal(sig))
}

// stop ends the process as an operator would, and checks that it ends well.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Stop(), p.Log())
}

// kill ends the process as a power cut would, and waits until that has happened,
// also to what it was just starting: until that is another program, it has the
// same files and ports, and the next process may need the same.
func (p *process) kill(t *testing.T) {
	t.Helper()
	_ = p.Signal(syscall.SIGKILL) // an error says that it ended already
	within(t, "the process ends", p.Exited)
	require.Eventually(t, func() bool { return len(environs(t, "HOME="+p.home+"\x00")) == 0 }, eventually, tick)
}
