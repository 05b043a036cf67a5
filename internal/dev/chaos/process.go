package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// process is a program that is started again at once whenever it ends, as a supervisor does.
type process struct {
	program.Options
	name   string
	cancel context.CancelFunc
	done   chan struct{} // closed when there will be no other life

	mu   sync.Mutex
	life *program.Process // nil while nothing serves
}

// restartPause is between two lives of a process: its port may still be taken.
const restartPause = 50 * time.Millisecond

// start runs the program and keeps it running until stop.
func (p *process) start() {
	ctx, cancel := context.WithCancel(context.Background()) // stop ends it
	p.cancel, p.done = cancel, make(chan struct{})
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			if life, err := program.Start(ctx, p.Options); err == nil { // else its log says why
				p.set(life)
				<-life.Exited
				p.set(nil)
			}
			_ = pause(ctx, restartPause)
		}
	}()
}

func (p *process) set(life *program.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life = life
}

// waitServing waits until the process serves.
func (p *process) waitServing(ctx context.Context) error {
	for p.signal(0) == 0 {
		if pause(ctx, 20*time.Millisecond) != nil {
			return fmt.Errorf("%s does not serve: %w; its log is %s", p.name, ctx.Err(), p.LogFile())
		}
	}
	return nil
}

// signal sends a signal to the process and returns its id; 0 while nothing serves.
func (p *process) signal(s syscall.Signal) (pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life == nil || p.life.Signal(s) != nil {
		return 0
	}
	return p.life.PID()
}

// stop ends the process as an operator would.
func (p *process) stop(ctx context.Context) error {
	p.cancel()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.signal(syscall.SIGKILL)
		<-p.done
		return fmt.Errorf("%s did not stop: %w; its log is %s", p.name, ctx.Err(), p.LogFile())
	}
}

// logs are what all processes say in their logs, as far as it is judged.
type logs struct {
	mu        sync.Mutex
	completed map[string]int // by review: how often a server said that its scan ended complete
	strange   []string       // lines that are no JSON: a panic writes such
}

// take reads a line of a log.
func (l *logs) take(line []byte) {
	var entry struct {
		Message  string `json:"msg"`
		ReviewID string `json:"review_id"`
		Status   any    `json:"status"` // of a scan a word, of a request a number
	}
	err := json.Unmarshal(line, &entry)
	text := bytes.TrimSpace(line)

	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(text) == 0 || bytes.HasPrefix(text, []byte("prwarden: ")):
		// With such a sentence a life ends that could not begin, as when the database is away.
	case err != nil && bytes.HasSuffix(line, []byte("\n")): // a kill cuts a line off
		l.strange = append(l.strange, string(text))
	case entry.Message == "scan ended" && entry.Status == "complete":
		l.completed[entry.ReviewID]++
	}
}

// pause waits; it returns an error when ctx ended first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
