package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// verdict is what a run found.
type verdict struct {
	title      string
	ended      map[string]int // reviews by state, and by the code of their failure
	faults     map[kind]int
	results    []result
	recoveries []measure
}

// result is whether one invariant held.
type result struct {
	invariant string
	broken    int      // places where it does not hold
	texts     []string // the first of them
}

// mostTexts bounds how many violations of one invariant are told.
const mostTexts = 10

// check looks at all invariants.
func (e *evidence) check() []result {
	var all []result
	for _, i := range invariants() {
		r := result{invariant: i.name}
		i.check(e, func(format string, args ...any) {
			if r.broken++; r.broken <= mostTexts {
				r.texts = append(r.texts, fmt.Sprintf(format, args...))
			}
		})
		all = append(all, r)
	}
	return all
}

func judge(e *evidence, made []fault, probes []probe) *verdict {
	v := &verdict{
		ended: map[string]int{}, faults: map[kind]int{},
		results: e.check(), recoveries: recoveries(made, probes, e.transitions),
	}
	for _, r := range e.reviews {
		v.ended[r.status]++
		if r.code != "" {
			v.ended[r.code]++
		}
	}
	for _, f := range made {
		v.faults[f.kind]++
	}
	return v
}

// held tells whether every invariant held.
func (v *verdict) held() bool {
	return !slices.ContainsFunc(v.results, func(r result) bool { return r.broken > 0 })
}

// good tells whether every invariant held, and every bound.
func (v *verdict) good() bool {
	return v.held() && !slices.ContainsFunc(v.recoveries, func(m measure) bool { return m.over() })
}

// print writes the verdict for people.
func (v *verdict) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s\nended: %v\nfaults:", v.title, v.ended)
	for _, k := range slices.Sorted(maps.Keys(v.faults)) {
		fmt.Fprintf(w, " %s %d,", k, v.faults[k])
	}

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\n\nRecovery\tsamples\tmedian\tmax\tbound\t\n")
	for _, m := range v.recoveries {
		var middle, longest time.Duration
		if sorted := slices.Sorted(slices.Values(m.samples)); len(sorted) > 0 {
			middle, longest = sorted[len(sorted)/2], sorted[len(sorted)-1]
		}
		over := ""
		if m.over() {
			over = "OVER: " + m.longest
		}
		fmt.Fprintf(t, "%s\t%d\t%.2f s\t%.2f s\t%s\t%s\n",
			m.name, len(m.samples), middle.Seconds(), longest.Seconds(), m.bound, over)
	}
	fmt.Fprintf(t, "\nInvariant\tbroken\n")
	for _, r := range v.results {
		fmt.Fprintf(t, "%s\t%d\n", r.invariant, r.broken)
	}
	_ = t.Flush() // to the terminal

	for _, r := range v.results {
		for _, text := range r.texts {
			fmt.Fprintf(w, "BROKEN %s: %s\n", r.invariant, text)
		}
	}
}
