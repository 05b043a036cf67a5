package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/engine"
	"github.com/prwarden/prwarden/internal/dev/bench/report"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

// naiveWork is how much the naive engine is given, as rules times bytes: some
// seconds of its time.
const naiveWork = 100e6

// engines compares what engines find and how fast they are, on one processor.
func (s *suite) engines(ctx context.Context) error {
	speeds := report.Table{Header: []string{"Rules", "prwarden, MB/s", "vectorscan, MB/s", "ratio", "naive `regexp`, MB/s", "ratio"}}
	costs := report.Table{Header: []string{"Rules", "prwarden compiles in", "vectorscan", "prwarden's matcher", "its heap, warm", "vectorscan's database", "prwarden's memory", "vectorscan's"}}
	var agreement strings.Builder
	var spread float64
	for i := range s.sets {
		set := &s.sets[i]
		s.note("engines: %s rules", set.name)
		if err := s.compare(ctx, set); err != nil {
			return fmt.Errorf("%s rules: %w", set.name, err)
		}
		naive, same, err := s.naive(ctx, set.rules)
		if err != nil {
			return fmt.Errorf("%s rules: %w", set.name, err)
		}
		ours := set.compared[0]
		pairs := ours.last().Pairs
		fmt.Fprintf(&agreement, "- %s rules: %s pairs, %.3f for each rule and MB", set.title(), report.Thousands(pairs),
			float64(pairs)/float64(len(set.rules))/(float64(s.corpus.Bytes())/1e6))
		fast := []string{set.title(), report.Speed(ours.speed()), "", "", report.Speed(naive), report.Ratio(ours.speed() / naive)}
		cost := []string{set.title(), milliseconds(ours.ready.CompileNS), "", megabytes(ours.ready.Size), megabytes(ours.heap), "", megabytes(ours.last().System), ""}
		spread = max(spread, ours.spread())
		if len(set.compared) > 1 {
			theirs := set.compared[1]
			text, err := s.agree(set, theirs.pairs)
			if err != nil {
				return err
			}
			agreement.WriteString(text)
			fast[2], fast[3] = report.Speed(theirs.speed()), report.Ratio(ours.speed()/theirs.speed())
			cost[2], cost[5], cost[7] = milliseconds(theirs.ready.CompileNS), megabytes(theirs.ready.Size), megabytes(theirs.last().System)
			spread = max(spread, theirs.spread())
		}
		fmt.Fprintf(&agreement, "; %s with the standard library on a sample.\n", same)
		speeds.Add(fast...)
		costs.Add(cost...)
	}
	s.section("The same pairs of rule and line", agreement.String())
	s.section("One processor", speeds.String()+fmt.Sprintf("\nMedians of %d runs in turn, by processor time; the slowest run of an engine was at most %.0f %% below its fastest.\n", s.runs, 100*spread))
	s.section("Compiling, and memory", costs.String()+"\nMemory is what the process holds after its runs over what it held before the rules were compiled, garbage included; of vectorscan its database and scratch space alone.\n")
	return nil
}

// title is the name of the set and, where they differ, the number of its rules.
func (t set) title() string {
	if n := report.Thousands(int64(len(t.rules))); n != t.name {
		return t.name + " (" + n + ")"
	}
	return t.name
}

// compare races ours and vectorscan on the corpus. Of vectorscan's two ways to be
// called the faster counts.
func (s *suite) compare(ctx context.Context, set *set) error {
	contenders := []contender{{name: engine.Ours}}
	if s.hasVectorscan {
		contenders = append(contenders, contender{name: engine.Vectorscan, mode: "block"}, contender{name: engine.Vectorscan, mode: "concat"})
	}
	results, err := s.race(ctx, set.rules, s.corpus, s.runs, true, contenders...)
	if err != nil {
		return err
	}
	if len(results) == 3 && results[2].speed() > results[1].speed() {
		results[1], results[2] = results[2], results[1]
	}
	set.compared = results
	return nil
}

// agree says how our pairs compare with vectorscan's. It fails when ours aren't
// those of the standard library.
func (s *suite) agree(set *set, theirs []engine.Pair) (string, error) {
	a, err := engine.Agree(set.compared[0].pairs, theirs, set.rules, s.corpus)
	if err != nil {
		return "", err
	}
	if faults := slices.Concat(a.Missing, a.Wrong); len(faults) > 0 {
		return "", fmt.Errorf("%d pairs are missing, %d are wrong: %s", len(a.Missing), len(a.Wrong), strings.Join(faults[:min(5, len(faults))], "; "))
	}
	if a.Differences() == 0 {
		return "; vectorscan finds the same", nil
	}
	var parts []string
	for why, n := range a.Theirs {
		parts = append(parts, fmt.Sprintf("%d %s", n, why))
	}
	slices.Sort(parts)
	return fmt.Sprintf("; vectorscan finds %d of them; it differs in %s", a.Same, strings.Join(parts, ", ")), nil
}

// naive measures the naive engine on a sample of the corpus, and compares our
// pairs with its.
func (s *suite) naive(ctx context.Context, rules []ruleset.Rule) (speed float64, same string, err error) {
	sample := s.corpus.Resize(max(1, naiveWork/int64(len(rules))))
	results, err := s.race(ctx, rules, sample, 1, true, contender{name: engine.Naive}, contender{name: engine.Ours})
	if err != nil {
		return 0, "", err
	}
	same, err = samePairs(results[1].pairs, results[0].pairs, rules, sample)
	return results[0].speed(), same, err
}

// samePairs says that our pairs are those of the standard library, or fails.
func samePairs(ours, reference []engine.Pair, rules []ruleset.Rule, c corpus.Corpus) (string, error) {
	a, err := engine.Agree(ours, reference, rules, c)
	if err != nil {
		return "", err
	}
	if a.Differences() > 0 {
		return "", errors.New("not the pairs of the standard library: " + strings.Join(slices.Concat(a.Missing, a.Wrong), "; "))
	}
	return fmt.Sprintf("the same %d pairs", a.Same), nil
}

func milliseconds(ns int64) string {
	ms := float64(ns) / 1e6
	if ms >= 100 {
		return report.Thousands(int64(ms+0.5)) + " ms"
	}
	return fmt.Sprintf("%.1f ms", ms)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
