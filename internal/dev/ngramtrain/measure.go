package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"regexp"
	"slices"

	"github.com/prwarden/prwarden/internal/match/ngram"
)

const (
	windowSize = 4    // bytes, as the engine's filter looks them up
	sampled    = 5000 // names
	leastSeen  = 10   // places that a name must occur in: rules name things that are in use
)

var name = regexp.MustCompile(`\b[A-Za-z_][A-Za-z0-9_]{3,19}\b`)

type window [windowSize]byte

// quality is how well a table tells the windows of names apart.
type quality struct {
	names, windows int
	rank           float64 // Spearman's correlation of expected and actual rates of the windows
	factor         float64 // median of max(expected/actual, actual/expected)
	near           float64 // part of names whose window of least expected hits has at most twice the hits of the best window
	hits, best     float64 // hits per MiB of the windows chosen for all names, and of the best ones
	last           float64 // the same for each name's last window, for comparison
}

// measure compares what the built-in table expects with a corpus.
func measure(c *corpus, out io.Writer) error {
	names, err := c.names()
	if err != nil {
		return err
	}
	actual, err := c.count(names)
	if err != nil {
		return err
	}
	q := rate(names, actual, ngram.RateOf)
	fmt.Fprintf(out, "%d names, %d windows of %d bytes\n", q.names, q.windows, windowSize)
	fmt.Fprintf(out, "rank correlation of expected and actual rates  %.3f\n", q.rank)
	fmt.Fprintf(out, "median factor between them                     %.2f\n", q.factor)
	fmt.Fprintf(out, "chosen window within 2 x of the best           %.1f %%\n", 100*q.near)
	fmt.Fprintf(out, "hits per MiB and name: chosen %.2f, best %.2f, last window %.2f\n", q.hits, q.best, q.last)
	return nil
}

// names are some of the names in the corpus, folded: those with the least hash.
func (c *corpus) names() ([][]byte, error) {
	seen := map[string]int{}
	for _, f := range c.files {
		text, err := f.read()
		if err != nil {
			return nil, err
		}
		for _, found := range name.FindAll(text, -1) {
			seen[string(bytes.ToLower(found))]++
		}
	}
	type candidate struct {
		name string
		hash uint64
	}
	var all []candidate
	for text, n := range seen {
		if n >= leastSeen {
			h := fnv.New64a()
			_, _ = io.WriteString(h, text)
			all = append(all, candidate{text, h.Sum64()})
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the trees have no names")
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.name, b.name))
	})
	var names [][]byte
	for _, one := range all[:min(len(all), sampled)] {
		names = append(names, []byte(one.name))
	}
	return names, nil
}

// count returns the places per MiB of all windows of names.
func (c *corpus) count(names [][]byte) (map[window]float64, error) {
	rates := map[window]float64{}
	for _, n := range names {
		for w := range windows(n) {
			rates[w] = 0
		}
	}
	total := 0
	for _, f := range c.files {
		text, err := f.read()
		if err != nil {
			return nil, err
		}
		total += len(text)
		for w := range windows(lower(text)) {
			if _, ok := rates[w]; ok {
				rates[w]++
			}
		}
	}
	for w := range rates {
		rates[w] *= (1 << 20) / float64(total)
	}
	return rates, nil
}

// lower folds ASCII letters in place.
func lower(text []byte) []byte {
	for i, b := range text {
		if 'A' <= b && b <= 'Z' {
			text[i] = b + 'a' - 'A'
		}
	}
	return text
}

// windows yields the windows of a text.
func windows(text []byte) func(func(window) bool) {
	return func(yield func(window) bool) {
		for i := 0; i+windowSize <= len(text); i++ {
			if !yield(window(text[i:])) {
				return
			}
		}
	}
}

// rate measures expected rates against actual ones, of windows that all occur.
func rate(names [][]byte, actual map[window]float64, expect func([]byte) float64) quality {
	q := quality{names: len(names), windows: len(actual)}
	var expected, counted, factors []float64
	for w, hits := range actual {
		e := expect(w[:])
		expected, counted = append(expected, e), append(counted, hits)
		factors = append(factors, math.Exp2(math.Abs(math.Log2(e/hits))))
	}
	slices.Sort(factors)
	q.factor = factors[len(factors)/2]
	q.rank = spearman(expected, counted)
	for _, n := range names {
		least, chosen, best, hits := math.Inf(1), 0.0, math.Inf(1), 0.0
		for w := range windows(n) {
			hits = actual[w]
			best = min(best, hits)
			if e := expect(w[:]); e < least {
				least, chosen = e, hits
			}
		}
		if chosen <= 2*best {
			q.near++
		}
		q.hits, q.best, q.last = q.hits+chosen, q.best+best, q.last+hits
	}
	all := float64(len(names))
	q.near, q.hits, q.best, q.last = q.near/all, q.hits/all, q.best/all, q.last/all
	return q
}

// spearman is the correlation of ranks; equal values share a rank.
func spearman(x, y []float64) float64 {
	rx, ry := ranks(x), ranks(y)
	mean := float64(len(x)-1) / 2
	var xy, xx, yy float64
	for i := range rx {
		dx, dy := rx[i]-mean, ry[i]-mean
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	return xy / math.Sqrt(xx*yy)
}

// ranks gives each value its place in ascending order, from 0.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	rank := make([]float64, len(values))
	for i := 0; i < len(order); {
		end := i + 1
		for end < len(order) && values[order[end]] == values[order[i]] {
			end++
		}
		for _, at := range order[i:end] {
			rank[at] = float64(i+end-1) / 2
		}
		i = end
	}
	return rank
}
