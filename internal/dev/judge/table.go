package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// table is a table in Markdown. Its first row is the header; all columns but the first are numbers.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

func (t table) print(out io.Writer) {
	for n, row := range t {
		fmt.Fprintln(out, "| "+strings.Join(row, " | ")+" |")
		if n == 0 {
			fmt.Fprintln(out, "|---|"+strings.Repeat("--:|", len(row)-1))
		}
	}
	fmt.Fprintln(out)
}

// summarize is a table of what was scanned.
func summarize(done []scanned) (t table) {
	t.add("project", "pull requests", "with a hit", "added lines", "hits", "for 500 lines", "low", "incomplete")
	for _, d := range append(done, total(done)) {
		name := d.Project
		if d.Style == styleCommits {
			name += " (commits)"
		}
		t.add(name, fmt.Sprint(d.Pulls), share(d.Found, d.Pulls), fmt.Sprint(d.Added), fmt.Sprint(d.Hits), d.density(),
			fmt.Sprint(d.Low), reasons(d.Incomplete))
	}
	return t
}

// total is the sum of scans.
func total(scans []scanned) scanned {
	all := scanned{Project: "all", Incomplete: map[string]int{}}
	for _, s := range scans {
		all.Pulls, all.Found, all.Added = all.Pulls+s.Pulls, all.Found+s.Found, all.Added+s.Added
		all.Hits, all.Low = all.Hits+s.Hits, all.Low+s.Low
		for why, n := range s.Incomplete {
			all.Incomplete[why] += n
		}
	}
	return all
}

// density is how many hits there are for 500 added lines.
func (s scanned) density() string {
	return fmt.Sprintf("%.2f", 500*float64(s.Hits)/float64(max(1, s.Added)))
}

// reasons are those for which scans are incomplete.
func reasons(incomplete map[string]int) string {
	var list []string
	for why, n := range incomplete {
		list = append(list, fmt.Sprintf("%d × %s", n, why))
	}
	slices.Sort(list)
	return cmp.Or(strings.Join(list, ", "), "none")
}

// share is how many of all, and the percentage.
func share(n, all int) string {
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(1, all)))
}
