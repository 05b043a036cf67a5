package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/bench/corpus"
	"github.com/prwarden/prwarden/internal/bench/engine"
	"github.com/prwarden/prwarden/internal/bench/ruleset"
)

// quick compares engines on one file of rules and one corpus, run by run: what
// one wants while changing the engine.
func quick(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "prwarden-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	data, err := os.Open(o.rules)
	if err != nil {
		return err
	}
	rules, err := ruleset.ParseTSV(data)
	if err := errors.Join(err, data.Close()); err != nil {
		return err
	}
	c, err := corpus.Load(strings.Split(o.corpus, ",")...)
	if err != nil {
		return err
	}
	if o.size > 0 {
		c = c.Spread().Resize(o.size)
	}
	pack := filepath.Join(dir, "corpus")
	if err := corpus.WritePack(pack, c); err != nil {
		return err
	}

	names := strings.Split(o.engines, ",")
	var program engine.VectorscanProgram
	if slices.Contains(names, engine.Vectorscan) {
		if program, err = engine.BuildVectorscan(ctx, dir); err != nil {
			return err
		}
		refused, err := program.Check(ctx, rules, dir)
		if err != nil {
			return err
		}
		for id, why := range refused {
			fmt.Fprintf(out, "without rule %s, for all engines: %s\n", id, why)
		}
		rules = slices.DeleteFunc(rules, func(r ruleset.Rule) bool { return refused[r.ID] != "" })
	}
	list := filepath.Join(dir, "rules.tsv")
	if err := os.WriteFile(list, ruleset.FormatTSV(rules), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rules, %d files, %.1f MB, %d files skipped\n", len(rules), len(c.Files), float64(c.Bytes())/1e6, c.Skipped)

	processes := make([]*engine.Process, len(names))
	for i, name := range names {
		if name == engine.Vectorscan {
			processes[i], err = program.Start(ctx, rules, pack, o.mode, dir)
		} else {
			processes[i], err = engine.Start(ctx, name, list, pack, engine.Options{Cores: o.cores, Budget: o.budget, CPUProfile: o.cpuProfile})
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, processes[i].Close()) }()
		r := processes[i].Ready
		fmt.Fprintf(out, "%-10s compiled in %.1f ms; %.2f MB by its account, %.2f MB measured; %s\n",
			name, float64(r.CompileNS)/1e6, float64(r.Size)/1e6, float64(r.Heap)/1e6, r.Info)
	}
	if o.compare && len(processes) > 1 {
		var pairs [2][]engine.Pair
		for i := range pairs {
			if pairs[i], err = processes[i].Dump(); err != nil {
				return err
			}
		}
		a, err := engine.Agree(pairs[0], pairs[1], rules, c)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%d pairs are the same; %d missing, %d wrong; %v\n", a.Same, len(a.Missing), len(a.Wrong), a.Theirs)
		for _, fault := range slices.Concat(a.Missing, a.Wrong, a.Unclear) {
			fmt.Fprintln(out, fault)
		}
	}
	if o.hits != "" {
		pairs, err := processes[0].Dump()
		if err != nil {
			return err
		}
		n := make([]int, len(rules))
		for _, p := range pairs {
			n[p.Rule]++
		}
		var b strings.Builder
		for i, r := range rules {
			fmt.Fprintf(&b, "%d\t%s\t%s\n", n[i], r.ID, r.Pattern)
		}
		if err := os.WriteFile(o.hits, []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	all := make([][]float64, len(names))
	for round := range o.runs + 1 {
		for i, p := range processes {
			r, err := p.Scan()
			if err != nil {
				return err
			}
			kind := "run"
			if round == 0 {
				kind = "warm"
			} else {
				all[i] = append(all[i], r.CPUSpeed())
			}
			fmt.Fprintf(out, "%-10s %s %d: %8.1f MB/s by processor time, %8.1f by the clock, %d pairs, %d stopped, peak %d MiB\n", names[i], kind, round, r.CPUSpeed(), r.Speed(), r.Pairs, r.Stopped, r.PeakKiB>>10)
		}
	}
	for i := range names {
		slices.Sort(all[i])
		if n := len(all[i]); n > 0 {
			fmt.Fprintf(out, "%-10s median %.1f MB/s by processor time, from %.1f to %.1f\n", names[i], all[i][n/2], all[i][0], all[i][n-1])
		}
	}
	return nil
}
