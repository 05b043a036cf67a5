package gitrepo

import (
	"bufio"
	"context"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// pairing is a comparison that goes on.
type pairing struct {
	done   chan struct{}
	cancel context.CancelFunc
	pairs  []pair
	err    error
}

// startPairs begins comparePairs.
func (r *Repo) startPairs(ctx context.Context, old, now OID) *pairing {
	ctx, cancel := context.WithCancel(ctx)
	p := &pairing{done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(p.done)
		p.pairs, p.err = r.comparePairs(ctx, old, now)
	}()
	return p
}

// wait waits for the result.
func (p *pairing) wait() ([]pair, error) {
	<-p.done
	p.cancel()
	return p.pairs, p.err
}

// stop gives the comparison up.
func (p *pairing) stop() {
	p.cancel()
	<-p.done
}

// pair has git pair the files of two trees, which the walk has bounded, and
// gets their contents where the cache lacks them. Mostly it lacks all of them
// or none: with a cache that is not new, git begins before that is known.
func (r *Repo) pair(ctx context.Context, old, now OID, blobs map[OID]bool) ([]pair, map[OID]int64, error) {
	early := &pairing{}
	if !r.gen.fresh {
		early = r.startPairs(ctx, old, now)
	}
	fetched, sizes, err := r.ensure(ctx, blobs)
	if !r.gen.fresh && (err != nil || fetched) {
		early.stop()
	}
	if err != nil {
		return nil, nil, err
	}
	defer scan.Begin(ctx, scan.PhaseCompare)()
	if r.gen.fresh || fetched {
		early = r.startPairs(ctx, old, now)
	}
	pairs, err := early.wait()
	return pairs, sizes, err
}

// comparePairs has git pair the files of two trees, which the walk has bounded.
func (r *Repo) comparePairs(ctx context.Context, old, now OID) ([]pair, error) {
	proc, err := r.store.git.start(ctx, r.gen.dir, newCommand("diff-tree",
		"-r", "-M", "--raw", "-z", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none").oids(old, now))
	if err != nil {
		return nil, err
	}
	defer proc.kill()
	var pairs []pair
	err = readRaw(bufio.NewReaderSize(proc.stdout, 64<<10), func(p pair) { pairs = append(pairs, p) })
	if ended := proc.wait(ctx); ended != nil {
		return nil, ended
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.path, b.path) })
	return pairs, err
}
