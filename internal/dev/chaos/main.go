// Command chaos runs a whole installation of prwarden (real servers, scanners and a database), has clients make
// reviews, kills, freezes and cuts off its parts meanwhile, and then judges whether every promise was kept.
// docs/chaos.md tells more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	good, err := command(ctx, os.Args[1:])
	stop()

	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2) // the run could not be made
	}
	if !good {
		os.Exit(1) // a promise was not kept
	}
}

func command(ctx context.Context, args []string) (good bool, err error) {
	s, err := parse(args)
	if err == nil {
		s.dir, err = os.MkdirTemp("", "chaos-")
	}
	if err != nil {
		return false, err
	}

	fmt.Printf("seed %d (-seed %d repeats the faults)\n", s.seed, s.seed)
	run := execute
	if s.codeHosts {
		run = executeHosts
	}
	v, err := run(ctx, s, os.Stdout)
	if err == nil {
		v.print(os.Stdout)
		if v.good() {
			return true, os.RemoveAll(s.dir)
		}
	}
	fmt.Println("the logs of all processes are in", s.dir)
	return false, err
}

// How large a world is.
const (
	serverCount  = 2 // 1 on SQLite
	scannerCount = 3
	workerCount  = 4 // scans at once of each server
	repositories = 4 // of each organization
	pullsPerRepo = 40
	clientCount  = 32
)

// settings are what a run is made of.
type settings struct {
	binary      string        // prwarden
	dir         string        // where everything is written
	sqlite      bool          // else Postgres
	reviews     int           // at least so many are accepted
	last        time.Duration // at least so long there are faults
	settle      time.Duration // what is left must end so long after the last fault
	mostPassing float64       // share of reviews that may fail by passing faults

	codeHosts bool // instead of clients there are code hosts, which tell of pushes
	hosts     hostSettings

	seed  uint64                    // of the faults and the repositories
	every map[string]*time.Duration // between two faults of a kind; 0 for none
}

// parse reads the flags. The defaults are the long form.
func parse(args []string) (s settings, err error) {
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	database := f.String("database", "postgres", "postgres or sqlite; SQLite has one server")
	f.StringVar(&s.binary, "binary", "bin/prwarden", "prwarden `program`")
	f.IntVar(&s.reviews, "reviews", 10_000, "reviews that are accepted, at least")
	f.DurationVar(&s.last, "for", 0, "how long there are faults, at least")
	f.DurationVar(&s.settle, "settle", 2*time.Minute, "how long what is left may take after the last fault")
	f.Float64Var(&s.mostPassing, "most-passing", 0.02, "share of reviews that may fail by passing faults")
	f.BoolVar(&s.codeHosts, "hosts", false, "publish in code hosts that fail, while servers are killed")
	f.IntVar(&s.hosts.pushes, "pushes", 200, "pushes to the pull requests of -hosts; each is told of six times")
	f.IntVar(&s.hosts.kills, "kills", 500, "servers that are killed with -hosts")
	f.IntVar(&s.hosts.freezes, "freezes", 5, "servers that are frozen for over a minute with -hosts")
	f.DurationVar(&s.hosts.late, "late", margin,
		"the latest that a code host does what it gave no answer to; 0 for hosts that do not fail")
	f.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()%1_000_000), "of the faults and the repositories")
	s.every = map[string]*time.Duration{}
	for _, k := range kinds() {
		s.every[k.name] = f.Duration(k.name+"-every", k.every, "between "+k.usage+"; 0 for none")
	}
	if err := f.Parse(args); err != nil {
		return s, err
	}

	s.sqlite = *database == "sqlite"
	if f.NArg() > 0 || !s.sqlite && *database != "postgres" {
		return s, fmt.Errorf("-database is %q, and can be postgres or sqlite; other arguments are %q", *database, f.Args())
	}
	return s, nil
}

// run is one run: a world, its clients and its faults.
type run struct {
	*world
	progress io.Writer
	clients  *clients
	began    time.Time // of the faults
}

// execute makes a world, breaks it, and returns what it found.
func execute(ctx context.Context, s settings, progress io.Writer) (v *verdict, err error) {
	pulls, err := makePulls(ctx, filepath.Join(s.dir, "hosts"), s.seed)
	if err != nil {
		return nil, err
	}
	w, err := build(ctx, s)
	defer func() { err = errors.Join(err, w.close()) }()
	if err != nil {
		return nil, err
	}

	r := &run{world: w, progress: progress, began: time.Now()}
	r.clients = &clients{servers: w.servers, tokens: w.tokens, seed: s.seed, pulls: pulls}
	if err := r.storm(ctx); err != nil {
		return nil, err
	}
	e, err := r.gather(ctx)
	if err != nil {
		return nil, err
	}
	return e.judge(), nil
}

// storm lets the clients work while there are faults, and after them until everything has ended.
func (r *run) storm(ctx context.Context) error {
	storming, calm := context.WithCancel(ctx)
	defer calm()
	working, stopWork := context.WithCancel(ctx)
	defer stopWork()
	worked, faulted := make(chan struct{}), make(chan error, 1)
	go func() {
		r.clients.run(working, storming, clientCount)
		close(worked)
	}()
	go func() { faulted <- r.injectFaults(storming) }()

	for accepted := 0; accepted < r.s.reviews || time.Since(r.began) < r.s.last; accepted, _ = r.clients.counts() {
		if err := pause(ctx, 5*time.Second); err != nil {
			return err
		}
		r.tell("storm")
	}
	calm()
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

func (r *run) tell(what string) {
	accepted, ended := r.clients.counts()
	fmt.Fprintf(r.progress, "%4.0f s, %s: %d reviews accepted, %d seen to end\n",
		time.Since(r.began).Seconds(), what, accepted, ended)
}
