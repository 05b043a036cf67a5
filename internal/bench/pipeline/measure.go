package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/store/sqlstore"
)

// bench measures one pull request.
type bench struct {
	dir   string // the bare repository
	tmp   string
	pull  int32
	rules rules

	kinds []kind
	last  review.Review
	work  work
}

// kind is the samples of one kind of run.
type kind struct {
	name       string
	ours, hand []sample
}

// measure does the cold runs and then the warm ones, ours and git's in turn.
func (b *bench) measure(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp(b.tmp, "store-")
	if err != nil {
		return err
	}
	store, err := newStore(ctx, dir, b.rules)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	cold, warm := kind{name: "cold"}, kind{name: "warm"}
	for i := range o.runs {
		if o.warmOnly && i > 0 {
			break
		}
		last := i == o.runs-1 || o.warmOnly
		ours, hand, err := b.coldRun(ctx, store, func(r *reviewer) error {
			if !last {
				return nil
			}
			return b.warmRuns(ctx, r, o.runs, &warm)
		})
		if err != nil {
			return err
		}
		cold.ours, cold.hand = append(cold.ours, ours), append(cold.hand, hand)
	}
	if !o.warmOnly {
		b.kinds = append(b.kinds, cold)
	}
	b.kinds = append(b.kinds, warm)
	return nil
}

// coldRun reviews with an empty cache, does the same by hand, and calls then
// with the reviewer, whose cache is full now.
func (b *bench) coldRun(ctx context.Context, store *sqlstore.Store, then func(*reviewer) error) (ours, hand sample, err error) {
	dir, err := os.MkdirTemp(b.tmp, "cold-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r, err := newReviewer(store, dir, b.dir, b.rules.defaults)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	ours, err = withCPU(func() (s sample, err error) {
		s, b.last, err = r.review(ctx, b.pull)
		return s, err
	})
	if err != nil {
		return nil, nil, err
	}
	// Found out in the cache, which has all that is needed.
	if b.work, err = b.plain(r.generation()).prepare(ctx, b.last); err != nil {
		return nil, nil, err
	}
	hand, err = withCPU(func() (sample, error) {
		return b.plain(filepath.Join(dir, "hand", "repo.git")).cold(ctx, b.pull, b.work)
	})
	if err != nil {
		return nil, nil, err
	}
	return ours, hand, then(r)
}

func (b *bench) warmRuns(ctx context.Context, r *reviewer, runs int, warm *kind) error {
	for range runs {
		var done review.Review
		ours, err := withCPU(func() (s sample, err error) {
			s, done, err = r.review(ctx, b.pull)
			return s, err
		})
		if err != nil {
			return err
		}
		if done.RulesDigest != b.last.RulesDigest || len(done.Findings) != len(b.last.Findings) {
			return errors.New("a second review found other things than the first")
		}
		hand, err := withCPU(func() (sample, error) { return b.plain(r.generation()).warm(ctx, b.pull, b.work) })
		if err != nil {
			return err
		}
		warm.ours, warm.hand = append(warm.ours, ours), append(warm.hand, hand)
	}
	return nil
}

// withCPU adds to a sample the processor time that it took, of this process
// and of those that it started.
func withCPU(run func() (sample, error)) (sample, error) {
	before, err := cpuTime()
	if err != nil {
		return nil, err
	}
	s, err := run()
	if err != nil {
		return nil, err
	}
	after, err := cpuTime()
	s[stepCPU] = after - before
	return s, err
}

func cpuTime() (sum time.Duration, err error) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return 0, err
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum, nil
}

// plain is git by hand in the bare repository dir.
func (b *bench) plain(dir string) *plain { return &plain{origin: "file://" + b.dir, dir: dir} }

// generation is the bare repository in the cache.
func (r *reviewer) generation() string {
	paths, err := filepath.Glob(filepath.Join(r.cache, "repositories", "*", "*.git"))
	if err != nil || len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}

// median of the samples' values of one step; missing ones are 0.
func median(samples []sample, step string) time.Duration {
	values := make([]time.Duration, len(samples))
	for i, s := range samples {
		values[i] = s[step]
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// steps is the order of the report.
func steps() (in []string, meanwhile []string) {
	in = []string{stepClaim, stepRules}
	for p := scan.Phase(0); p < scan.PhaseTotal; p++ {
		if p.InTurn() {
			in = append(in, p.String())
		} else {
			meanwhile = append(meanwhile, p.String())
		}
	}
	return append(in, stepRest, stepStream, stepStore), meanwhile
}

// report prints the medians.
func (b *bench) report(out io.Writer) {
	fmt.Fprintf(out, "pull request %d of %s: %d files changed, %d added lines' findings stored, %d rules\n",
		b.pull, filepath.Base(filepath.Dir(b.dir)), b.work.files, len(b.last.Findings), len(b.rules.defaults)+len(b.rules.own))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) {
		for _, c := range cells {
			fmt.Fprint(t, c, "\t")
		}
		fmt.Fprintln(t)
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }
	header := []string{""}
	for _, k := range b.kinds {
		header = append(header, k.name+" ms", "share")
	}
	row(header...)
	line := func(step string, of func(kind) []sample) {
		cells := []string{step}
		for _, k := range b.kinds {
			d, total := median(of(k), step), median(of(k), stepTotal)
			cells = append(cells, ms(d), fmt.Sprintf("%.1f %%", 100*float64(d)/float64(cmp.Or(total, 1))))
		}
		row(cells...)
	}
	ours := func(k kind) []sample { return k.ours }
	hand := func(k kind) []sample { return k.hand }
	in, meanwhile := steps()
	for _, s := range append(in, stepTotal) {
		line(s, ours)
	}
	row("meanwhile:")
	for _, s := range meanwhile {
		line(s, ours)
	}
	row("git by hand:")
	for _, s := range []string{gitFetch, gitBlobs, gitDiff, gitRead, stepTotal} {
		line(s, hand)
	}
	row("processor time:")
	for name, of := range map[string]func(kind) []sample{"review": ours, "git": hand} {
		cells := []string{name}
		for _, k := range b.kinds {
			cells = append(cells, ms(median(of(k), stepCPU)), "")
		}
		row(cells...)
	}
	for _, of := range []string{stepTotal, stepCPU} {
		cells := []string{"review / git, " + of}
		for _, k := range b.kinds {
			cells = append(cells, fmt.Sprintf("%.2f", ratio(k, of)), "")
		}
		row(cells...)
	}
	_ = t.Flush() // to the terminal
}

// ratio is the median of the ratios of the pairs that ran after each other.
func ratio(k kind, of string) float64 {
	values := make([]float64, len(k.ours))
	for i := range k.ours {
		values[i] = float64(k.ours[i][of]) / float64(k.hand[i][of])
	}
	slices.Sort(values)
	return values[len(values)/2]
}
