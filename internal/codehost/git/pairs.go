package git

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

// pair gets the contents of the changed files where the cache lacks them, and
// pairs the files with what they were. Only renames need git for that. Mostly
// the cache lacks all contents or none: when it is not new, git begins before
// that is known.
func (r *Repo) pair(ctx context.Context, old, now OID, w *walk) ([]pair, map[OID]int64, error) {
	early := &pairing{}
	ahead := w.renames() && !r.gen.fresh
	if ahead {
		early = r.startPairs(ctx, old, now)
	}
	fetched, sizes, err := r.ensure(ctx, w.blobs)
	if ahead && (err != nil || fetched) {
		early.stop()
	}
	if err != nil {
		return nil, nil, err
	}
	defer scan.Begin(ctx, scan.PhaseCompare)()
	if !w.renames() {
		sortPairs(w.pairs)
		return w.pairs, sizes, nil
	}
	w.pairs = nil // git's count
	if !ahead || fetched {
		early = r.startPairs(ctx, old, now)
	}
	pairs, err := early.wait()
	return pairs, sizes, err
}

func sortPairs(pairs []pair) {
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.path, b.path) })
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
	sortPairs(pairs)
	return pairs, err
}
