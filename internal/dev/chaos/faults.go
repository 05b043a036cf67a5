package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// lease is how long a claim of a server holds without a heartbeat.
const lease = 20 * time.Second

// fault is one that was made.
type fault struct {
	what         string // kill, freeze, cut, hold, crash or fill
	on           string // server, scanner, database or cache; cut and hold are on the way of a server there
	pid          int    // of a process that was killed or frozen
	began, ended time.Time
}

func (f fault) String() string { return f.what + " " + f.on }

// losesDatabase tells whether nobody can use the database during a fault.
func (f fault) losesDatabase() bool {
	return f.on == "database" && (f.what == "crash" || f.what == "fill")
}

// injector makes faults and keeps a record of them.
type injector struct {
	w    *world
	away sync.Mutex // held while a server is frozen or cut off from the database: one at a time

	mu   sync.Mutex
	made []fault
}

// run makes faults until ctx ends, and returns when all of them are over. An error is one that could not be made.
func (i *injector) run(ctx context.Context) error {
	s := i.w.s
	streams := []struct {
		every time.Duration // between two faults; 0 for none
		make  func(ctx context.Context, r *rand.Rand) error
	}{
		{s.kill, i.kill}, {s.crash, i.crash}, {s.freeze, i.freeze}, {s.cut, i.cut}, {s.hold, i.hold}, {s.fill, i.fill},
	}

	errs := make([]error, len(streams))
	var all sync.WaitGroup
	for n, stream := range streams {
		if stream.every == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(s.seed, uint64(n)))
		all.Go(func() {
			for errs[n] == nil && pause(ctx, between(r, stream.every*3/4, stream.every*5/4)) == nil {
				errs[n] = stream.make(ctx, r)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// record writes down a fault that is over.
func (i *injector) record(f fault) {
	f.ended = time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.made = append(i.made, f)
}

// all are the faults so far.
func (i *injector) all() []fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.made)
}

// choose picks a server or a scanner.
func (i *injector) choose(r *rand.Rand) (p *process, on string) {
	if r.IntN(2) == 0 {
		return i.w.servers[r.IntN(len(i.w.servers))].process, "server"
	}
	return i.w.scanners[r.IntN(len(i.w.scanners))], "scanner"
}

func (i *injector) kill(_ context.Context, r *rand.Rand) error {
	p, on := i.choose(r)
	f := fault{what: "kill", on: on, began: time.Now()}
	if f.pid = p.signal(syscall.SIGKILL); f.pid != 0 { // else it was between two lives
		i.record(f)
	}
	return nil
}

func (i *injector) freeze(ctx context.Context, r *rand.Rand) error {
	p, on := i.choose(r)
	last := between(r, lease+5*time.Second, lease+10*time.Second)
	if on == "server" && !i.takeServer() {
		return nil
	}
	f := fault{what: "freeze", on: on, pid: p.signal(syscall.SIGSTOP), began: time.Now()}
	_ = pause(ctx, last) // the end of the run is the end of the fault
	p.signal(syscall.SIGCONT)
	if on == "server" {
		i.away.Unlock()
	}
	i.record(f)
	return nil
}

// crash ends the database as a crash of its machine would. One in four is a SIGKILL.
func (i *injector) crash(ctx context.Context, r *rand.Rand) error {
	f := fault{what: "crash", on: "database", began: time.Now()}
	stop := func() error { return i.w.cluster.Stop(pgtest.Immediate) }
	if r.IntN(4) == 0 {
		stop = i.w.cluster.Kill
	}
	err := errors.Join(stop(), i.w.cluster.Start(context.WithoutCancel(ctx)))
	i.record(f)
	return err
}

// cut resets the connections of a link.
func (i *injector) cut(ctx context.Context, r *rand.Rand) error {
	return i.breakLink(ctx, r, "cut", "reset_peer", between(r, time.Millisecond, 3*time.Second))
}

// hold has a link carry nothing.
func (i *injector) hold(ctx context.Context, r *rand.Rand) error {
	return i.breakLink(ctx, r, "hold", "timeout", between(r, 2*time.Second, lease))
}

// breakLink breaks the link of a server to a scanner or to the database for some time.
func (i *injector) breakLink(ctx context.Context, r *rand.Rand, what, toxic string, last time.Duration) error {
	s := i.w.servers[r.IntN(len(i.w.servers))]
	f := fault{what: what, on: "scanner", began: time.Now()}
	link := s.scanners[r.IntN(len(s.scanners))]
	if r.IntN(2) == 0 && s.database != nil {
		link, f.on = s.database, "database"
		if !i.takeServer() {
			return nil
		}
		defer i.away.Unlock()
	}

	for _, stream := range []string{"upstream", "downstream"} {
		text := fmt.Sprintf(`{"type": %q, "name": %q, "stream": %q, "attributes": {"timeout": 0}}`, toxic, stream, stream)
		_, err := link.Toxics.AddToxicJson(strings.NewReader(text))
		if errors.Is(err, toxiproxy.ErrToxicAlreadyExists) {
			return nil // it is broken already
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	_ = pause(ctx, last) // the end of the run is the end of the fault
	link.Toxics.ResetToxics(context.Background())
	i.record(f)
	return nil
}

// takeServer says whether a server may be taken from the others: the promises hold while there is a server left. The
// caller unlocks away afterwards.
func (i *injector) takeServer() bool { return len(i.w.servers) > 1 && i.away.TryLock() }

// diskSize is over the smallest cache that a scanner may have.
const diskSize = 96 << 20

// mountDisk mounts a small file system in memory; "" for a user who may not mount anything.
func mountDisk(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	err := syscall.Mount("chaos", dir, "tmpfs", syscall.MS_NOSUID, fmt.Sprintf("size=%d,mode=0700", diskSize))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return "", nil
	}
	return dir, err
}

// fill takes all room of the disk under the SQLite database or under the cache of a scanner.
func (i *injector) fill(ctx context.Context, r *rand.Rand) error {
	if i.w.disk == "" {
		return nil
	}
	f := fault{what: "fill", on: "cache", began: time.Now()}
	if i.w.s.sqlite {
		f.on = "database"
	}

	ballast := filepath.Join(i.w.disk, "ballast")
	err := os.WriteFile(ballast, make([]byte, diskSize), 0o600)
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	_ = pause(ctx, between(r, 3*time.Second, 8*time.Second)) // the end of the run is the end of the fault
	err = errors.Join(err, os.Remove(ballast))
	i.record(f)
	return err
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}
