package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// Repo is a fetched repository during Request.Ends.
type Repo struct {
	store   *Store
	gen     *generation
	request Request
	objects *objects
	bases   map[[2]OID]OID // merge bases found; "" for none
	byRefs  bool           // fetchByRefs was needed
}

// Commit is a commit and what it leads to.
type Commit struct {
	OID     OID
	Tree    OID
	Parents []OID
}

// maxCommit is the largest commit object that is read, in bytes.
const maxCommit = 1 << 20

// Ref returns the commit that the i-th of the fetched refs leads to; found is
// false when the remote has no such ref.
func (r *Repo) Ref(ctx context.Context, i int) (c Commit, found bool, err error) {
	oid, found, err := r.objects.resolve(ctx, incoming(i))
	if err != nil {
		return Commit{}, false, err
	}
	if !found { // no ref, or no such object
		there, err := r.hasRef(ctx, i)
		if err == nil && there {
			err = fmt.Errorf("%w: ref %s leads to no commit", errDamaged, r.request.Refs[i])
		}
		return Commit{}, false, err
	}
	c, err = r.Commit(ctx, oid)
	return c, err == nil, err
}

// hasRef tells whether the i-th ref was fetched, wherever it leads. git is
// asked only when a look at the files can't tell: most pull requests have no
// trial merge, and a process takes some milliseconds.
func (r *Repo) hasRef(ctx context.Context, i int) (bool, error) {
	if !has(r.gen.dir, "packed-refs") && !has(r.gen.dir, "reftable") && !has(r.gen.dir, incoming(i)) {
		return false, nil
	}
	there, err := r.store.git.run(ctx, r.gen.dir, newCommand("for-each-ref", "--format=%(refname)", word(incoming(i))))
	return len(there) > 0, err
}

// Commit reads a commit.
func (r *Repo) Commit(ctx context.Context, oid OID) (Commit, error) {
	data, size, err := r.objects.read(ctx, oid, "commit", maxCommit)
	if err != nil {
		return Commit{}, err
	}
	if size > maxCommit {
		return Commit{}, fmt.Errorf("%w: a commit of %d bytes", errDamaged, size)
	}
	return parseCommit(oid, data)
}

// parseCommit reads a commit object up to its author.
func parseCommit(oid OID, data []byte) (Commit, error) {
	c := Commit{OID: oid}
	for line := range bytes.Lines(data) {
		key, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		if key != "tree" && key != "parent" {
			break
		}
		name, err := parseOID(value)
		if err != nil || (key == "tree") != (c.Tree == "") {
			return Commit{}, fmt.Errorf("%w: commit %s", errDamaged, oid)
		}
		if key == "tree" {
			c.Tree = name
		} else {
			c.Parents = append(c.Parents, name)
		}
	}
	if c.Tree == "" {
		return Commit{}, fmt.Errorf("%w: commit %s has no tree", errDamaged, oid)
	}
	return c, nil
}

// MergeBase returns the merge base that `git diff a...b` uses: the first, if
// there are several. found is false without common history.
func (r *Repo) MergeBase(ctx context.Context, a, b OID) (base OID, found bool, err error) {
	if base, known := r.bases[[2]OID{a, b}]; known {
		return base, base != "", nil
	}
	defer func() {
		if err == nil {
			r.bases[[2]OID{a, b}] = base
		}
	}()
	out, err := r.store.git.run(ctx, r.gen.dir, newCommand("merge-base").oids(a, b))
	var failed *gitError
	if errors.As(err, &failed) && failed.code == 1 && failed.signal == 0 && len(out) == 0 {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	base, err = parseOID(strings.TrimSpace(string(out)))
	return base, err == nil, err
}

// EarliestWith returns the earliest commit on the first-parent line of branch
// that has head among its ancestors, itself excluded; found is false when none
// has. When head is on that line itself it is the first parent of the result.
func (r *Repo) EarliestWith(ctx context.Context, branch, head OID) (c Commit, found bool, err error) {
	list := func(option word) ([]string, error) {
		out, err := r.store.git.run(ctx, r.gen.dir, newCommand("rev-list", option).oids(branch).not(head))
		return strings.Fields(string(out)), err
	}
	line, err := list("--first-parent") // newest first
	if err != nil {
		return Commit{}, false, err
	}
	descendants, err := list("--ancestry-path")
	if err != nil {
		return Commit{}, false, err
	}
	contain := make(map[string]bool, len(descendants))
	for _, oid := range descendants {
		contain[oid] = true
	}
	for i := len(line) - 1; i >= 0; i-- {
		if contain[line[i]] {
			c, err = r.Commit(ctx, OID(line[i]))
			return c, err == nil, err
		}
	}
	return Commit{}, false, nil
}

// Branches asks the remote for its branches. They are not fetched.
func (r *Repo) Branches(ctx context.Context) (map[string]OID, error) {
	c := newCommand("ls-remote", "--heads").fetchFrom(r.request.Remote, false)
	out, err := r.store.git.run(ctx, r.gen.dir, c)
	if err != nil {
		return nil, err
	}
	branches := make(map[string]OID)
	for line := range strings.Lines(string(out)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		parsed, err := parseOID(oid)
		if err != nil {
			return nil, &scan.Failure{Code: scan.CodeHostUnreachable, Message: unreachable, Err: err}
		}
		branches[name] = parsed
	}
	return branches, nil
}

// Fetch fetches one more commit of the remote by its name.
func (r *Repo) Fetch(ctx context.Context, oid OID) (Commit, error) {
	c := newCommand("fetch", fetchOptions()...).fetchFrom(r.request.Remote, true).oids(oid)
	if err := r.fetch(ctx, c); err != nil {
		return Commit{}, err
	}
	return r.Commit(ctx, oid)
}

// lookup finds a path in a tree.
func (r *Repo) lookup(ctx context.Context, tree OID, path string) (found entry, ok bool, err error) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		found, ok, err = r.inTree(ctx, tree, part)
		if err != nil || !ok || i < len(parts)-1 && found.mode.kind() != typeTree {
			return entry{}, false, err
		}
		tree = found.oid
	}
	return found, ok, nil
}

// inTree finds a name in one directory, all of which is checked.
func (r *Repo) inTree(ctx context.Context, tree OID, name string) (found entry, ok bool, err error) {
	entries, err := openTree(ctx, r.objects, tree, r.store.git.limits)
	if err != nil {
		return entry{}, false, err
	}
	for {
		l, more, err := entries.next()
		if err != nil || !more {
			return found, ok, err
		}
		if string(l.name) == name {
			found, ok = entry{name: name, mode: l.mode, oid: l.object()}, true
		}
	}
}

// change compares head with where it left base.
func (r *Repo) change(ctx context.Context, head, base Commit) (*change, error) {
	chosen := scan.Begin(ctx, scan.PhaseEnds)
	from, found, err := r.MergeBase(ctx, base.OID, head.OID)
	chosen()
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, &scan.Failure{Code: scan.CodeNoMergeBase, Lasting: true,
			Message: "The pull request's head has no history in common with what it is to be merged into."}
	}
	start, err := r.Commit(ctx, from)
	if err != nil {
		return nil, err
	}
	return r.compare(ctx, head, base, start)
}

// compare compares head with start, the merge base, and fetches the contents
// that differ.
func (r *Repo) compare(ctx context.Context, head, base, start Commit) (*change, error) {
	compared := scan.Begin(ctx, scan.PhaseCompare)
	w := &walk{objects: r.objects, limits: r.store.git.limits, blobs: make(map[OID]bool)}
	if err := w.compare(ctx, trees{old: start.Tree, now: head.Tree}); err != nil {
		return nil, err
	}
	for _, path := range r.store.prefetch {
		for _, side := range []Commit{head, base, start} {
			e, found, err := r.lookup(ctx, side.Tree, path)
			if err != nil {
				return nil, err
			}
			if found && e.mode.kind() == typeFile {
				w.blobs[e.oid] = true
			}
		}
	}
	compared()
	c := &change{repo: r, head: head, base: base, start: start}
	var sizes map[OID]int64
	var err error
	if c.pairs, sizes, err = r.pair(ctx, start.Tree, head.Tree, w); err != nil {
		return nil, err
	}
	for i := range c.pairs {
		p := &c.pairs[i]
		p.size, p.oldSize = sizes[p.now], sizes[p.old]
	}
	return c, nil
}

// fail says what err, met after Open, means, and has the next scan fetch anew
// when it may be the cache's fault.
func (r *Repo) fail(ctx context.Context, err error) error {
	failure := r.store.fail(ctx, err, r.gen.fresh)
	if suspectsCache(ctx, failure) {
		r.gen.condemn()
	}
	return failure
}

// close frees the process and the lock.
func (r *Repo) close() error {
	r.objects.close()
	return r.gen.release()
}
