// Command bench measures prwarden: beside its peers, beside a bare program, under more load than it can take, with a
// hostile organization, with a code host, and beside another build of itself. It starts everything that it needs and
// prints tables in markdown; docs/benchmarks.md says how to read them.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()

	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part is one benchmark. It adds its flags and returns what measures.
type part func(flags *flag.FlagSet, common *options) func(ctx context.Context, out io.Writer) error

// options are the flags that all parts have.
type options struct {
	prwarden, before string
	runs             int
}

func run(ctx context.Context, args []string, out io.Writer) error {
	parts := map[string]part{
		"peers": peers, "requests": requests, "overload": overload, "review": reviews, "tenants": tenants,
		"hosts": hosts, "people": people, "structure": structures,
	}
	if len(args) == 0 || parts[args[0]] == nil {
		return errors.New("name what to measure: peers, requests, overload, review, tenants, hosts, people or structure")
	}

	var common options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&common.prwarden, "prwarden", "bin/prwarden", "the `program` that is measured")
	flags.StringVar(&common.before, "before", "", "another build of that `program`")
	flags.IntVar(&common.runs, "runs", 5, "runs of each program, by turns")
	measure := parts[args[0]](flags, &common)
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}

	fmt.Fprintf(out, "%s: %d processors, %s, %s/%s.\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return measure(ctx, out)
}

// builds are the names and paths of the builds of prwarden that are compared.
func (o *options) builds() []build {
	all := []build{{"prwarden", o.prwarden}}
	if o.before != "" {
		all = append(all, build{"before", o.before})
	}
	return all
}

// build is a build of prwarden.
type build struct{ name, path string }

// withFolder calls do with a folder that is removed afterwards.
func withFolder(do func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return do(dir)
}

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
