package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/engine"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

// contender is an engine as it takes part in a race.
type contender struct {
	name       string // engine.Ours, engine.Naive or engine.Vectorscan
	cores      int
	mode       string        // of vectorscan
	budget     time.Duration // of a rule; none when 0
	cpuProfile string        // file; ours only
}

// outcome is what a contender did.
type outcome struct {
	contender
	ready engine.Ready
	runs  []engine.Run
	heap  int64 // live once it is warm, in bytes; ours only
	pairs []engine.Pair
}

// speed is the median, in MB a second of processor time.
func (o outcome) speed() float64 { return median(o.runs, engine.Run.CPUSpeed) }

// clockSpeed is the median, in MB a second.
func (o outcome) clockSpeed() float64 { return median(o.runs, engine.Run.Speed) }

// last is the last run.
func (o outcome) last() engine.Run { return o.runs[len(o.runs)-1] }

// spread is by how much the slowest run was below the fastest, from 0 to 1.
func (o outcome) spread() float64 {
	speeds := values(o.runs, engine.Run.CPUSpeed)
	return 1 - slices.Min(speeds)/slices.Max(speeds)
}

func median(runs []engine.Run, of func(engine.Run) float64) float64 {
	list := values(runs, of)
	slices.Sort(list)
	return list[len(list)/2]
}

func values(runs []engine.Run, of func(engine.Run) float64) []float64 {
	list := make([]float64, len(runs))
	for i, r := range runs {
		list[i] = of(r)
	}
	return list
}

// race runs contenders on the same rules and texts: each once to get warm, then
// all in turn, so many times. With pairs, it also asks each for what it found.
func (s *suite) race(ctx context.Context, rules []ruleset.Rule, c corpus.Corpus, runs int, pairs bool, contenders ...contender) (results []outcome, err error) {
	dir, err := os.MkdirTemp(s.dir, "race-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	pack, list := filepath.Join(dir, "corpus"), filepath.Join(dir, "rules.tsv")
	if err := errors.Join(corpus.WritePack(pack, c), os.WriteFile(list, ruleset.FormatTSV(rules), 0o600)); err != nil {
		return nil, err
	}
	results = make([]outcome, len(contenders))
	processes := make([]*engine.Process, len(contenders))
	for i, who := range contenders {
		if processes[i], err = s.launch(ctx, who, rules, list, pack, dir); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, processes[i].Close()) }()
		results[i] = outcome{contender: who, ready: processes[i].Ready}
	}
	for i, p := range processes {
		warm, err := p.Scan()
		if err != nil {
			return nil, err
		}
		if who := contenders[i]; who.name == engine.Ours && who.budget == 0 && (warm.Stopped > 0 || warm.LongLines > 0) {
			return nil, fmt.Errorf("%d rules were stopped and %d lines left out: speeds can't be compared", warm.Stopped, warm.LongLines)
		}
	}
	for range runs {
		for i, p := range processes {
			run, err := p.Scan()
			if err != nil {
				return nil, err
			}
			results[i].runs = append(results[i].runs, run)
		}
	}
	for i, p := range processes {
		if contenders[i].name == engine.Ours {
			run, err := p.ScanHeap()
			if err != nil {
				return nil, err
			}
			results[i].heap = run.Heap
		}
		if pairs {
			if results[i].pairs, err = p.Dump(); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

func (s *suite) launch(ctx context.Context, who contender, rules []ruleset.Rule, list, pack, dir string) (*engine.Process, error) {
	if who.name == engine.Vectorscan {
		return s.vectorscan.Start(ctx, rules, pack, who.mode, dir)
	}
	budget := who.budget
	if budget == 0 {
		budget = time.Hour
	}
	return engine.Start(ctx, who.name, list, pack, engine.Options{Cores: max(1, who.cores), Budget: budget, CPUProfile: who.cpuProfile})
}
