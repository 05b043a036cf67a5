package engine

import (
	"regexp"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
	"github.com/prwarden/prwarden/internal/match"
)

// naive tries every rule on every line with the standard library: what matching
// costs without any engine.
type naive struct {
	rules  []*regexp.Regexp
	corpus corpus.Corpus
}

func newNaive(rules []ruleset.Rule, c corpus.Corpus) (*naive, error) {
	n := &naive{corpus: c}
	for _, r := range rules {
		re, err := regexp.Compile(r.Pattern)
		if err != nil {
			return nil, err
		}
		n.rules = append(n.rules, re)
	}
	return n, nil
}

func (n *naive) scan(each func(Pair)) Run {
	run := Run{Bytes: n.corpus.Bytes()}
	start, cpu := time.Now(), processorTime()
	for i, f := range n.corpus.Files {
		lines := match.SplitLines(f.Text)
		for l := 1; l <= lines.Count(); l++ {
			line := lines.Line(l)
			for rule, re := range n.rules {
				if !re.Match(line) {
					continue
				}
				run.Pairs++
				if each != nil {
					each(Pair{File: uint32(i), Start: uint32(lines.Start(l)), Rule: uint32(rule)})
				}
			}
		}
	}
	run.NS, run.CPUNS = time.Since(start).Nanoseconds(), processorTime()-cpu
	return run
}
