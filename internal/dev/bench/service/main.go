// Command service measures prwarden as a service: reading beside a bare
// program, accepting, starting and scanning; see docs/benchmarks.md.
//
// It starts everything itself, on loopback and in a temporary folder: a
// Postgres cluster that syncs as a real one, servers, scanners and a code host.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/store"
)

func main() {
	s := &suite{out: os.Stdout}
	flag.StringVar(&s.bin, "bin", "bin", "folder with the programs prwarden and bare")
	only := flag.String("only", strings.Join(parts(), ","), "what to measure")
	databases := flag.String("databases", "sqlite,postgres", "on which databases")
	findings := flag.String("findings", "0,20,500", "findings of the reviews that are read")
	flag.StringVar(&s.protocol, "protocol", "", "REST or gRPC; both when empty")
	flag.IntVar(&s.rounds, "rounds", 5, "runs of each program, in turn")
	flag.DurationVar(&s.each, "each", time.Second, "how long a run of reads is")
	flag.BoolVar(&s.write, "write", false, "put the results into "+document)
	tmp := flag.String("tmp", "", "folder for databases and caches; the system's when empty")
	flag.Parse()
	s.only, s.databases = strings.Split(*only, ","), strings.Split(*databases, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := s.prepare(*findings, *tmp)
	if err == nil {
		err = errors.Join(s.run(ctx), s.clean())
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-service:", err)
		os.Exit(1)
	}
}

// The parts of the benchmark.
const (
	partReads   = "reads"
	partAccepts = "accepts"
	partStarts  = "starts"
	partScaling = "scaling"
)

func parts() []string { return []string{partReads, partAccepts, partStarts, partScaling} }

// suite is one run of the benchmark.
type suite struct {
	out       *os.File
	bin       string
	only      []string
	databases []string
	findings  []int
	protocol  string
	rounds    int
	each      time.Duration
	write     bool

	tmp string
}

func (s *suite) prepare(findings, tmp string) (err error) {
	for _, word := range strings.Split(findings, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("-findings: %w", err)
		}
		s.findings = append(s.findings, n)
	}
	for _, part := range s.only {
		if !slices.Contains(parts(), part) {
			return fmt.Errorf("-only: there is no part %q", part)
		}
	}
	s.tmp, err = os.MkdirTemp(tmp, "bench-service-")
	return err
}

func (s *suite) clean() error { return os.RemoveAll(s.tmp) }

// progress says on the terminal how far it is.
func (s *suite) progress(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

func (s *suite) run(ctx context.Context) (err error) {
	r := &results{began: time.Now()}
	for _, part := range []struct {
		name string
		run  func(context.Context, *database) error
	}{
		{partReads, func(ctx context.Context, d *database) error { return add(ctx, d, &r.reads, s.reads) }},
		{partAccepts, func(ctx context.Context, d *database) error {
			if d.cluster != nil {
				if err := add(ctx, d, &r.ceilings, s.ceilings); err != nil {
					return err
				}
			}
			return add(ctx, d, &r.accepts, s.accepts)
		}},
		{partStarts, func(ctx context.Context, d *database) error { return add(ctx, d, &r.starts, s.starts) }},
		{partScaling, func(ctx context.Context, d *database) error {
			if d.cluster == nil {
				return nil // one server has SQLite to itself; this is about many machines
			}
			return add(ctx, d, &r.scaling, s.scaling)
		}},
	} {
		if !slices.Contains(s.only, part.name) {
			continue
		}
		for _, name := range s.databases {
			if err := s.on(ctx, name, part.run); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	if r.sync50, r.sync99, err = syncs(s.tmp); err != nil {
		return err
	}
	r.took = time.Since(r.began)
	return s.publish(ctx, r)
}

// add appends what a part measured to its results.
func add[T any](ctx context.Context, d *database, to *[]T, measure func(context.Context, *database) ([]T, error)) error {
	more, err := measure(ctx, d)
	*to = append(*to, more...)
	return err
}

// on does a part on a new database.
func (s *suite) on(ctx context.Context, name string, part func(context.Context, *database) error) (err error) {
	d, err := s.newDatabase(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := withStore(ctx, d.url, func(store *store.Store) error { return store.Migrate(ctx) }); err != nil {
		return err
	}
	return part(ctx, d)
}
