package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prometheus/procfs"
)

// table is a table in markdown. Its first row is the header.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

// print pads the cells, so that the table is also easy to read as text.
func (t *table) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	for n, row := range *t {
		fmt.Fprintln(w, "| "+strings.Join(row, "\t| ")+"\t|")
		if n == 0 {
			fmt.Fprintln(w, strings.Repeat("|---\t", len(row))+"|")
		}
	}
	_ = w.Flush() // to the terminal
	fmt.Fprintln(out)
}

// printMachine says in a line where and when something was measured.
func printMachine(out io.Writer) {
	processor, load := "unknown processor", "unknown"
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if all, err := fs.CPUInfo(); err == nil && len(all) > 0 {
			processor = all[0].ModelName
		}
		if average, err := fs.LoadAvg(); err == nil {
			load = fmt.Sprintf("%.1f", average.Load1)
		}
	}
	fmt.Fprintf(out, "%s: %s, %d processors, %s, load average %s.\n\n",
		time.Now().UTC().Format(time.DateOnly), processor, runtime.NumCPU(), runtime.Version(), load)
}

// quantile is the least value that the share q of all values do not exceed; the zero value when there are none.
func quantile[T cmp.Ordered](values []T, q float64) T {
	var none T
	if len(values) == 0 {
		return none
	}

	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// median is the middle one of what f says of values.
func median[T any, U cmp.Ordered](values []T, f func(T) U) U {
	out := make([]U, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return quantile(out, 0.5)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f", float64(d.Nanoseconds())/1e6)
}

func ratio[T int | float64 | time.Duration](a, b T) string {
	return fmt.Sprintf("%.2f", float64(a)/float64(b))
}
