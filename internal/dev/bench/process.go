package main

import (
	"bufio"
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

	"github.com/prometheus/procfs"
)

// Bounds of waiting for a process.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 40 * time.Second
)

// process is a running server: prwarden, or the bare program.
type process struct {
	address string // HOST:PORT of its REST API

	cmd    *exec.Cmd
	exited chan struct{} // closed when it is gone
	err    error         // how it ended; to be read after that
}

// startProcess runs a program and waits until it says where it serves. Its log goes to a file. When ctx ends, the
// program is told to.
func startProcess(ctx context.Context, logs string, env []string, program string, args ...string) (*process, error) {
	file, err := os.Create(logs)
	if err != nil {
		return nil, err
	}

	p := &process{cmd: exec.CommandContext(ctx, program, args...), exited: make(chan struct{})}
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.Env = append(os.Environ(), env...)

	// Its own group, so that Ctrl-C reaches this program alone, which ends the other one in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}

	said, lines := &strings.Builder{}, bufio.NewReader(stderr)
	timeout := time.AfterFunc(startTimeout, func() { _ = p.cmd.Process.Kill() })
	for err == nil && p.address == "" {
		err = p.readLine(lines, said)
	}
	timeout.Stop()

	go func() {
		_, copied := io.Copy(file, lines)
		p.err = errors.Join(copied, p.cmd.Wait(), file.Close())
		close(p.exited)
	}()
	if err != nil {
		<-p.exited
		return nil, fmt.Errorf("%s ended before it served: %w; it wrote:\n%s", program, p.err, said)
	}
	return p, nil
}

// readLine reads a line of the log, which may say where the process serves.
func (p *process) readLine(lines *bufio.Reader, said *strings.Builder) error {
	line, err := lines.ReadString('\n')
	said.WriteString(line)

	var entry struct {
		Message string `json:"msg"`
		Address string `json:"http_addr"`
	}
	if json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "serving" {
		p.address = entry.Address
	}
	return err
}

// stop ends the process as an operator would. It is an error when it has ended before.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		<-p.exited
		return fmt.Errorf("the server ended by itself: %w", errors.Join(err, p.err))
	}

	timeout := time.AfterFunc(stopTimeout, func() { _ = p.cmd.Process.Kill() })
	defer timeout.Stop()
	<-p.exited
	return p.err
}

// spent is the processor time that the process and its finished children took so far.
func (p *process) spent() time.Duration { return processorTime(p.cmd.Process.Pid) }

// peakMemory is the most resident memory that the process had, in MiB.
func (p *process) peakMemory() float64 {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0
	}
	status, err := proc.NewStatus()
	if err != nil {
		return 0
	}
	return float64(status.VmHWM) / (1 << 20)
}

// processorTime is that of a process and of its finished children; 0 when the process is gone.
func processorTime(pid int) time.Duration {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	stat, err := proc.Stat()
	if err != nil {
		return 0
	}
	return ticks(stat)
}

// familyTime is that of a process and of its children.
func familyTime(parent int) time.Duration {
	sum := processorTime(parent)
	all, err := procfs.AllProcs()
	if err != nil {
		return sum
	}

	for _, proc := range all {
		// A process that ended meanwhile has nothing to read, and its parent counts it.
		if stat, err := proc.Stat(); err == nil && stat.PPID == parent {
			sum += ticks(stat)
		}
	}
	return sum
}

// ticks turns the kernel's hundredths of a second into a duration.
func ticks(stat procfs.ProcStat) time.Duration {
	const perSecond = 100
	n := int64(stat.UTime) + int64(stat.STime) + int64(stat.CUTime) + int64(stat.CSTime)
	return time.Duration(n) * time.Second / perSecond
}
