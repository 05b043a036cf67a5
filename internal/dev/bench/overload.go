package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// overloadOptions are the flags of `bench overload`.
type overloadOptions struct {
	*options
	database    string
	last        time.Duration
	factor      float64
	connections int
}

// overload finds the most that a server does, and then asks it for many times as much.
func overload(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := overloadOptions{options: common}
	flags.StringVar(&o.database, "database", "postgres", "postgres or sqlite")
	flags.DurationVar(&o.last, "for", 30*time.Second, "how long the overload lasts")
	flags.Float64Var(&o.factor, "factor", 10, "requests that arrive, as a multiple of the peak")
	flags.IntVar(&o.connections, "connections", 1_800, "connections that requests arrive on")
	return func(ctx context.Context, out io.Writer) error {
		return withFolder(func(dir string) error { return o.run(ctx, dir, out) })
	}
}

// overloaded is how many organizations there are: five minutes create more reviews than a few of them may have waiting.
const overloaded = 40

func (o overloadOptions) run(ctx context.Context, dir string, out io.Writer) (err error) {
	d, err := newDatabases(ctx, o.database, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()

	i, err := install(ctx, o.builds()[0], d, overloaded)
	if err != nil {
		return err
	}
	if err := i.serve(ctx, "--scanner", nobody); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.stop()) }()
	return o.measure(ctx, i, d, out)
}

func (o overloadOptions) measure(ctx context.Context, i *installation, d *databases, out io.Writer) error {
	targets, err := i.mixedTargets(ctx)
	if err != nil {
		return err
	}
	t := table{{"Load", "accepted a second", "p50, ms", "p99, ms", "longest, ms", "refused a second", "failed",
		"server, ms a request", "database", "callers"}}
	attack := func(name string, a arrival) (float64, error) {
		l, err := attack(ctx, i.process, d, targets, a)
		at := func(q float64) string { return milliseconds(quantile(l.accepted, q)) }
		t.add(name, fmt.Sprintf("%.0f", l.rate()), at(0.5), at(0.99), at(1),
			fmt.Sprintf("%.0f", float64(l.refused)/l.took.Seconds()), fmt.Sprint(l.failed),
			milliseconds(l.per(l.server)), milliseconds(l.per(l.database)), milliseconds(l.per(l.callers)))
		return l.rate(), err
	}

	peak, short := 0.0, min(5*time.Second, o.last)
	for _, callers := range []int{8, 16, 32, 64} {
		rate, err := attack(fmt.Sprintf("%d callers", callers), arrival{callers: callers, last: short})
		if err != nil {
			return err
		}
		peak = max(peak, rate)
	}

	over, err := attack(fmt.Sprintf("%g times the peak for %s", o.factor, o.last),
		arrival{o.connections, int(o.factor * peak), o.last})
	if err != nil {
		return err
	}
	memory := i.peakMemory()

	// Others may use the machine too: a second peak shows whether it was the same machine.
	after, err := attack("64 callers afterwards", arrival{callers: 64, last: short})
	if err != nil {
		return err
	}

	t.print(out)
	fmt.Fprintf(out, "%s, %d connections; 70 %% GetReview, 10 %% ListReviews, 20 %% CreateReview of %d organizations.\n"+
		"Accepted under overload: %.0f %% of the peak, %.0f %% of the speed afterwards. Memory at most %.0f MiB.\n",
		o.database, o.connections, overloaded, 100*over/peak, 100*over/after, memory)
	return nil
}

// mixedTargets read, list and create reviews of all organizations. One of ten lists and two of ten create.
func (i *installation) mixedTargets(ctx context.Context) ([]vegeta.Target, error) {
	var all []vegeta.Target
	for n, create := range i.createTargets() {
		token := i.tokens[n]
		made, err := i.create(ctx, token, 1)
		if err != nil {
			return nil, err
		}

		get := target(i.process, http.MethodGet, "/"+made.ID, token, "")
		list := target(i.process, http.MethodGet, "?page_size=5", token, "")
		all = append(all, get, get, create, get, get, list, get, create, get, get)
	}
	return all, nil
}
