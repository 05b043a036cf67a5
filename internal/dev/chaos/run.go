package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/dev/chaos/clients"
	"github.com/prwarden/prwarden/internal/dev/chaos/faults"
	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
	"github.com/prwarden/prwarden/internal/dev/chaos/verdict"
	"github.com/prwarden/prwarden/internal/dev/chaos/world"
)

// settings are what a run is made of.
type settings struct {
	Binary      string // prwarden
	Dir         string // where everything is written
	Database    world.Kind
	Servers     int
	Scanners    int
	Workers     int // scans at once of each server
	Repos       int // of each organization
	Pulls       int // of each repository
	Clients     int
	Reviews     int           // at least so many are accepted
	Faults      time.Duration // at least so long there are faults
	Settle      time.Duration // what is left must end so long after the last fault
	Spare       float64       // when so much of the run is over, from 0 to 1, servers are killed no more, so that leaks show
	Schedule    faults.Options
	MostPassing float64 // share of reviews that may fail by passing faults
	// Hurry brings forward the leases of processes that are gone, when the
	// faults are over: as if most of a lease's time had passed.
	Hurry bool
}

// diskSize is that of a small disk, in bytes: over the smallest cache_size.
const diskSize = 96 << 20

// closeTimeout bounds the end of all parts together.
const closeTimeout = 5 * time.Minute

// organizations have their repositories; the last one is the probes' own.
func organizations() []string { return []string{"alpha", "beta", "gamma", "probe"} }

// run is one run: a world, its clients and its faults.
type run struct {
	s        settings
	progress io.Writer
	pulls    *pulls.Set
	world    *world.World
	pool     *clients.Pool
	injector *faults.Injector
	before   []verdict.Usage // of what is watched, at the beginning

	began    time.Time // of the faults
	probing  sync.WaitGroup
	mu       sync.Mutex
	probes   []probe
	probeCtx context.Context
}

// probe is how long a request took to succeed after a fault.
type probe struct {
	after  faults.Done
	server int // the one that was asked; -1 for any
	began  time.Time
	took   time.Duration
	err    error
}

// execute makes a world, breaks it, and returns what it found.
func execute(ctx context.Context, s settings, progress io.Writer) (_ *Report, err error) {
	r := &run{s: s, progress: progress}
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		err = errors.Join(err, r.pool.Close(), r.world.Close(closing))
	}()
	began := time.Now()
	if err := r.storm(ctx); err != nil {
		return nil, err
	}
	e, err := r.gather(ctx)
	if err != nil {
		return nil, err
	}
	return r.report(e, time.Since(began)), nil
}

// build makes everything up to the first review.
func (r *run) build(ctx context.Context) (err error) {
	s := r.s
	r.pulls, err = pulls.Make(ctx, filepath.Join(s.Dir, "hosts"), pulls.Options{
		Organizations: organizations(), Repos: s.Repos, Pulls: s.Pulls, Seed: s.Schedule.Seed,
	})
	if err != nil {
		return err
	}
	o := world.Options{
		Dir: s.Dir, Binary: s.Binary, Database: s.Database, Servers: s.Servers, Scanners: s.Scanners, Workers: s.Workers,
		Organizations: organizations(), Hosts: r.pulls,
	}
	if s.Schedule.FillEvery > 0 && s.Schedule.FillDatabase {
		o.DatabaseDisk = diskSize
	} else if s.Schedule.FillEvery > 0 {
		o.CacheDisk = diskSize
	}
	if r.world, err = world.Build(ctx, o); err != nil {
		return err
	}
	r.pool, err = clients.New(clients.Options{
		Servers: servers(r.world), Keys: r.world.Keys, Pulls: r.pulls,
		Clients: s.Clients, Seed: s.Schedule.Seed, Run: strconv.FormatInt(time.Now().UnixNano(), 36),
	})
	if err == nil {
		err = r.begin(ctx)
	}
	if err != nil {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		return errors.Join(err, r.world.Close(closing))
	}
	return nil
}

func servers(w *world.World) []clients.Server {
	var all []clients.Server
	for _, s := range w.Servers {
		all = append(all, clients.Server{HTTP: s.HTTP, GRPC: s.GRPC})
	}
	return all
}

// begin makes the organizations' rules, and sees what the processes use when
// each has done something.
func (r *run) begin(ctx context.Context) error {
	for _, org := range organizations() {
		if err := r.pool.CreateRule(ctx, org, pulls.OrgRule); err != nil {
			return fmt.Errorf("create a rule: %w", err)
		}
	}
	for i := range r.world.Servers {
		if _, err := r.pool.Probe(ctx, []int{i}); err != nil {
			return fmt.Errorf("first request: %w", err)
		}
	}
	for _, w := range r.watched() {
		u, err := verdict.ReadUsage(ctx, w.ops)
		if err != nil {
			return err
		}
		r.before = append(r.before, u)
	}
	return nil
}

// watched is a process that tells what it uses.
type watched struct{ name, ops string }

// watched are the processes that tell what they use: all of them.
func (r *run) watched() []watched {
	var all []watched
	for _, s := range r.world.Servers {
		all = append(all, watched{s.Name, s.Ops})
	}
	for _, s := range r.world.Scanners {
		all = append(all, watched{s.Name, s.Ops})
	}
	return all
}

// storm lets the clients work while there are faults, and after them until
// everything has ended.
func (r *run) storm(ctx context.Context) error {
	faulting, stop := context.WithCancel(ctx)
	defer stop()
	working, giveUp := context.WithCancel(ctx)
	defer giveUp()
	r.probeCtx = working
	r.began = time.Now()
	r.injector = faults.NewInjector(r.world, faults.NewSchedule(r.s.Schedule), r.spare, r.observe)

	enough := make(chan struct{})
	clientsDone, faultsDone := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(clientsDone)
		_ = r.pool.Run(working, enough) // that it ended early is known here
	}()
	go func() { faultsDone <- r.injector.Run(faulting) }()
	if err := r.await(ctx); err != nil {
		return err
	}
	close(enough)
	stop()
	err := <-faultsDone
	r.tell("faults are over")
	settling, cancel := context.WithTimeout(ctx, r.s.Settle)
	defer cancel()
	if err := errors.Join(err, r.world.Heal(settling), r.world.WaitServing(settling)); err != nil {
		return err
	}
	if r.s.Hurry {
		if err := r.hurry(settling); err != nil {
			return err
		}
	}
	select {
	case <-clientsDone:
	case <-settling.Done():
		giveUp() // the records tell what did not end
		<-clientsDone
	}
	r.probing.Wait()
	r.pool.FollowRest(settling)
	r.tell("clients are done")
	return ctx.Err()
}

// buildProgram builds prwarden at a path.
func buildProgram(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/prwarden/prwarden/cmd/prwarden")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build prwarden: %w: %s", err, out)
	}
	return nil
}

// hurry brings forward the leases whose workers are gone. The name of a worker
// has its process's id.
func (r *run) hurry(ctx context.Context) error {
	db, err := r.world.Database.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	alive := "FALSE"
	for _, s := range r.world.Servers {
		alive += fmt.Sprintf(" OR worker LIKE '%%-%d/%%'", s.PID())
	}
	_, err = db.ExecContext(ctx, "UPDATE reviews SET lease_expires = lease_expires - 18000000 WHERE status = 'in_progress' AND NOT ("+alive+")")
	return err
}

// done is how much of the run is over: 1 when there were enough reviews and
// faults.
func (r *run) done() float64 {
	accepted, _, _ := r.pool.Counts()
	return min(float64(accepted)/float64(max(r.s.Reviews, 1)), time.Since(r.began).Seconds()/max(r.s.Faults.Seconds(), .001))
}

func (r *run) spare() bool { return r.s.Spare < 1 && r.done() >= r.s.Spare }

// between is the time between two lines of progress.
const between = 5 * time.Second

// await returns when there were enough reviews and faults.
func (r *run) await(ctx context.Context) error {
	for told := (time.Time{}); r.done() < 1; {
		if time.Since(told) >= between {
			r.tell("%3.0f s", time.Since(r.began).Seconds())
			told = time.Now()
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) tell(format string, args ...any) {
	accepted, ended, retries := r.pool.Counts()
	fmt.Fprintf(r.progress, "%s %s: %d accepted, %d seen to end, %d calls made again, %d faults\n",
		time.Now().Format("15:04:05"), fmt.Sprintf(format, args...), accepted, ended, retries, len(r.injector.Made()))
}

// observe measures when the API works again after a fault.
func (r *run) observe(d faults.Done) {
	switch d.Kind {
	case faults.KillServer:
		r.probe(d, anyServer)
		r.probe(d, d.Server)
	case faults.FreezeServer:
		r.probe(d, anyServer)
	case faults.CrashDatabase, faults.FillDatabase:
		for i := range r.world.Servers {
			r.probe(d, i)
		}
	}
}

// anyServer stands for all servers: the one that was hit is asked first.
const anyServer = -1

// probe asks one server, or any, until a review is accepted.
func (r *run) probe(after faults.Done, server int) {
	servers := []int{server}
	if server == anyServer {
		servers = nil
		for i := range r.world.Servers {
			servers = append(servers, (after.Server+i)%len(r.world.Servers))
		}
	}
	r.probing.Go(func() {
		p := probe{after: after, server: server, began: time.Now()}
		p.took, p.err = r.pool.Probe(r.probeCtx, servers)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.probes = append(r.probes, p)
	})
}

// makeDir makes the directory of a run; remove removes it.
func makeDir() (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", "chaos-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}
