package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/engine"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

// quick compares engines on one file of rules and one corpus, run by run: what
// one wants while changing the engine.
func quick(ctx context.Context, o options, out io.Writer) error {
	dir, err := os.MkdirTemp("", "prwarden-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &suite{options: o, dir: dir}
	rules, contenders, err := s.quickEngines(ctx, out)
	if err != nil {
		return err
	}
	c, err := corpus.Load(strings.Split(o.corpus, ",")...)
	if err != nil {
		return err
	}
	if o.size > 0 {
		c = c.Spread().Resize(o.size)
	}
	fmt.Fprintf(out, "%d rules, %d files, %.1f MB, %d files skipped\n", len(rules), len(c.Files), float64(c.Bytes())/1e6, c.Skipped)

	results, err := s.race(ctx, rules, c, o.runs, o.compare || o.hits != "", contenders...)
	if err != nil {
		return err
	}
	for _, r := range results {
		printOutcome(out, r)
	}
	if o.compare && len(results) > 1 {
		if err := printAgreement(out, results, rules, c); err != nil {
			return err
		}
	}
	if o.hits != "" {
		return writeHits(o.hits, results[0].pairs, rules)
	}
	return nil
}

// quickEngines reads the rules and makes the contenders of a quick comparison.
func (s *suite) quickEngines(ctx context.Context, out io.Writer) ([]ruleset.Rule, []contender, error) {
	data, err := os.Open(s.rules)
	if err != nil {
		return nil, nil, err
	}
	rules, err := ruleset.ParseTSV(data)
	if err := errors.Join(err, data.Close()); err != nil {
		return nil, nil, err
	}
	var contenders []contender
	for _, name := range strings.Split(s.contenders, ",") {
		contenders = append(contenders, contender{name: name, cores: s.cores, mode: s.mode, budget: s.budget, cpuProfile: s.cpuProfile})
		if name != engine.Vectorscan {
			continue
		}
		if s.vectorscan, err = engine.BuildVectorscan(ctx, s.dir); err != nil {
			return nil, nil, err
		}
		if rules, err = s.without(ctx, rules, s.rules); err != nil {
			return nil, nil, err
		}
	}
	for _, why := range s.refused {
		fmt.Fprintf(out, "left out: %s\n", why)
	}
	return rules, contenders, nil
}

func printOutcome(out io.Writer, r outcome) {
	fmt.Fprintf(out, "%-10s compiled in %.1f ms; %.2f MB by its account, %.2f MB measured; %s\n",
		r.name, float64(r.ready.CompileNS)/1e6, float64(r.ready.Size)/1e6, float64(r.ready.Heap)/1e6, r.ready.Info)
	if r.heap > 0 {
		fmt.Fprintf(out, "%-10s %.2f MB once warm\n", r.name, float64(r.heap)/1e6)
	}
	for i, run := range r.runs {
		fmt.Fprintf(out, "%-10s run %d: %8.1f MB/s by processor time, %8.1f by the clock, %d pairs, %d stopped, peak %d MiB\n",
			r.name, i+1, run.CPUSpeed(), run.Speed(), run.Pairs, run.Stopped, run.PeakKiB>>10)
	}
	if len(r.runs) > 0 {
		speeds := values(r.runs, engine.Run.CPUSpeed)
		fmt.Fprintf(out, "%-10s median %.1f MB/s by processor time, from %.1f to %.1f\n", r.name, r.speed(), slices.Min(speeds), slices.Max(speeds))
	}
}

func printAgreement(out io.Writer, results []outcome, rules []ruleset.Rule, c corpus.Corpus) error {
	a, err := engine.Agree(results[0].pairs, results[1].pairs, rules, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d pairs are the same; %d missing, %d wrong; %v\n", a.Same, len(a.Missing), len(a.Wrong), a.Theirs)
	for _, fault := range slices.Concat(a.Missing, a.Wrong, a.Unclear) {
		fmt.Fprintln(out, fault)
	}
	return nil
}

// writeHits writes how many pairs each rule has.
func writeHits(path string, pairs []engine.Pair, rules []ruleset.Rule) error {
	n := make([]int, len(rules))
	for _, p := range pairs {
		n[p.Rule]++
	}
	var b strings.Builder
	for i, r := range rules {
		fmt.Fprintf(&b, "%d\t%s\t%s\n", n[i], r.ID, r.Pattern)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
