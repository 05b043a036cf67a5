package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/engine"
	"github.com/prwarden/prwarden/internal/dev/bench/program"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

// TestMain lets the test binary be the engines' process, as the command is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func small() ([]ruleset.Rule, corpus.Corpus) {
	rules := []ruleset.Rule{{ID: "call", Pattern: `\bfetch\w*\(`}, {ID: "end", Pattern: `x$`}, {ID: "any-case", Pattern: `(?i)skip`}}
	return rules, corpus.Corpus{Files: []corpus.File{
		{Path: "a.go", Text: []byte("fetchNode(x)\nSkip x\r\n\nnothing\nfetch(sKIp)\n")},
		{Path: "b.go", Text: []byte("skip\u212a x")},
	}}
}

func TestRaceFindsTheSamePairs(t *testing.T) {
	t.Parallel()
	rules, c := small()
	s := &suite{dir: t.TempDir()}
	for _, cores := range []int{1, 2} {
		results, err := s.race(t.Context(), rules, c, 3, true, contender{name: engine.Ours, cores: cores}, contender{name: engine.Naive})
		require.NoError(t, err)
		for _, r := range results {
			assert.Len(t, r.runs, 3, r.name)
			assert.EqualValues(t, c.Bytes(), r.last().Bytes, r.name)
			assert.EqualValues(t, 7, r.last().Pairs, r.name)
			assert.Positive(t, r.speed(), r.name)
			assert.Positive(t, r.last().PeakKiB, r.name)
		}
		assert.Positive(t, results[0].ready.Size)
		same, err := samePairs(results[0].pairs, results[1].pairs, rules, c)
		require.NoError(t, err)
		assert.Equal(t, "the same 7 pairs", same)
	}
}

func TestRaceRefusesWhatCantBeCompared(t *testing.T) {
	t.Parallel()
	rules, c := small()
	s := &suite{dir: t.TempDir()}
	c.Files = append(c.Files, corpus.File{Path: "long", Text: bytes.Repeat([]byte("x"), 17<<10)})
	_, err := s.race(t.Context(), rules, c, 1, false, contender{name: engine.Ours})
	assert.ErrorContains(t, err, "1 lines left out")
	_, err = s.race(t.Context(), rules, c, 1, false, contender{name: "other"})
	assert.ErrorContains(t, err, `no engine is called "other"`)
}

func TestSamePairsRefusesDifferences(t *testing.T) {
	t.Parallel()
	rules, c := small()
	pair := engine.Pair{File: 0, Start: 0, Rule: 0}
	_, err := samePairs(nil, []engine.Pair{pair}, rules, c)
	assert.ErrorContains(t, err, "rule call, a.go")
	_, err = samePairs([]engine.Pair{{Rule: 1}}, nil, rules, c)
	assert.ErrorContains(t, err, "rule end, a.go")
}

func TestQuick(t *testing.T) {
	t.Parallel()
	rules, c := small()
	dir := t.TempDir()
	list, hits := filepath.Join(dir, "rules.tsv"), filepath.Join(dir, "hits")
	require.NoError(t, os.WriteFile(list, ruleset.FormatTSV(rules), 0o600))
	text := filepath.Join(dir, "text")
	require.NoError(t, os.Mkdir(text, 0o700))
	for _, f := range c.Files {
		require.NoError(t, os.WriteFile(filepath.Join(text, f.Path), f.Text, 0o600))
	}
	var out, errOut strings.Builder
	err := run(t.Context(), []string{"-engine", "ours,naive", "-rules", list, "-corpus", text, "-runs", "1", "-compare", "-hits", hits}, nil, &out, &errOut)
	require.NoError(t, err, errOut.String())
	assert.Contains(t, out.String(), "3 rules, 2 files")
	assert.Contains(t, out.String(), "7 pairs are the same; 0 missing, 0 wrong")
	got, err := os.ReadFile(hits)
	require.NoError(t, err)
	assert.Equal(t, "2\tcall\t\\bfetch\\w*\\(\n2\tend\tx$\n3\tany-case\t(?i)skip\n", string(got))
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`unexpected argument "x"`:             {"x"},
		"-runs must be at least 1":            {"-runs", "0"},
		"flag provided but not defined: -nox": {"-nox"},
	} {
		var out, errOut strings.Builder
		err := run(t.Context(), args, nil, &out, &errOut)
		assert.EqualError(t, err, want)
	}
}

func TestCompareHits(t *testing.T) {
	t.Parallel()
	set := func(hits ...program.Hit) map[program.Hit]bool {
		m := map[program.Hit]bool{}
		for _, h := range hits {
			m[h] = true
		}
		return m
	}
	ours := set(program.Hit{Rule: "a", File: "f", Line: 1}, program.Hit{Rule: "b", File: "f", Line: 1}, program.Hit{Rule: "a", File: "f", Line: 2})
	assert.Equal(t, "the same 3 pairs", compareHits(ours, ours))
	assert.Equal(t, "the same 2 lines", compareHits(ours, set(program.Hit{File: "f", Line: 1}, program.Hit{File: "f", Line: 2})))
	assert.Equal(t, "1 of our 3 pairs, and 1 others", compareHits(ours, set(program.Hit{Rule: "a", File: "f", Line: 1}, program.Hit{Rule: "a", File: "g", Line: 1})))
	assert.Equal(t, "0 of our 3 pairs, and 0 others", compareHits(ours, nil))
}

func TestWords(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "GOROOT/src", label(""))
	assert.Equal(t, "corpus/code, b/c", label("/tmp/corpus/code,/a/b/c/"))
	assert.Equal(t, []string{"48 %", "10 %", "1/11", "1/2887"}, []string{share(0.48), share(0.1), share(0.09), share(1 / 2887.4)})
	assert.Equal(t, []string{"1,000", "3.2", "0.05"}, []string{hitsPerLine(1000, 1), hitsPerLine(32, 10), hitsPerLine(5, 100)})
	assert.Equal(t, []string{"7.1 ms", "1,234 ms"}, []string{milliseconds(7_123_456), milliseconds(1_234_000_000)})
	o := outcome{runs: []engine.Run{{Bytes: 1e6, CPUNS: 2e6, NS: 4e6}, {Bytes: 1e6, CPUNS: 1e6, NS: 1e6}, {Bytes: 1e6, CPUNS: 4e6, NS: 2e6}}}
	assert.InDelta(t, 500, o.speed(), 1e-9)
	assert.InDelta(t, 500, o.clockSpeed(), 1e-9)
	assert.InDelta(t, 0.75, o.spread(), 1e-9)
	a := attempt{runs: []program.Run{{CPU: time.Second}, {CPU: 3 * time.Second}, {CPU: 2 * time.Second}}}
	assert.InDelta(t, 2, a.processorTime(), 1e-9)
}
