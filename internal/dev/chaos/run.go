package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// run is one run: a world, its clients and its faults.
type run struct {
	*world
	progress io.Writer
	clients  *clients
	injector *injector
	began    time.Time // of the faults
}

// closeTimeout bounds the end of all parts together.
const closeTimeout = 5 * time.Minute

// execute makes a world, breaks it, and returns what it found.
func execute(ctx context.Context, s settings, progress io.Writer) (v *verdict, err error) {
	pulls, err := makePulls(ctx, filepath.Join(s.dir, "hosts"), s)
	if err != nil {
		return nil, err
	}
	w, err := build(ctx, s)
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		err = errors.Join(err, w.close(closing))
	}()
	if err != nil {
		return nil, err
	}

	r := &run{world: w, progress: progress, injector: &injector{w: w}}
	r.clients = &clients{tokens: w.tokens, seed: s.seed, pulls: pulls}
	for _, server := range w.servers {
		r.clients.servers = append(r.clients.servers, "http://"+server.http)
	}
	for _, org := range organizations() {
		client := program.Client{URL: r.clients.servers[0], Token: w.tokens[org]}
		if _, err := client.Call(ctx, "POST", "/v1/rules", orgRule); err != nil {
			return nil, fmt.Errorf("create a rule: %w", err)
		}
	}

	r.began = time.Now()
	if err := r.storm(ctx); err != nil {
		return nil, err
	}
	e, err := r.gather(ctx)
	if err != nil {
		return nil, err
	}
	v = e.judge()
	accepted, _, retries := r.clients.counts()
	v.title = fmt.Sprintf("seed %d: %d reviews accepted in %.0f s, %d calls made again",
		s.seed, accepted, time.Since(r.began).Seconds(), retries)
	return v, nil
}

// storm lets the clients work while there are faults, and after them until everything has ended.
func (r *run) storm(ctx context.Context) error {
	faulting, stopFaults := context.WithCancel(ctx)
	defer stopFaults()
	working, stopWork := context.WithCancel(ctx)
	defer stopWork()

	enough, worked, faulted := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		r.clients.run(working, r.s.clients, enough)
		close(worked)
	}()
	go func() { faulted <- r.injector.run(faulting) }()
	if err := r.await(ctx); err != nil {
		return err
	}
	close(enough)
	stopFaults()
	err := <-faulted
	r.tell("the faults are over")

	settling, cancel := context.WithTimeout(ctx, r.s.settle)
	defer cancel()
	if err := errors.Join(err, r.waitServing(settling)); err != nil {
		return err
	}
	select {
	case <-worked:
	case <-settling.Done():
		stopWork() // the records tell what did not end
		<-worked
	}
	r.tell("the clients are done")
	return ctx.Err()
}

// await returns when there were enough reviews and faults.
func (r *run) await(ctx context.Context) error {
	const between = 5 * time.Second
	for told := (time.Time{}); ; {
		if time.Since(told) >= between {
			r.tell(fmt.Sprintf("%.0f s", time.Since(r.began).Seconds()))
			told = time.Now()
		}
		if accepted, _, _ := r.clients.counts(); accepted >= r.s.reviews && time.Since(r.began) >= r.s.last {
			return nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

func (r *run) tell(what string) {
	accepted, ended, retries := r.clients.counts()
	fmt.Fprintf(r.progress, "%s %s: %d accepted, %d seen to end, %d calls made again, %d faults\n",
		time.Now().Format(time.TimeOnly), what, accepted, ended, retries, len(r.injector.all()))
}

// gather collects the evidence, and ends the world's processes on the way.
func (r *run) gather(ctx context.Context) (*evidence, error) {
	reading, cancel := context.WithTimeout(ctx, r.s.settle)
	defer cancel()
	e := &evidence{mostPassing: r.s.mostPassing, made: r.injector.all(), shown: r.clients.readAll(reading)}
	e.records, e.complaints, e.probes = r.clients.records, r.clients.complaints, r.clients.probes

	stopping, cancel := context.WithTimeout(ctx, r.s.settle)
	defer cancel()
	if err := r.stop(stopping); err != nil {
		return nil, err
	}
	e.completed, e.strange = r.logs.completed, r.logs.strange // no process writes any more

	var err1, err2 error
	e.left, err1 = r.leftovers(ctx)
	e.stored, err2 = r.readStored(ctx)
	return e, errors.Join(err1, err2)
}

// leftovers are processes that work in the folder of the world, when they had time to end, and temporary files.
func (r *run) leftovers(ctx context.Context) (left []string, err error) {
	const patience = 100
	for range patience {
		if left, err = processesIn(r.s.dir); err != nil || len(left) == 0 {
			break
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
	for _, p := range r.processes() {
		files, err := filepath.Glob(filepath.Join(p.TempDir(), "*"))
		if err != nil {
			return nil, err
		}
		left = append(left, files...)
	}
	return left, err
}

// processesIn are the command lines of the processes that work in a folder.
func processesIn(dir string) (found []string, err error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		cwd, err := p.Cwd()
		if err != nil || p.PID == os.Getpid() || !strings.HasPrefix(cwd+"/", dir+"/") {
			continue // it ended, or is somebody else's
		}
		line, _ := p.CmdLine()
		found = append(found, fmt.Sprintf("process %d: %s", p.PID, strings.Join(line, " ")))
	}
	return found, nil
}
