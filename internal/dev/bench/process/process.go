// Package process runs the real programs for benchmarks: it starts them, waits
// until they say where they serve, ends them, and says what they took.
package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Bounds of waiting for a process.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 40 * time.Second
)

// Process is a running program that is measured: prwarden, or the bare one.
type Process struct {
	Name string
	HTTP string // HOST:PORT
	GRPC string
	Ops  string

	cmd    *exec.Cmd
	exited chan struct{} // closed when it is gone
	err    error         // how, after that
}

// Start runs a program, waits until it says where it serves, and copies what it
// writes to the file logs, as a service manager does. Both prwarden and bare
// say so in a line of JSON: one on stderr, the other on stdout. When ctx ends
// the program is told to.
func Start(ctx context.Context, name, logs string, env []string, program string, args ...string) (*Process, error) {
	log, err := os.Create(logs)
	if err != nil {
		return nil, err
	}
	p := &Process{Name: name, exited: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.Env = append(os.Environ(), env...)
	// Its own group, so that Ctrl-C is for this program, which ends it in order;
	// and it ends with this program, however that ends.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		p.err = errors.Join(p.cmd.Wait(), log.Close())
		close(p.exited)
	}()
	if err := p.await(logs); err != nil {
		_ = p.cmd.Process.Kill()
		<-p.exited
		text, _ := os.ReadFile(logs)
		return nil, fmt.Errorf("%s: %w; it wrote:\n%s", name, err, text)
	}
	return p, nil
}

// await reads the log until the line that says where the process serves.
func (p *Process) await(logs string) error {
	f, err := os.Open(logs)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	lines := bufio.NewReader(f)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(startTimeout)
	var line []byte
	for {
		part, err := lines.ReadBytes('\n')
		line = append(line, part...)
		if err == nil {
			if p.serves(line) {
				return nil
			}
			line = nil
			continue
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		select {
		case <-p.exited:
			return errors.New("it ended at start")
		case <-limit:
			return fmt.Errorf("it does not serve after %s", startTimeout)
		case <-tick.C:
		}
	}
}

func (p *Process) serves(line []byte) bool {
	var entry struct {
		Message string `json:"msg"`
		HTTP    string `json:"http_addr"`
		GRPC    string `json:"grpc_addr"`
		Ops     string `json:"ops_addr"`
	}
	if json.Unmarshal(line, &entry) != nil || entry.Message != "serving" {
		return false
	}
	p.HTTP, p.GRPC, p.Ops = entry.HTTP, entry.GRPC, entry.Ops
	return true
}

// Stop ends the process as an operator would. That it ended before is an error.
func (p *Process) Stop() error {
	if p.Ended() {
		return errors.Join(fmt.Errorf("%s ended by itself", p.Name), p.err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
		return p.err
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return fmt.Errorf("%s did not stop within %s and was killed", p.Name, stopTimeout)
	}
}

// Ended tells whether the process is gone.
func (p *Process) Ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// PID is the process's identifier.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Output runs a program to its end and returns what it writes, without the
// space around it.
func Output(ctx context.Context, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("%s %s: %w: %s", program, args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}
