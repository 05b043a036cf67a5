package world

import (
	"bufio"
	"context"
	"errors"
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

// Process is a program that is started again at once whenever it ends, as a
// supervisor does. Its methods may be called from several goroutines.
type Process struct {
	Name    string
	Dir     string // of everything that it writes: HOME and TMPDIR too
	binary  string
	args    []string
	env     []string // NAME=value, over the plain ones
	logs    *Logs
	logFile *os.File

	closeLog sync.Once
	mu       sync.Mutex
	cmd      *exec.Cmd // of the present life; nil between two
	frozen   bool
	stopping bool
	serving  chan struct{} // closed when the present life says that it serves
	done     chan struct{} // closed when there will be no other life
	lives    int
	failed   int // lives that ended by themselves with another status than 0
}

// restartPause is between the end of a process that ended by itself and its
// next life: a port may still be taken.
const restartPause = 50 * time.Millisecond

// startProcess runs a program and keeps it running until Stop.
func startProcess(p *Process) error {
	if err := os.MkdirAll(filepath.Join(p.Dir, "tmp"), 0o700); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(p.Dir, "log"))
	if err != nil {
		return err
	}
	p.logFile, p.done = file, make(chan struct{})
	stderr, err := p.begin()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	go p.supervise(stderr)
	return nil
}

// begin starts a life.
func (p *Process) begin() (io.Reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping {
		return nil, errStopping
	}
	cmd := exec.CommandContext(context.Background(), p.binary, p.args...) // Stop ends it
	cmd.Dir = p.Dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Dir, "TMPDIR=" + filepath.Join(p.Dir, "tmp")}, p.env...)
	// Whatever becomes of this program, nothing of the world stays.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.cmd, p.serving, p.frozen = cmd, make(chan struct{}), false
	p.lives++
	return stderr, nil
}

var errStopping = errors.New("the process is being stopped")

// supervise follows each life to its end and begins the next one.
func (p *Process) supervise(stderr io.Reader) {
	defer close(p.done)
	for {
		p.follow(stderr)
		err := p.cmd.Wait()
		p.mu.Lock()
		killed := p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
		p.cmd = nil
		if err != nil && !killed {
			p.failed++
		}
		p.mu.Unlock()
		for pause := time.Duration(0); ; pause = restartPause {
			if !killed || pause > 0 {
				<-time.After(restartPause)
			}
			if stderr, err = p.begin(); err == nil {
				break
			}
			if errors.Is(err, errStopping) {
				return
			}
		}
	}
}

// follow reads the log of a life, which ends with it.
func (p *Process) follow(stderr io.Reader) {
	p.mu.Lock()
	serving := p.serving
	p.mu.Unlock()
	lines := bufio.NewReader(stderr)
	for said := false; ; {
		line, err := lines.ReadString('\n')
		_, _ = p.logFile.WriteString(line) // a copy for people; what is checked is what was read
		if p.logs.take(p.Name, line) && !said {
			said = true
			close(serving)
		}
		if err != nil {
			return
		}
	}
}

// WaitServing waits until the present life, or a later one, says that it
// serves.
func (p *Process) WaitServing(ctx context.Context) error {
	for {
		p.mu.Lock()
		serving := p.serving
		p.mu.Unlock()
		select {
		case <-serving:
			return nil
		case <-p.done:
			return fmt.Errorf("%s was stopped", p.Name)
		case <-ctx.Done():
			return fmt.Errorf("%s does not serve: %w; its log ends with:\n%s", p.Name, ctx.Err(), p.LogTail())
		case <-time.After(100 * time.Millisecond): // there may be another life
		}
	}
}

// PID is the process, 0 between two lives.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Kill ends the present life with SIGKILL, which it returns the id of; the next
// one begins at once. Between two lives it does nothing and returns 0.
func (p *Process) Kill() (pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	pid = p.cmd.Process.Pid
	p.serving = make(chan struct{}) // this life does not serve any more; the next one has its own
	_ = p.cmd.Process.Kill()        // an error says that it ended already
	return pid
}

// Freeze stops the process without ending it. It returns the process, 0 between
// two lives.
func (p *Process) Freeze() (pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.cmd.Process.Signal(syscall.SIGSTOP) != nil {
		return 0
	}
	p.frozen = true
	return p.cmd.Process.Pid
}

// Thaw lets a frozen process go on.
func (p *Process) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.frozen {
		_ = p.cmd.Process.Signal(syscall.SIGCONT) // an error says that it ended
	}
	p.frozen = false
}

// Frozen tells whether the process was stopped by Freeze.
func (p *Process) Frozen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen
}

// Lives says how often the process was started, and how many of its lives
// ended by themselves with an error.
func (p *Process) Lives() (all, failed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lives, p.failed
}

// Stop ends the process with SIGTERM and waits; it is not started again. When
// ctx ends first, or the process ends with an error, that is an error. Stopping
// twice is stopping once.
func (p *Process) Stop(ctx context.Context) error {
	p.mu.Lock()
	if p.done == nil {
		p.mu.Unlock()
		return nil // it was never started
	}
	p.stopping = true
	cmd := p.cmd
	if cmd != nil {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	p.mu.Unlock()
	var err error
	select {
	case <-p.done:
		if cmd != nil && !cmd.ProcessState.Success() {
			err = fmt.Errorf("%s ended with %s; its log ends with:\n%s", p.Name, cmd.ProcessState, p.LogTail())
		}
	case <-ctx.Done():
		p.Kill()
		<-p.done
		err = fmt.Errorf("%s did not stop: %w; its log ends with:\n%s", p.Name, ctx.Err(), p.LogTail())
	}
	p.closeLog.Do(func() { err = errors.Join(err, p.logFile.Close()) })
	return err
}

// LogTail is the end of the process's log, for people.
func (p *Process) LogTail() string {
	const most = 3_000
	text, err := os.ReadFile(filepath.Join(p.Dir, "log"))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}
