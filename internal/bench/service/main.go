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
)

func main() {
	s := &suite{out: os.Stdout}
	flag.StringVar(&s.bin, "bin", "bin", "folder with the programs prwarden and bare")
	only := flag.String("only", "reads", "what to measure: "+strings.Join(parts(), ","))
	databases := flag.String("databases", "sqlite,postgres", "on which databases")
	findings := flag.String("findings", "0,20,500", "findings of the reviews that are read")
	flag.StringVar(&s.protocol, "protocol", "", "REST or gRPC; both when empty")
	flag.IntVar(&s.rounds, "rounds", 5, "runs of each program, in turn")
	flag.DurationVar(&s.each, "each", time.Second, "how long a run of reads is")
	flag.StringVar(&s.profile, "profile", "", "write CPU profiles of prwarden into this folder (needs a server with PRWARDEN_PPROF)")
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

// parts of the benchmark.
func parts() []string { return []string{"reads"} }

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
	profile   string

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

func (s *suite) run(ctx context.Context) error {
	for _, name := range s.databases {
		if err := s.on(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) on(ctx context.Context, name string) (err error) {
	d, err := s.newDatabase(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if slices.Contains(s.only, "reads") {
		if _, err := s.reads(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
