package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// reviewOptions are the flags of `bench review`.
type reviewOptions struct {
	*options
	repository string
	ranges     []string
}

// reviews measures whole reviews of pull requests whose repository is in the cache already.
func reviews(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := reviewOptions{options: common}
	flags.StringVar(&o.repository, "repo", ".", "local `repository`")
	flags.Func("range", "`BASE...HEAD`: two commits that make a pull request; can be repeated", func(text string) error {
		o.ranges = append(o.ranges, text)
		return nil
	})

	return func(ctx context.Context, out io.Writer) error {
		if len(o.ranges) == 0 {
			return errors.New("name at least one -range")
		}
		return withFolder(func(dir string) error { return o.run(ctx, dir, out) })
	}
}

func (o reviewOptions) run(ctx context.Context, dir string, out io.Writer) (err error) {
	source, err := filepath.Abs(o.repository)
	if err != nil {
		return err
	}
	if err := clonePulls(ctx, dir, source, o.ranges); err != nil {
		return err
	}

	builds, err := o.start(ctx, dir)
	for _, b := range builds {
		defer func() { err = errors.Join(err, b.Stop()) }()
	}
	if err != nil {
		return err
	}
	return o.measure(ctx, builds, out)
}

// start starts a server of each build with a scanner of its own. It returns those that were started.
func (o reviewOptions) start(ctx context.Context, dir string) (started []*installation, err error) {
	d, err := newDatabases(ctx, "sqlite", dir)
	if err != nil {
		return nil, err
	}
	for _, b := range o.builds() {
		i, err := install(ctx, b, d, 1)
		if err != nil {
			return started, err
		}
		if err := i.serve(ctx); err != nil {
			return started, err
		}
		started = append(started, i)
	}

	return started, nil
}

// reviewed is what reviews of one pull request by one build took.
type reviewed struct {
	findings int
	clock    []time.Duration // of each review, from the request to its end
	spent    time.Duration   // processor time of all, git included
}

func (o reviewOptions) measure(ctx context.Context, builds []*installation, out io.Writer) error {
	t := table{{"Range", "Program", "findings", "median, ms", "fastest, ms", "processor time, ms",
		"ratio, median", "ratio, fastest", "ratio, processor time"}}
	for n, span := range o.ranges {
		all, err := o.byTurns(ctx, builds, n+1)
		if err != nil {
			return fmt.Errorf("%s: %w", span, err)
		}

		for b, r := range all {
			middle, fastest, first := quantile(r.clock, 0.5), quantile(r.clock, 0), all[0]
			t.add(span, builds[b].name, fmt.Sprint(r.findings),
				milliseconds(middle), milliseconds(fastest), milliseconds(r.spent/time.Duration(o.runs)),
				ratio(quantile(first.clock, 0.5), middle), ratio(quantile(first.clock, 0), fastest),
				ratio(first.spent, r.spent))
		}
	}

	t.print(out)
	fmt.Fprintf(out, "%d reviews each, by turns, with a warm cache. Ratios are times of prwarden over the program's.\n",
		o.runs)
	return nil
}

// byTurns has each build review a pull request once for its cache, and then by turns with the others.
func (o reviewOptions) byTurns(ctx context.Context, builds []*installation, pull int) ([]reviewed, error) {
	all := make([]reviewed, len(builds))
	for run := range o.runs + 1 {
		for b, build := range builds {
			before := processorTime(build.PID())
			done, took, err := build.complete(ctx, pull)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", build.name, err)
			}
			if run == 0 {
				all[b].findings = len(done.Findings)
				continue
			}

			all[b].clock = append(all[b].clock, took)
			all[b].spent += processorTime(build.PID()) - before
		}
	}

	return all, nil
}
