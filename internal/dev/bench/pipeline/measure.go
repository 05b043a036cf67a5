package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/store"
)

// bench measures one pull request.
type bench struct {
	dir   string // the bare repository
	from  origin
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
func (b *bench) coldRun(ctx context.Context, store *store.Store, then func(*reviewer) error) (ours, hand sample, err error) {
	dir, err := os.MkdirTemp(b.tmp, "cold-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r, err := newReviewer(store, dir, b.from, b.rules.defaults)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	ours, err = withCost(func() (s sample, err error) {
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
	hand, err = withCost(func() (sample, error) {
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
		ours, err := withCost(func() (s sample, err error) {
			s, done, err = r.review(ctx, b.pull)
			return s, err
		})
		if err != nil {
			return err
		}
		if done.RulesDigest != b.last.RulesDigest || len(done.Findings) != len(b.last.Findings) {
			return errors.New("a second review found other things than the first")
		}
		hand, err := withCost(func() (sample, error) { return b.plain(r.generation()).warm(ctx, b.pull, b.work) })
		if err != nil {
			return err
		}
		warm.ours, warm.hand = append(warm.ours, ours), append(warm.hand, hand)
	}
	return nil
}

// plain is git by hand in the bare repository dir.
func (b *bench) plain(dir string) *plain { return &plain{origin: b.from.url(repository), dir: dir} }

// generation is the bare repository in the cache.
func (r *reviewer) generation() string {
	paths, err := filepath.Glob(filepath.Join(r.cache, "repositories", "*", "*.git"))
	if err != nil || len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}
