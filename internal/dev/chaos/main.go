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
	"syscall"
	"time"
)

// The exit codes.
const (
	exitGood    = 0
	exitBroken  = 1 // a promise was not kept
	exitNotDone = 2 // the run could not be made
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()

	if code != exitGood {
		os.Exit(code)
	}
}

// settings are what a run is made of.
type settings struct {
	binary      string // prwarden
	dir         string // where everything is written
	sqlite      bool   // else Postgres
	servers     int
	scanners    int
	workers     int // scans at once of each server
	repos       int // of each organization
	pulls       int // of each repository
	clients     int
	reviews     int           // at least so many are accepted
	last        time.Duration // at least so long there are faults
	settle      time.Duration // what is left must end so long after the last fault
	mostPassing float64       // share of reviews that may fail by passing faults

	seed                                 uint64        // of the faults and the repositories
	kill, crash, freeze, cut, hold, fill time.Duration // between two such faults; 0 for none
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return exitNotDone
	}
	if s.dir, err = os.MkdirTemp("", "chaos-"); err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return exitNotDone
	}

	fmt.Fprintf(stderr, "seed %d (-seed %d repeats the faults)\n", s.seed, s.seed)
	v, err := execute(ctx, s, stderr)
	if err == nil {
		v.print(stdout)
	}
	if err == nil && v.good() {
		err = os.RemoveAll(s.dir)
	} else {
		fmt.Fprintln(stderr, "the logs of all processes are in", s.dir)
	}

	switch {
	case err != nil:
		fmt.Fprintln(stderr, "chaos:", err)
		return exitNotDone
	case !v.good():
		return exitBroken
	}
	return exitGood
}

// parse reads the flags. The defaults are the long form.
func parse(args []string, stderr io.Writer) (s settings, err error) {
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(stderr)
	database := f.String("database", "postgres", "postgres or sqlite; SQLite has one server")
	f.StringVar(&s.binary, "binary", "bin/prwarden", "prwarden `program`")
	f.IntVar(&s.reviews, "reviews", 10_000, "reviews that are accepted, at least")
	f.DurationVar(&s.last, "for", 0, "how long there are faults, at least")
	f.IntVar(&s.servers, "servers", 2, "servers")
	f.IntVar(&s.scanners, "scanners", 3, "scanners")
	f.IntVar(&s.workers, "workers", 4, "scans at once of each server")
	f.IntVar(&s.repos, "repos", 4, "repositories of each of the three organizations")
	f.IntVar(&s.pulls, "pulls", 60, "pull requests of each repository")
	f.IntVar(&s.clients, "clients", 32, "clients at once")
	f.DurationVar(&s.settle, "settle", 2*time.Minute, "how long what is left may take after the last fault")
	f.Float64Var(&s.mostPassing, "most-passing", 0.02, "share of reviews that may fail by passing faults")
	f.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()%1_000_000), "of the faults and the repositories")
	f.DurationVar(&s.kill, "kill-every", 2*time.Second, "between kills of servers and scanners; 0 for none")
	f.DurationVar(&s.crash, "db-restart-every", 20*time.Second, "between crashes of the database; 0 for none")
	f.DurationVar(&s.freeze, "freeze-every", time.Minute, "between freezes longer than a lease; 0 for none")
	f.DurationVar(&s.cut, "cut-every", 7*time.Second, "between resets of connections; 0 for none")
	f.DurationVar(&s.hold, "hold-every", 25*time.Second, "between links that carry nothing; 0 for none")
	f.DurationVar(&s.fill, "fill-every", 45*time.Second, "between full disks, which need root; 0 for none")
	if err := f.Parse(args); err != nil {
		return s, err
	}

	switch s.sqlite = *database == "sqlite"; {
	case f.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case !s.sqlite && *database != "postgres":
		return s, fmt.Errorf("-database is %q, and can be postgres or sqlite", *database)
	case min(s.servers, s.scanners, s.workers, s.clients, s.repos, s.pulls) < 1:
		return s, errors.New("-servers, -scanners, -workers, -clients, -repos and -pulls are at least 1")
	}
	if s.sqlite {
		s.servers, s.crash = 1, 0
	}
	return s, nil
}
