package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program that is started again at once whenever it ends, as a supervisor does.
type process struct {
	name string
	dir  string // of everything that it writes: HOME and TMPDIR too
	args []string
	env  []string // NAME=value, over the plain ones
	logs *logs

	mu       sync.Mutex
	cmd      *exec.Cmd // of the present life; nil between two
	stopping bool
	serving  chan struct{} // closed when the present life says that it serves
	done     chan struct{} // closed when there will be no other life
}

// restartPause is between two lives of a process: its port may still be taken.
const restartPause = 50 * time.Millisecond

// start runs a program and keeps it running until stop.
func (p *process) start(binary string) error {
	if err := os.MkdirAll(filepath.Join(p.dir, "tmp"), 0o700); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}

	p.done, p.serving = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.done)
		defer func() { _ = file.Close() }() // a copy for people
		for p.live(binary, file) {
			time.Sleep(restartPause)
		}
	}()
	return nil
}

// live runs the program once. It returns false when the process was stopped.
func (p *process) live(binary string, file io.Writer) bool {
	p.mu.Lock()
	if p.stopping {
		p.mu.Unlock()
		return false
	}
	cmd := exec.CommandContext(context.Background(), binary, p.args...) // stop ends it
	cmd.Dir = p.dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + filepath.Join(p.dir, "tmp"),
	}, p.env...)

	// Whatever becomes of this program, nothing of the world stays.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.mu.Unlock()
		fmt.Fprintln(file, err)
		return true
	}
	p.cmd = cmd
	p.mu.Unlock()

	p.follow(bufio.NewReader(io.TeeReader(stderr, file)))
	_ = cmd.Wait() // how a life ends is what the run is about
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd = nil
	p.notServing()
	return true
}

// follow reads the log of a life, which ends with it.
func (p *process) follow(log *bufio.Reader) {
	for {
		line, err := log.ReadString('\n')
		if p.logs.take(p.name, line) {
			p.mu.Lock()
			close(p.serving)
			p.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// notServing has waitServing wait for the next life. The caller holds mu.
func (p *process) notServing() {
	select {
	case <-p.serving:
		p.serving = make(chan struct{})
	default:
	}
}

// waitServing waits until the present life, or a later one, says that it serves.
func (p *process) waitServing(ctx context.Context) error {
	p.mu.Lock()
	serving := p.serving
	p.mu.Unlock()
	select {
	case <-serving:
		return nil
	case <-p.done:
		return fmt.Errorf("%s was stopped", p.name)
	case <-ctx.Done():
		return fmt.Errorf("%s does not serve: %w; its log is %s", p.name, ctx.Err(), filepath.Join(p.dir, "log"))
	}
}

// signal sends a signal to the present life and returns its process id; 0 between two lives.
func (p *process) signal(s syscall.Signal) (pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.cmd.Process.Signal(s) != nil {
		return 0
	}
	if s == syscall.SIGKILL {
		p.notServing()
	}
	return p.cmd.Process.Pid
}

// stop ends the process as an operator would; it is not started again. A process that is stopped already is left alone.
func (p *process) stop(ctx context.Context) error {
	if p.done == nil {
		return nil
	}
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	p.signal(syscall.SIGCONT)
	p.signal(syscall.SIGTERM)

	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.signal(syscall.SIGKILL)
		<-p.done
		return fmt.Errorf("%s did not stop: %w; its log is %s", p.name, ctx.Err(), filepath.Join(p.dir, "log"))
	}
}

// logs are what all processes say on stderr, as far as it is judged.
type logs struct {
	mu        sync.Mutex
	completed map[string]int // by review: how often a server said that its scan ended complete
	strange   []string       // lines that are no JSON: a panic writes such
}

// take reads a line. It tells whether it says that the process serves.
func (l *logs) take(process, line string) (serving bool) {
	var entry struct {
		Message  string `json:"msg"`
		ReviewID string `json:"review_id"`
		Status   any    `json:"status"` // of a scan a word, of a request a number
	}
	err := json.Unmarshal([]byte(line), &entry)
	whole := strings.HasSuffix(line, "\n") // else a kill cut it off

	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil && strings.HasPrefix(line, "prwarden: "):
		// The sentence with which a life ends that could not begin, as when the database is away.
	case err != nil && whole && strings.TrimSpace(line) != "" && len(l.strange) < 100:
		l.strange = append(l.strange, process+": "+strings.TrimSpace(line))
	case entry.Message == "scan ended" && entry.Status == "complete":
		l.completed[entry.ReviewID]++
	}
	return entry.Message == "serving"
}
