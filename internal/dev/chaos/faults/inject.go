package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/dev/chaos/world"
)

// Done is a fault that was made.
type Done struct {
	Event
	Began   time.Time
	Ended   time.Time // when it was over: the process began again, the link passes, the database takes connections
	PID     int       // the process that was killed or frozen
	Skipped string    // why it was not made; "" when it was
}

// Injector makes the faults of a schedule.
type Injector struct {
	world    *world.World
	schedule *Schedule
	observe  func(Done) // called when a fault begins; of a database's crash and of a full disk when it is over
	spare    func() bool

	mu     sync.Mutex
	done   []Done
	busy   int // servers that are frozen or cut off from the database
	faults sync.WaitGroup
}

// NewInjector returns an injector that does nothing until Run. While spare
// returns true scanners are killed in the place of servers. observe must not
// block.
func NewInjector(w *world.World, s *Schedule, spare func() bool, observe func(Done)) *Injector {
	return &Injector{world: w, schedule: s, spare: spare, observe: observe}
}

// Run makes faults until ctx ends, and returns when all of them are over. An
// error is a fault that could not be made or ended.
func (i *Injector) Run(ctx context.Context) error {
	began := time.Now()
	var (
		mu  sync.Mutex
		all []error
	)
	for {
		e, ok := i.schedule.Next()
		if !ok {
			<-ctx.Done()
			break
		}
		timer := time.NewTimer(time.Until(began.Add(e.At)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		if ctx.Err() != nil {
			break
		}
		if e.Kind == KillServer && i.spare() {
			e.Kind = KillScanner
		}
		i.faults.Go(func() {
			if err := i.make(ctx, e); err != nil {
				mu.Lock()
				all = append(all, fmt.Errorf("%s: %w", e, err))
				mu.Unlock()
			}
		})
	}
	i.faults.Wait()
	return errors.Join(all...)
}

// Made are the faults so far, in the order of their end.
func (i *Injector) Made() []Done {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.done)
}

// make makes a fault and ends it after its time, or when ctx ends.
func (i *Injector) make(ctx context.Context, e Event) error {
	d := Done{Event: e, Began: time.Now()}
	err := i.fault(ctx, &d)
	if d.Ended.IsZero() {
		d.Ended = time.Now()
	}
	i.mu.Lock()
	i.done = append(i.done, d)
	i.mu.Unlock()
	return err
}

func (i *Injector) fault(ctx context.Context, d *Done) error {
	w := i.world
	switch d.Kind {
	case KillServer:
		return i.kill(ctx, d, w.Servers[d.Server].Process)
	case KillScanner:
		return i.kill(ctx, d, w.Scanners[d.Part].Process)
	case CrashDatabase:
		return i.crash(ctx, d)
	case FreezeServer:
		return i.impair(d, func() error { return i.freeze(ctx, d, w.Servers[d.Server].Process) })
	case FreezeScanner:
		return i.freeze(ctx, d, w.Scanners[d.Part].Process)
	case CutDatabase, HoldDatabase:
		link := w.Servers[d.Server].Database
		if link == nil {
			d.Skipped = "there is no network to this database"
			return nil
		}
		return i.impair(d, func() error { return i.breakLink(ctx, d, link) })
	case CutScanner, HoldScanner:
		return i.breakLink(ctx, d, w.Servers[d.Server].Scanners[d.Part])
	case FillCache:
		return i.fill(ctx, d, w.CacheDisk)
	case FillDatabase:
		return i.fill(ctx, d, w.DatabaseDisk)
	default:
		return fmt.Errorf("unknown fault %q", d.Kind)
	}
}

func (i *Injector) kill(ctx context.Context, d *Done, p *world.Process) error {
	if p.Frozen() {
		d.Skipped = "it is frozen, and its waking is to be seen"
		return nil
	}
	if d.PID = p.Kill(); d.PID == 0 {
		d.Skipped = "it was between two lives"
		return nil
	}
	i.observe(*d)
	// An error here is told by what follows: the world must heal.
	_ = p.WaitServing(ctx)
	return nil
}

func (i *Injector) crash(ctx context.Context, d *Done) error {
	if err := i.world.Database.Crash(d.Hard); err != nil {
		return err
	}
	err := i.world.Database.Start(context.WithoutCancel(ctx))
	d.Ended = time.Now()
	i.observe(*d)
	return err
}

func (i *Injector) freeze(ctx context.Context, d *Done, p *world.Process) error {
	if d.PID = p.Freeze(); d.PID == 0 {
		d.Skipped = "it was between two lives"
		return nil
	}
	i.observe(*d)
	wait(ctx, d.For)
	p.Thaw()
	return nil
}

func (i *Injector) breakLink(ctx context.Context, d *Done, l *world.Link) error {
	if l.Impaired() {
		d.Skipped = "the link is broken already"
		return nil
	}
	if d.Kind == CutDatabase || d.Kind == CutScanner {
		l.Cut()
	} else {
		l.Hold()
	}
	i.observe(*d)
	wait(ctx, d.For)
	l.Mend(d.Hard)
	return nil
}

func (i *Injector) fill(ctx context.Context, d *Done, disk *world.Disk) error {
	if disk == nil {
		d.Skipped = "there is no small disk"
		return nil
	}
	if err := disk.Fill(); err != nil {
		return err
	}
	for until := time.Now().Add(d.For); time.Now().Before(until) && ctx.Err() == nil; {
		wait(ctx, 100*time.Millisecond)
		if err := disk.Fill(); err != nil { // what was freed meanwhile
			return err
		}
	}
	err := disk.Free()
	d.Ended = time.Now()
	i.observe(*d)
	return err
}

// impair makes a fault that takes a server from the others, unless one is away
// already: the promises hold while there is a server left.
func (i *Injector) impair(d *Done, fault func() error) error {
	i.mu.Lock()
	if i.busy > 0 {
		i.mu.Unlock()
		d.Skipped = "another server is away"
		return nil
	}
	i.busy++
	i.mu.Unlock()
	defer func() {
		i.mu.Lock()
		i.busy--
		i.mu.Unlock()
	}()
	return fault()
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
