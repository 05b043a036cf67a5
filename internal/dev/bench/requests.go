package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// requestOptions are the flags of `bench requests`.
type requestOptions struct {
	*options
	bare, databases string
	each            time.Duration
}

// callers are how many ask at the same time.
const callers = 16

// creators is how many organizations creations are spread over.
const creators = 10

// requests measures reading and creating reviews, beside a bare program and beside another build.
func requests(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := requestOptions{options: common}
	flags.StringVar(&o.bare, "bare", "bin/bare", "the bare `program`; empty for none")
	flags.StringVar(&o.databases, "databases", "sqlite,postgres", "on which databases")
	flags.DurationVar(&o.each, "each", time.Second, "how long a run is")
	return func(ctx context.Context, out io.Writer) error {
		t := &table{{"Database", "Request", "Program", "a second", "p50, ms", "p99, ms", "server, ms", "database, ms",
			"ratio, clock", "ratio, processor time"}}
		for kind := range strings.SplitSeq(o.databases, ",") {
			if err := withFolder(func(dir string) error { return o.on(ctx, kind, dir, t) }); err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
		}
		t.print(out)
		fmt.Fprintf(out, "%d callers on the same machine, medians of %d runs of %s each by turns. Processor time is for\n"+
			"a request; the server's has SQLite in it. Ratios are the speed of prwarden over that of the program.\n",
			callers, o.runs, o.each)
		return nil
	}
}

// on measures on one kind of database.
func (o requestOptions) on(ctx context.Context, kind, dir string, t *table) (err error) {
	d, err := newDatabases(ctx, kind, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := program.MakePulls(ctx, dir, repository, []program.Change{{}}); err != nil {
		return err
	}

	all, err := o.start(ctx, d)
	for _, c := range all {
		defer func() { err = errors.Join(err, c.Stop()) }()
	}
	if err != nil {
		return err
	}
	return o.measure(ctx, d, all, t)
}

// contender is a server and the reviews that it can be asked for.
type contender struct {
	*program.Process
	name    string
	token   string
	review  string        // its identifier
	install *installation // nil for the bare program
}

// start starts the servers, each with one complete review. It returns those that were started.
func (o requestOptions) start(ctx context.Context, d *databases) (started []contender, err error) {
	for _, b := range o.builds() {
		i, err := install(ctx, b, d, creators)
		if err != nil {
			return started, err
		}
		review, err := i.fill(ctx)
		if err != nil {
			return started, err
		}

		// What is created from now on waits, and no scan disturbs.
		if err := i.serve(ctx, "--scanner", nobody); err != nil {
			return started, err
		}
		started = append(started, contender{i.Process, b.name, i.tokens[0], review, i})
	}

	if o.bare == "" {
		return started, nil
	}

	first := started[0]
	p, err := program.Start(ctx, program.Options{
		Path: o.bare, Args: []string{"-database", first.install.all, "-organization", "org0"},
		Dir: filepath.Join(d.dir, "bare"),
	})

	if err != nil {
		return started, err
	}
	return append(started, contender{Process: p, name: "bare", review: first.review}), nil
}

// fill has a pull request reviewed.
func (i *installation) fill(ctx context.Context) (review string, err error) {
	if err := i.serve(ctx); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, i.Stop()) }()
	done, _, err := i.complete(ctx, 1)
	return done.ID, err
}

// measure adds the rows of one database.
func (o requestOptions) measure(ctx context.Context, d *databases, all []contender, t *table) error {
	if err := sameAnswers(ctx, all); err != nil {
		return err
	}
	err := o.compare(ctx, d, all, t, "GetReview", func(c contender) []vegeta.Target {
		return []vegeta.Target{target(c.Process, http.MethodGet, "/"+c.review, c.token, "")}
	})

	if err != nil {
		return err
	}
	return o.compare(ctx, d, all[:len(o.builds())], t, "CreateReview", func(c contender) []vegeta.Target {
		return c.install.createTargets()
	})
}

// sameAnswers fails when the bare program, which reads the database of the first one, gives another answer.
func sameAnswers(ctx context.Context, all []contender) error {
	var answers []any
	for _, c := range all {
		var got any
		if err := call(ctx, client(c.Process, c.token), http.MethodGet, "/"+c.review, "", &got); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		answers = append(answers, got)
		if c.install == nil && !reflect.DeepEqual(answers[0], got) {
			return fmt.Errorf("the programs answer differently:\n%v\n%v", answers[0], got)
		}
	}

	return nil
}

// compare runs the programs by turns and adds a row for each. The first round only warms up.
func (o requestOptions) compare(ctx context.Context, d *databases, all []contender, t *table, request string,
	targets func(contender) []vegeta.Target,
) error {
	loads := make([][]load, len(all))
	for round := range o.runs + 1 {
		for n, c := range all {
			got, err := attack(ctx, c.Process, d, targets(c), arrival{callers: callers, last: o.each})
			if err != nil {
				return err
			}
			if got.refused > 0 || len(got.failed) > 0 {
				return fmt.Errorf("%s: %s: %d refused, failed %v", request, c.name, got.refused, got.failed)
			}
			if round > 0 {
				loads[n] = append(loads[n], got)
			}
		}
	}

	spent := func(l load) time.Duration { return l.per(l.server + l.database) }
	for n, c := range all {
		runs, first := loads[n], loads[0]
		at := func(q float64) string {
			return milliseconds(median(runs, func(l load) time.Duration { return quantile(l.accepted, q) }))
		}
		t.add(d.kind, request, c.name, fmt.Sprintf("%.0f", median(runs, load.rate)), at(0.5), at(0.99),
			milliseconds(median(runs, func(l load) time.Duration { return l.per(l.server) })),
			milliseconds(median(runs, func(l load) time.Duration { return l.per(l.database) })),
			ratio(median(first, load.rate), median(runs, load.rate)), ratio(median(runs, spent), median(first, spent)))
	}

	return nil
}
