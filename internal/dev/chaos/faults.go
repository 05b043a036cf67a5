package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// faultOptions say how often each fault is made. A time of 0 leaves it out. The seed decides which part is hit, and for
// how long.
type faultOptions struct {
	seed                                 uint64
	kill, crash, freeze, cut, hold, fill time.Duration
}

// kind is a kind of fault.
type kind string

// The kinds of faults.
const (
	killServer    kind = "kill server"
	killScanner   kind = "kill scanner"
	crashDatabase kind = "crash database"
	freezeServer  kind = "freeze server" // SIGSTOP, longer than a lease
	freezeScanner kind = "freeze scanner"
	cutDatabase   kind = "cut database" // connections between a server and the database are reset
	cutScanner    kind = "cut scanner"
	holdDatabase  kind = "hold database" // nothing passes between a server and the database
	holdScanner   kind = "hold scanner"
	fillDisk      kind = "fill disk"
)

// lease is how long a claim of a server holds without a heartbeat.
const lease = 20 * time.Second

// fault is one that was made.
type fault struct {
	kind         kind
	server, part int // indices of the server and of the scanner
	pid          int // of a process that was killed or frozen
	began, ended time.Time
}

// injector makes faults and keeps a record of them.
type injector struct {
	w       *world
	observe func(fault) // called when a server was lost or the database is back

	mu   sync.Mutex
	made []fault
	away bool // a server is frozen or cut off from the database
}

// run makes faults until ctx ends, and returns when all of them are over. An error is one that could not be made.
func (i *injector) run(ctx context.Context) error {
	o := i.w.s.faults
	streams := []struct {
		every time.Duration
		make  func(ctx context.Context, r *rand.Rand) error
	}{
		{o.kill, i.kill}, {o.crash, i.crash}, {o.freeze, i.freeze}, {o.cut, i.cut}, {o.hold, i.hold}, {o.fill, i.fill},
	}

	errs := make([]error, len(streams))
	var all sync.WaitGroup
	for n, stream := range streams {
		if stream.every == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(o.seed, uint64(n)))
		all.Go(func() {
			for errs[n] == nil && pause(ctx, between(r, stream.every*3/4, stream.every*5/4)) == nil {
				errs[n] = stream.make(ctx, r)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

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

// choose picks a server and a scanner, and whether it is the server that is hit.
func (i *injector) choose(r *rand.Rand) (f fault, hitsServer bool) {
	f = fault{server: r.IntN(len(i.w.servers)), part: r.IntN(len(i.w.scanners)), began: time.Now()}
	return f, r.IntN(2) == 0
}

func (i *injector) kill(_ context.Context, r *rand.Rand) error {
	f, hitsServer := i.choose(r)
	p := i.w.scanners[f.part]
	f.kind = killScanner
	if hitsServer {
		p, f.kind = i.w.servers[f.server].process, killServer
	}

	if f.pid = p.signal(syscall.SIGKILL); f.pid == 0 {
		return nil // it was between two lives
	}
	i.record(f)
	if hitsServer && len(i.w.servers) > 1 {
		i.observe(f)
	}
	return nil
}

// crash ends the database as a crash of its machine would. One in four is a SIGKILL.
func (i *injector) crash(ctx context.Context, r *rand.Rand) error {
	f, _ := i.choose(r)
	f.kind = crashDatabase
	stop := func() error { return i.w.cluster.Stop(pgtest.Immediate) }
	if r.IntN(4) == 0 {
		stop = i.w.cluster.Kill
	}

	err := errors.Join(stop(), i.w.cluster.Start(context.WithoutCancel(ctx)))
	i.record(f)
	i.observe(f)
	return err
}

func (i *injector) freeze(ctx context.Context, r *rand.Rand) error {
	f, hitsServer := i.choose(r)
	last := between(r, lease+5*time.Second, lease+10*time.Second)
	p := i.w.scanners[f.part]
	f.kind = freezeScanner
	if hitsServer {
		p, f.kind = i.w.servers[f.server].process, freezeServer
		if !i.take() {
			return nil
		}
		defer i.giveBack()
	}

	if f.pid = p.signal(syscall.SIGSTOP); f.pid == 0 {
		return nil
	}
	if hitsServer {
		i.observe(f)
	}
	_ = pause(ctx, last) // the end of the run is the end of the fault
	p.signal(syscall.SIGCONT)
	i.record(f)
	return nil
}

func (i *injector) cut(ctx context.Context, r *rand.Rand) error {
	last := between(r, time.Millisecond, 3*time.Second)
	return i.breakLink(ctx, r, "reset_peer", [2]kind{cutScanner, cutDatabase}, last)
}

func (i *injector) hold(ctx context.Context, r *rand.Rand) error {
	last := between(r, 2*time.Second, lease)
	return i.breakLink(ctx, r, "timeout", [2]kind{holdScanner, holdDatabase}, last)
}

// breakLink breaks the link of a server to a scanner or to the database for some time.
func (i *injector) breakLink(ctx context.Context, r *rand.Rand, toxic string, kinds [2]kind, last time.Duration) error {
	f, hitsDatabase := i.choose(r)
	s := i.w.servers[f.server]
	link := s.scanners[f.part]
	f.kind = kinds[0]
	if hitsDatabase && s.database != nil {
		link, f.kind = s.database, kinds[1]
		if !i.take() {
			return nil
		}
		defer i.giveBack()
	}

	if err := breakLink(link, toxic); errors.Is(err, toxiproxy.ErrToxicAlreadyExists) {
		return nil // it is broken already
	} else if err != nil {
		return fmt.Errorf("%s: %w", f.kind, err)
	}
	_ = pause(ctx, last) // the end of the run is the end of the fault
	mend(link)
	i.record(f)
	return nil
}

func mend(link *toxiproxy.Proxy) { link.Toxics.ResetToxics(context.Background()) }

func (i *injector) fill(ctx context.Context, r *rand.Rand) error {
	if i.w.disk == nil {
		return nil
	}
	f, _ := i.choose(r)
	f.kind = fillDisk
	err := i.w.disk.fill()
	_ = pause(ctx, between(r, 3*time.Second, 8*time.Second)) // the end of the run is the end of the fault
	err = errors.Join(err, i.w.disk.free())
	i.record(f)
	if i.w.s.sqlite {
		i.observe(f)
	}
	return err
}

// take says whether a server may be taken from the others: the promises hold while there is a server left.
func (i *injector) take() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.away || len(i.w.servers) == 1 {
		return false
	}
	i.away = true
	return true
}

func (i *injector) giveBack() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.away = false
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

// pause waits; it returns an error when ctx ended first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
