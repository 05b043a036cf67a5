package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/engine"
	"github.com/prwarden/prwarden/internal/dev/bench/hostile"
	"github.com/prwarden/prwarden/internal/dev/bench/report"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

const (
	worstBytes = 2 << 20
	// ruleBudget is what a review gives each rule.
	ruleBudget = 2 * time.Second
	// checked is how much of a hostile text is compared with the standard library.
	checked = 10_000
)

// worst matches rules on texts that are hard for them.
func (s *suite) worst(ctx context.Context) error {
	cases, err := hostile.Cases(s.set("1,000").rules, s.corpus, worstBytes)
	if err != nil {
		return err
	}
	table := report.Table{Header: []string{"Case", "prwarden, MB/s", "of usual speed", "rules stopped", "vectorscan, MB/s", "of usual speed", "hits a line"}}
	for _, c := range cases {
		s.note("worst: %s", c.Name)
		if s.hasVectorscan {
			if c.Rules, err = s.without(ctx, c.Rules, c.Name); err != nil {
				return err
			}
		}
		contenders := []contender{{name: engine.Ours, budget: ruleBudget}}
		if s.hasVectorscan {
			contenders = append(contenders, contender{name: engine.Vectorscan, mode: "block"})
		}
		usual, err := s.race(ctx, c.Usual, s.corpus.Resize(4*worstBytes), 3, false, contenders...)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		hard, err := s.race(ctx, c.Rules, c.Text, 3, false, contenders...)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if err := s.check(ctx, c.Rules, c.Text); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		cells := []string{c.Name}
		for i, r := range hard {
			cells = append(cells, report.Speed(r.speed()), share(r.speed()/usual[i].speed()))
			if i == 0 {
				cells = append(cells, fmt.Sprint(r.last().Stopped))
			}
		}
		cells = append(cells, make([]string, 6-len(cells))...)
		table.Add(append(cells, hitsPerLine(hard[0].last().Pairs, lineCount(c.Text)))...)
	}
	s.section("Worst cases", table.String()+fmt.Sprintf("\n%d MB each, every rule with its %s of a review. Usual speed is that of the same number of rules of the same kind, or of the same rules, on the corpus. The first %d KB of each text were compared with the standard library: the same pairs. To vectorscan, which sees bytes, a text with U+212A and U+017F has no k and s.\n",
		worstBytes>>20, ruleBudget, checked/1000))
	return nil
}

// writeCases writes each case into a folder of its own below dir.
func (s *suite) writeCases(dir string) error {
	cases, err := hostile.Cases(s.set("1,000").rules, s.corpus, worstBytes)
	if err != nil {
		return err
	}
	for i, c := range cases {
		for _, f := range c.Text.Files {
			path := filepath.Join(dir, strconv.Itoa(i+1), "text", filepath.FromSlash(f.Path))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(path, f.Text, 0o600); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i+1), "rules.tsv"), ruleset.FormatTSV(c.Rules), 0o600); err != nil {
			return err
		}
		s.note("%d: %s", i+1, c.Name)
	}
	return nil
}

// check compares our pairs with the standard library's on the beginning of a text.
func (s *suite) check(ctx context.Context, rules []ruleset.Rule, c corpus.Corpus) error {
	f := c.Files[0]
	if len(f.Text) > checked {
		f.Text = f.Text[:checked+bytes.IndexByte(f.Text[checked:], '\n')+1]
	}
	start := corpus.Corpus{Files: []corpus.File{f}}
	results, err := s.race(ctx, rules, start, 1, true, contender{name: engine.Naive}, contender{name: engine.Ours})
	if err != nil {
		return err
	}
	_, err = samePairs(results[1].pairs, results[0].pairs, rules, start)
	return err
}

// hitsPerLine is 0.05, 3.2 or 1,000.
func hitsPerLine(hits int64, lines int) string {
	n := float64(hits) / float64(lines)
	if n >= 100 {
		return report.Thousands(int64(n + 0.5))
	}
	return fmt.Sprintf("%.2g", n)
}

func lineCount(c corpus.Corpus) int {
	n := 0
	for _, f := range c.Files {
		n += bytes.Count(f.Text, []byte("\n"))
	}
	return max(1, n)
}

// share writes a part of usual speed.
func share(x float64) string {
	if x >= 0.1 {
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	return fmt.Sprintf("1/%.0f", 1/x)
}
