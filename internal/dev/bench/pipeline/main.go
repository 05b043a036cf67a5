// Command pipeline measures where the time of a review goes, from claim to
// commit, and compares it with what the same git commands take by hand.
//
//	pipeline -repo REPOSITORY.git -pull N [-pull M …] [-runs 5] [-rules RULES.tsv]
//	pipeline -repo REPOSITORY.git -range BASE...HEAD
//
// REPOSITORY is a local bare repository with refs/pull/N/head. It is only read;
// with -range a copy that shares its objects gets a pull request between two
// of its commits. The review is a real one: an SQLite database, the dispatcher,
// the gRPC stream to the scanner, git over file:// (or -http) and the default
// ruleset, with the rules of -rules (id, tab, pattern) as the organization's.
//
// Each run reviews a pull request cold (no cache; everything is fetched) and
// warm (again; the cache and the compiled rules are there), and does the same
// with git alone in turn. Figures are medians. Writing the report is the only
// thing it leaves behind.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
)

func main() {
	var o options
	flag.StringVar(&o.repository, "repo", "", "local bare repository")
	flag.Func("pull", "number of a pull request; can be repeated", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		o.pulls = append(o.pulls, int32(n))
		return err
	})
	flag.StringVar(&o.span, "range", "", "BASE...HEAD: commits to make a pull request of")
	flag.StringVar(&o.rules, "rules", "", "file of more rules: id, tab, pattern")
	flag.IntVar(&o.runs, "runs", 5, "runs of each kind")
	flag.BoolVar(&o.warmOnly, "warm", false, "leave out the cold runs")
	flag.BoolVar(&o.overHTTP, "http", false, "serve the repository through git's http-backend instead of file://")
	flag.StringVar(&o.tmp, "tmp", "", "directory for caches and databases; the system's when empty")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the reviews to this file")
	traced := flag.String("trace", "", "write an execution trace to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := profiled(*profile, *traced, func() error { return run(ctx, o, os.Stdout) })
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pipeline:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	repository string
	pulls      []int32
	span       string
	rules      string
	runs       int
	warmOnly   bool
	overHTTP   bool
	tmp        string
}

// profiled calls run with what the runtime is asked to record.
func profiled(profile, traced string, run func() error) (err error) {
	record := func(path string, begin func(*os.File) error, end func()) error {
		if path == "" {
			return nil
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		inner := run
		run = func() error {
			if err := begin(f); err != nil {
				return err
			}
			err := inner()
			end()
			return errors.Join(err, f.Close())
		}
		return nil
	}
	if err := record(profile, func(f *os.File) error { return pprof.StartCPUProfile(f) }, pprof.StopCPUProfile); err != nil {
		return err
	}
	if err := record(traced, func(f *os.File) error { return trace.Start(f) }, trace.Stop); err != nil {
		return err
	}
	return run()
}

func run(ctx context.Context, o options, out *os.File) (err error) {
	if o.repository == "" || o.runs < 1 || len(o.pulls) == 0 && o.span == "" {
		return errors.New("-repo and -pull or -range are needed")
	}
	tmp, err := os.MkdirTemp(o.tmp, "pipeline-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	dir, err := filepath.Abs(o.repository)
	if err != nil {
		return err
	}
	if o.span != "" {
		if dir, err = withPull(ctx, dir, filepath.Join(tmp, "made.git"), o.span); err != nil {
			return err
		}
		o.pulls = append(o.pulls, madePull)
	}
	rules, err := loadRules(o.rules)
	if err != nil {
		return err
	}
	from, err := newOrigin(ctx, dir, filepath.Join(tmp, "origin"), o.overHTTP)
	if err != nil {
		return err
	}
	defer from.stop()
	for _, pull := range o.pulls {
		b := &bench{dir: dir, from: from, tmp: tmp, pull: pull, rules: rules}
		if err := b.measure(ctx, o); err != nil {
			return fmt.Errorf("pull request %d: %w", pull, err)
		}
		b.report(out)
	}
	return nil
}
