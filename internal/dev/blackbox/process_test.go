package blackbox_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// logbook is what a process says, or several one after the other.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) add(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(line)
	l.text.WriteByte('\n')
}

// String implements fmt.Stringer.
func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// process is a running program under test.
type process struct {
	cmd     *exec.Cmd
	home    string         // of nobody else
	serving map[string]any // the line of its log that says where it serves
	log     *logbook
	exited  chan struct{}
}

// startProcess runs the program, with all that it writes in dir and with more
// of an environment, and waits until it says that it serves. Who starts it ends
// it. What it leaves behind ends before the test does, and so before dir is
// removed.
func startProcess(t *testing.T, dir string, log *logbook, environment []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(binary, args...), home: dir, log: log, exited: make(chan struct{})}
	t.Cleanup(func() {
		if t.Failed() && p.cmd.Process != nil {
			_ = p.cmd.Process.Kill() // a test that broke off may not have come to its end
		}
		require.Eventually(t, func() bool {
			return len(environs(t, "="+dir)) == 0
		}, eventually, tick, "what works in %s does not end", dir)
	})

	p.cmd.Env = append(env(dir), environment...)
	p.cmd.Dir = dir
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a test that dies leaves no process
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())

	serving := make(chan map[string]any, 1)
	go func() {
		defer close(p.exited)
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			log.add(lines.Bytes())
			var entry map[string]any
			if json.Unmarshal(lines.Bytes(), &entry) == nil && entry["msg"] == "serving" {
				serving <- entry
			}
		}

		_, _ = io.Copy(io.Discard, stderr)
		_ = p.cmd.Wait()
	}()
	select {
	case p.serving = <-serving:
	case <-p.exited:
		require.FailNow(t, "the "+args[0]+" process ended at start", log.String())
	case <-time.After(eventually):
		_ = p.cmd.Process.Kill()
		require.FailNow(t, "the "+args[0]+" process does not serve", log.String())
	}
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

// addr is an address that the process serves on; "" for none.
func (p *process) addr(name string) string {
	text, _ := p.serving[name].(string)
	return text
}

func (p *process) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(sig))
}

// stop ends the process as an operator would, and checks that it ends well.
func (p *process) stop(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	select {
	case <-p.exited:
		require.Equal(t, 0, p.cmd.ProcessState.ExitCode(), p.log.String())
	case <-time.After(eventually):
		_ = p.cmd.Process.Kill()
		require.FailNow(t, "the process does not stop", p.log.String())
	}
}

// kill ends the process as a power cut would, and waits until that has happened,
// also to what it was just starting: until that is another program, it has the
// same files and ports, and the next process may need the same.
func (p *process) kill(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Kill() // an error says that it ended already
	within(t, "the process ends", p.exited)
	require.Eventually(t, func() bool { return len(environs(t, "HOME="+p.home+"\x00")) == 0 }, eventually, tick)
}
