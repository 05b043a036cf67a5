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
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of waiting for a process.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 40 * time.Second
)

// process is a running program that is measured: prwarden, or the bare one.
type process struct {
	name   string
	http   string // HOST:PORT
	grpc   string
	ops    string
	cmd    *exec.Cmd
	exited chan struct{} // closed when it is gone
	err    error         // how, after that
}

// start runs a program, waits until it says where it serves, and copies what it
// writes to the file logs, as a service manager does. Both prwarden and bare
// say so in a line of JSON: one on stderr, the other on stdout.
func start(ctx context.Context, name, logs string, env []string, program string, args ...string) (*process, error) {
	log, err := os.Create(logs)
	if err != nil {
		return nil, err
	}
	p := &process{name: name, exited: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, program, args...)
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
func (p *process) await(logs string) error {
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

func (p *process) serves(line []byte) bool {
	var entry struct {
		Message string `json:"msg"`
		HTTP    string `json:"http_addr"`
		GRPC    string `json:"grpc_addr"`
		Ops     string `json:"ops_addr"`
	}
	if json.Unmarshal(line, &entry) != nil || entry.Message != "serving" {
		return false
	}
	p.http, p.grpc, p.ops = entry.HTTP, entry.GRPC, entry.Ops
	return true
}

// stop ends the process as an operator would.
func (p *process) stop() error {
	select {
	case <-p.exited:
		return fmt.Errorf("%s ended by itself: %w", p.name, p.err)
	default:
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
		return fmt.Errorf("%s did not stop within %s and was killed", p.name, stopTimeout)
	}
}

// spent is the processor time that the process took so far.
func (p *process) spent() (time.Duration, error) { return processTime(p.cmd.Process.Pid) }

// processTime is the processor time of a process with all its threads, also
// those that ended. The kernel keeps it to the nanosecond; /proc/PID/stat has
// hundredths of seconds.
func processTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED: user and system time
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, fmt.Errorf("processor time of %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// familyTime is the processor time of a process and its children. Children that
// ended since the last look are missing; the database's stay while their
// connections do.
func familyTime(parent int) (time.Duration, error) {
	sum, err := processTime(parent)
	if err != nil {
		return 0, err
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		// The name, in parentheses, may have spaces.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return 0, err
		}
		if d, err := processTime(pid); err == nil {
			sum += d
		}
	}
	return sum, nil
}
