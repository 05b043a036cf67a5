// Package program runs prwarden for benchmarks, chaos and demonstrations: its processes, its configuration, its keys,
// and the repositories that it reads.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// timeout bounds the start of a process, on a machine with far more to do than it can, and its end.
const timeout = 5 * time.Minute

// Options describe a program to run.
type Options struct {
	Path string
	Args []string
	Env  []string // NAME=value, beside those of this process
	Dir  string   // where it works: its HOME, its temporary files and its log
}

// LogFile is where the log of the program is, that of one process after the other.
func (o Options) LogFile() string { return filepath.Join(o.Dir, "log") }

// TempDir is where the program has its temporary files.
func (o Options) TempDir() string { return filepath.Join(o.Dir, "tmp") }

// Process is a running program.
type Process struct {
	HTTP, GRPC, Ops string        // where it serves, HOST:PORT
	Exited          chan struct{} // closed when it is gone

	cmd *exec.Cmd
	log string // a file
	err error  // how it ended; to be read after that
}

// Start runs a program and waits until its log says that it serves. When ctx ends, the program is told to end.
func Start(ctx context.Context, o Options) (*Process, error) {
	path, err := filepath.Abs(o.Path) // it works elsewhere
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.TempDir(), 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(o.LogFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the program has its own

	p := &Process{cmd: exec.CommandContext(ctx, path, o.Args...), log: o.LogFile(), Exited: make(chan struct{})}
	p.cmd.Cancel = func() error { return p.Signal(syscall.SIGTERM) }
	p.cmd.Dir = o.Dir
	p.cmd.Env = append(append(os.Environ(), "HOME="+o.Dir, "TMPDIR="+o.TempDir()), o.Env...)
	p.cmd.Stderr = log

	// In a group of its own, Ctrl-C reaches this program alone, which ends the other one in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	earlier, began := len(p.Log()), time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.Exited)
	}()

	for !p.serves(p.Log()[earlier:]) {
		select {
		case <-p.Exited:
			text := p.Log()
			return nil, fmt.Errorf("%s ended before it served: %w; its log ends:\n%s", o.Path, p.err,
				text[max(0, len(text)-2000):])
		case <-time.After(5 * time.Millisecond):
		}
		if time.Since(began) > timeout {
			_ = p.Signal(syscall.SIGKILL) // an error says that it has just ended
		}
	}
	return p, nil
}

// serves looks for the line of a log that says where the program serves.
func (p *Process) serves(log string) bool {
	for line := range strings.Lines(log) {
		var entry struct {
			Message string `json:"msg"`
			HTTP    string `json:"http_addr"`
			GRPC    string `json:"grpc_addr"`
			Ops     string `json:"ops_addr"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "serving" {
			p.HTTP, p.GRPC, p.Ops = entry.HTTP, entry.GRPC, entry.Ops
			return true
		}
	}

	return false
}

// Log is what the program has said, in all its processes.
func (p *Process) Log() string {
	text, _ := os.ReadFile(p.log) // it was written by this program
	return string(text)
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends the process a signal. It is an error when the process has ended.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Stop ends the process as an operator would. It is an error when it has ended before.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		<-p.Exited
		return fmt.Errorf("the process ended by itself: %w", errors.Join(err, p.err))
	}

	late := time.AfterFunc(timeout, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	<-p.Exited
	return p.err
}

// Build builds programs of this repository, by their folders, into a new folder. The caller calls remove.
func Build(folders ...string) (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", "prwarden-build-")
	if err != nil {
		return "", nil, err
	}
	args := []string{"build", "-o", dir}
	for _, folder := range folders {
		args = append(args, "github.com/prwarden/prwarden/"+folder)
	}
	if _, err := output(context.Background(), os.Environ(), "", "go", args...); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() { _ = os.RemoveAll(dir) }, os.Chmod(dir, 0o755) // some tests run programs as nobody
}
