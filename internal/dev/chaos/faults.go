package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"golang.org/x/sync/errgroup"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// lease is how long a claim of a server holds without a heartbeat.
const lease = 20 * time.Second

// kind is a kind of fault.
type kind struct {
	name, usage string
	every       time.Duration // between two of them, in the long form
	make        func(w *world, ctx context.Context, r *rand.Rand) error
}

func kinds() []kind {
	return []kind{
		{"kill", "kills of servers and scanners", 2 * time.Second, (*world).kill},
		{"crash", "crashes of the database", 20 * time.Second, (*world).crash},
		{"freeze", "freezes longer than a lease", time.Minute, (*world).freeze},
		{"cut", "links that reset connections or carry nothing", 6 * time.Second, (*world).cut},
		{"fill", "full disks, which need root", 45 * time.Second, (*world).fill},
	}
}

// injectFaults makes faults until ctx ends, and returns when all are over. An error is one that could not be made.
func (w *world) injectFaults(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	for n, k := range kinds() {
		every := *w.s.every[k.name]
		if every == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(w.s.seed, uint64(n)))
		all.Go(func() (err error) {
			for err == nil && pause(ctx, between(r, every*3/4, every*5/4)) == nil {
				err = k.make(w, ctx, r)
			}
			return err
		})
	}

	return all.Wait()
}

// note counts a fault.
func (w *world) note(kind, on string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made[kind+" "+on]++
}

// count is how many faults there were.
func (w *world) count(fault string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.made[fault]
}

// choose picks a server or a scanner.
func (w *world) choose(r *rand.Rand) (p *process, on string) {
	if r.IntN(2) == 0 {
		return w.servers[r.IntN(len(w.servers))], "server"
	}
	return w.scanners[r.IntN(len(w.scanners))], "scanner"
}

func (w *world) kill(_ context.Context, r *rand.Rand) error {
	p, on := w.choose(r)
	if p.signal(syscall.SIGKILL) { // else it was between two lives
		w.note("kill", on)
	}
	return nil
}

func (w *world) freeze(ctx context.Context, r *rand.Rand) error {
	p, on := w.choose(r)
	if on == "server" {
		if !w.takeServer() {
			return nil
		}
		defer w.away.Unlock()
	}

	p.signal(syscall.SIGSTOP)
	_ = pause(ctx, between(r, lease+5*time.Second, lease+10*time.Second)) // the end of the run is that of the fault
	p.signal(syscall.SIGCONT)
	w.note("freeze", on)
	return nil
}

// crash ends the database as a crash of its machine would. One in four is a SIGKILL.
func (w *world) crash(ctx context.Context, r *rand.Rand) error {
	if w.cluster == nil {
		return nil // SQLite has none beside the server
	}
	signal := pgtest.Immediate
	if r.IntN(4) == 0 {
		signal = pgtest.Kill
	}
	w.note("crash", "database")
	return errors.Join(w.cluster.Stop(signal), w.cluster.Start(context.WithoutCancel(ctx)))
}

// cut has a link reset all connections, or carry nothing, for some time.
func (w *world) cut(ctx context.Context, r *rand.Rand) error {
	toxic, last := "reset_peer", between(r, time.Millisecond, 3*time.Second)
	if r.IntN(4) == 0 {
		toxic, last = "timeout", between(r, 2*time.Second, lease)
	}
	link := w.links[r.IntN(len(w.links))]
	if link.on == "database" {
		if !w.takeServer() {
			return nil
		}
		defer w.away.Unlock()
	}

	for _, stream := range []string{"upstream", "downstream"} {
		text := fmt.Sprintf(`{"type": %q, "name": %q, "stream": %q, "attributes": {"timeout": 0}}`, toxic, stream, stream)
		_, err := link.Toxics.AddToxicJson(strings.NewReader(text))
		if errors.Is(err, toxiproxy.ErrToxicAlreadyExists) {
			return nil // it is broken already
		}
		if err != nil {
			return err
		}
	}
	_ = pause(ctx, last) // the end of the run is the end of the fault
	link.Toxics.ResetToxics(context.Background())
	w.note(toxic, link.on)
	return nil
}

// takeServer says whether a server may be taken from the others: the promises hold while there is a server left. The
// caller unlocks away afterwards.
func (w *world) takeServer() bool { return len(w.servers) > 1 && w.away.TryLock() }

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
func (w *world) fill(ctx context.Context, r *rand.Rand) error {
	if w.disk == "" {
		return nil
	}
	ballast := filepath.Join(w.disk, "ballast")
	_ = os.WriteFile(ballast, make([]byte, diskSize), 0o600) // as much as there is room for
	_ = pause(ctx, between(r, 3*time.Second, 8*time.Second)) // the end of the run is the end of the fault
	w.note("fill", map[bool]string{true: "database", false: "cache"}[w.s.sqlite])
	return os.Remove(ballast)
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}
