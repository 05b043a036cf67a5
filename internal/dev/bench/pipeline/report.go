package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/prwarden/prwarden/internal/scan"
)

// median of the samples' values of one name; missing ones are 0.
func median(samples []sample, name string) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = s[name]
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// ratio is the median of the ratios of the pairs that ran after each other.
func (k kind) ratio(of string) float64 {
	pairs := make([]sample, len(k.ours))
	for i := range k.ours {
		pairs[i] = sample{of: k.ours[i][of] / k.hand[i][of]}
	}
	return median(pairs, of)
}

// fastest is the least of the samples' values of one name: what a busy machine
// disturbed least.
func fastest(samples []sample, name string) float64 {
	least := samples[0][name]
	for _, s := range samples {
		least = min(least, s[name])
	}
	return least
}

// steps are the parts of a review, in the order of the report: those that
// follow each other, and those that go on meanwhile.
func steps() (inTurn, meanwhile []string) {
	inTurn = []string{stepClaim, stepRules}
	for p := range scan.PhaseTotal {
		if p.InTurn() {
			inTurn = append(inTurn, p.String())
		} else {
			meanwhile = append(meanwhile, p.String())
		}
	}
	return append(inTurn, stepRest, stepStream, stepStore, stepTotal), meanwhile
}

// table is a report with a column, or two, for each kind of run.
type table struct {
	w     *tabwriter.Writer
	kinds []kind
}

func (t *table) row(name string, cell func(kind) (value, share string)) {
	fmt.Fprint(t.w, name, "\t")
	for _, k := range t.kinds {
		value, share := cell(k)
		fmt.Fprint(t.w, value, "\t", share, "\t")
	}
	fmt.Fprintln(t.w)
}

// rows has the medians of some samples, with their shares of the total.
func (t *table) rows(of func(kind) []sample, names ...string) {
	for _, name := range names {
		t.row(name, func(k kind) (string, string) {
			n, total := median(of(k), name), median(of(k), stepTotal)
			return fmt.Sprintf("%.1f", n), fmt.Sprintf("%.1f %%", 100*n/cmp.Or(total, 1))
		})
	}
}

// numbers has the medians of some samples alone.
func (t *table) numbers(of func(kind) []sample, names ...string) {
	for _, name := range names {
		t.row(name, func(k kind) (string, string) { return fmt.Sprintf("%.1f", median(of(k), name)), "" })
	}
}

func (t *table) heading(text string) {
	t.row(text, func(kind) (string, string) { return "", "" })
}

// report prints the medians.
func (b *bench) report(out io.Writer) {
	fmt.Fprintf(out, "pull request %d of %s: %d files at head, %d findings, %d rules, medians of %d\n",
		b.pull, filepath.Base(filepath.Dir(b.dir)), b.work.files, len(b.last.Findings), len(b.rules.defaults)+len(b.rules.own), len(b.kinds[0].ours))
	t := &table{w: tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight), kinds: b.kinds}
	ours := func(k kind) []sample { return k.ours }
	hand := func(k kind) []sample { return k.hand }
	t.row("", func(k kind) (string, string) { return k.name + " ms", "share" })
	inTurn, meanwhile := steps()
	t.rows(ours, inTurn...)
	t.heading("meanwhile:")
	t.rows(ours, meanwhile...)
	t.heading("cost:")
	t.numbers(ours, costCPU, costOwn, costGit, costAllocated, costGC)
	t.heading("git by hand:")
	t.rows(hand, gitFetch, gitBlobs, gitDiff, gitRead, stepTotal)
	t.numbers(hand, costCPU)
	t.heading("review / git:")
	for _, of := range []string{stepTotal, costCPU} {
		t.row(of, func(k kind) (string, string) { return fmt.Sprintf("%.2f", k.ratio(of)), "" })
	}
	t.row("total, fastest", func(k kind) (string, string) {
		a, b := fastest(k.ours, stepTotal), fastest(k.hand, stepTotal)
		return fmt.Sprintf("%.2f", a/b), fmt.Sprintf("%.0f / %.0f", a, b)
	})
	_ = t.w.Flush() // to the terminal
}
