// Command chaos runs a whole installation of prwarden (real servers, scanners
// and a database), has clients make reviews, kills, freezes and cuts off its
// parts meanwhile, and then judges whether every promise was kept.
// docs/chaos.md tells more.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/dev/chaos/world"
)

func main() {
	if code := command(os.Args[1:], os.Stdout, os.Stderr); code != exitGood {
		os.Exit(code)
	}
}

// The exit codes.
const (
	exitGood    = 0
	exitBroken  = 1 // a promise was not kept
	exitNotDone = 2 // the run could not be made
)

func command(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, jsonPath, keep, err := parse(args, stderr)
	if err != nil {
		return exitNotDone
	}
	if code, done := inOwnMounts(ctx, stderr); done {
		return code
	}
	good, err := whole(ctx, s, jsonPath, keep, stdout, stderr)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "chaos:", err)
		return exitNotDone
	case !good:
		return exitBroken
	}
	return exitGood
}

// whole makes a run in a directory of its own and tells what it found.
func whole(ctx context.Context, s settings, jsonPath string, keep bool, stdout, stderr io.Writer) (good bool, err error) {
	fmt.Fprintf(stderr, "seed %d (-seed %d repeats the schedule)\n", s.Schedule.Seed, s.Schedule.Seed)
	dir, remove, err := makeDir()
	if err != nil {
		return false, err
	}
	s.Dir = dir
	if s.Binary == "" {
		s.Binary = filepath.Join(dir, "prwarden")
		if err := buildProgram(ctx, s.Binary); err != nil {
			return false, errors.Join(err, remove())
		}
	}
	report, err := execute(ctx, s, stderr)
	if err == nil {
		report.print(stdout)
		if jsonPath != "" {
			err = writeJSON(jsonPath, report)
		}
	}
	if keep || err != nil || !report.Good() {
		fmt.Fprintln(stderr, "the logs of all processes are in", dir)
		return err == nil && report.Good(), err
	}
	return true, remove()
}

func writeJSON(path string, report *Report) error {
	data, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Clean(path), append(data, '\n'), 0o644)
}

// parse reads the flags. The defaults are the long form.
func parse(args []string, stderr io.Writer) (s settings, jsonPath string, keep bool, err error) {
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(stderr)
	database := f.String("database", "postgres", "postgres or sqlite; SQLite has one server, and its disk fills instead of a cache's")
	f.StringVar(&s.Binary, "binary", "", "prwarden program; built when not given")
	f.IntVar(&s.Reviews, "reviews", 10_000, "reviews that are accepted, at least")
	f.DurationVar(&s.Faults, "for", 0, "how long there are faults, at least")
	f.IntVar(&s.Servers, "servers", 2, "servers")
	f.IntVar(&s.Scanners, "scanners", 3, "scanners")
	f.IntVar(&s.Workers, "workers", 4, "scans at once of each server")
	f.IntVar(&s.Repos, "repos", 4, "repositories of each of the four organizations")
	f.IntVar(&s.Pulls, "pulls", 60, "pull requests of each repository")
	f.IntVar(&s.Clients, "clients", 32, "clients at once")
	f.DurationVar(&s.Settle, "settle", 2*time.Minute, "how long what is left may take after the last fault")
	f.Float64Var(&s.Spare, "spare-servers", 0.8, "share of the run after which servers are killed no more, so that what they leak shows; 1 for never")
	f.Float64Var(&s.MostPassing, "most-passing", 0.02, "share of reviews that may fail by passing faults")
	f.Uint64Var(&s.Schedule.Seed, "seed", uint64(time.Now().UnixNano()%1_000_000), "of the schedule and the contents")
	f.DurationVar(&s.Schedule.KillEvery, "kill-every", 2*time.Second, "between kills of servers and scanners; 0 for none")
	f.DurationVar(&s.Schedule.CrashEvery, "db-restart-every", 20*time.Second, "between crashes of the database; 0 for none")
	f.DurationVar(&s.Schedule.FreezeEvery, "freeze-every", time.Minute, "between freezes longer than a lease; 0 for none")
	f.DurationVar(&s.Schedule.CutEvery, "cut-every", 7*time.Second, "between cuts of connections; 0 for none")
	f.DurationVar(&s.Schedule.HoldEvery, "hold-every", 25*time.Second, "between black holes; 0 for none")
	f.DurationVar(&s.Schedule.FillEvery, "fill-every", 45*time.Second, "between full disks; 0 for none")
	f.StringVar(&jsonPath, "json", "", "file to write the report to, as JSON")
	f.BoolVar(&keep, "keep", false, "keep the logs and caches")
	if err := f.Parse(args); err != nil {
		return s, "", false, err
	}
	if s.Binary != "" { // processes work elsewhere
		if s.Binary, err = filepath.Abs(s.Binary); err != nil {
			fmt.Fprintln(stderr, "chaos:", err)
			return s, "", false, err
		}
	}
	s.Database = world.Kind(*database)
	if s.Database == world.SQLite {
		s.Servers, s.Schedule.CrashEvery, s.Schedule.FillDatabase = 1, 0, true
	}
	if f.NArg() > 0 || s.Servers < 1 || s.Scanners < 1 || s.Workers < 1 || s.Clients < 1 {
		fmt.Fprintln(stderr, "chaos: there are no arguments, and servers, scanners, workers and clients are at least 1")
		return s, "", false, errors.New("usage")
	}
	s.Schedule.Servers, s.Schedule.Scanners = s.Servers, s.Scanners
	return s, jsonPath, keep, nil
}
