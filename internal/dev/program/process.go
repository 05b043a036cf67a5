// Package program runs prwarden for benchmarks, chaos and demonstrations: its processes, its configuration, its keys,
// and the repositories that it reads.
package program

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Bounds of waiting for a process.
const (
	startTimeout = 5 * time.Minute // on a machine with far more to do than it can
	stopTimeout  = 5 * time.Minute
)

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
	Ready           time.Duration // from its start until it served
	Exited          chan struct{} // closed when it is gone

	cmd *exec.Cmd
	log string // a file
	err error  // how it ended; to be read after that
}

// Start runs a program and waits until its log says that it serves. When ctx ends, the program is told to end.
func Start(ctx context.Context, o Options) (*Process, error) {
	if err := os.MkdirAll(o.TempDir(), 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(o.LogFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}

	p := &Process{cmd: exec.CommandContext(ctx, o.Path, o.Args...), log: o.LogFile(), Exited: make(chan struct{})}
	p.cmd.Cancel = func() error { return p.Signal(syscall.SIGTERM) }
	p.cmd.Dir = o.Dir
	p.cmd.Env = append(append(os.Environ(), "HOME="+o.Dir, "TMPDIR="+o.TempDir()), o.Env...)

	// In a group of its own, Ctrl-C reaches this program alone, which ends the other one in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}

	serving := make(chan struct{})
	go p.follow(io.TeeReader(stderr, log), serving, log)
	select {
	case <-serving:
		p.Ready = time.Since(began)
		return p, nil
	case <-p.Exited:
	case <-time.After(startTimeout):
		_ = p.cmd.Process.Kill() // an error says that it has just ended
		<-p.Exited
	}
	text := p.Log()
	return nil, fmt.Errorf("%s ended before it served: %w; its log ends:\n%s", o.Path, p.err,
		text[max(0, len(text)-2000):])
}

// follow reads the log to its end, which is that of the process. One line says where the program serves.
func (p *Process) follow(log io.Reader, serving chan<- struct{}, file io.Closer) {
	lines := bufio.NewReader(log)
	for err := error(nil); err == nil; {
		var line []byte
		line, err = lines.ReadBytes('\n')

		var entry struct {
			Message string `json:"msg"`
			HTTP    string `json:"http_addr"`
			GRPC    string `json:"grpc_addr"`
			Ops     string `json:"ops_addr"`
		}
		if p.HTTP+p.GRPC == "" && json.Unmarshal(line, &entry) == nil && entry.Message == "serving" {
			p.HTTP, p.GRPC, p.Ops = entry.HTTP, entry.GRPC, entry.Ops
			close(serving)
		}
	}
	p.err = errors.Join(p.cmd.Wait(), file.Close())
	close(p.Exited)
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

	timeout := time.AfterFunc(stopTimeout, func() { _ = p.cmd.Process.Kill() })
	defer timeout.Stop()
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
