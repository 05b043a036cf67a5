package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// Repo is a fetched repository during Request.Endpoints. It is not safe for
// concurrent use.
type Repo struct {
	store      *Store
	gen        *generation
	request    Request
	objects    *objects
	comparison comparison     // see startComparing; empty once it was used
	bases      map[[2]OID]OID // merge bases found; "" for none
	files      map[fileKey]OID
	byRefs     bool // the server gave out no commits by their names
}

// fileKey names a file of a tree.
type fileKey struct {
	tree OID
	path string
}

func newRepo(s *Store, gen *generation, req Request) *Repo {
	return &Repo{
		store: s, gen: gen, request: req,
		objects: &objects{git: s.git, dir: gen.dir},
		bases:   make(map[[2]OID]OID),
		files:   make(map[fileKey]OID),
	}
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
	obj, err := r.objects.info(ctx, incoming(i)+"^{commit}")
	if err != nil {
		return Commit{}, false, err
	}
	if obj.kind == "" {
		if has(r.gen.dir, incoming(i)) {
			err = fmt.Errorf("%w: ref %s leads to no commit", errDamaged, r.request.Refs[i])
		}
		return Commit{}, false, err
	}
	c, err = r.Commit(ctx, obj.oid)
	return c, err == nil, err
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

// BaseRef is the branch that the request names as the base, "" for none.
func (r *Repo) BaseRef() string { return r.request.Commits.BaseRef }

// Endpoints are the commits that the request names.
func (r *Repo) Endpoints(ctx context.Context) (head, base Commit, err error) {
	want := r.request.Commits
	if head, err = r.named(ctx, want.Head); err != nil {
		return head, base, err
	}
	if want.BaseRef == "" {
		base, err = r.named(ctx, want.Base)
		return head, base, err
	}

	name := baseName
	if r.byRefs {
		name = branchesName + want.BaseRef
	}
	obj, err := r.objects.info(ctx, name+"^{commit}")
	switch {
	case err != nil:
	case obj.kind != "":
		base, err = r.Commit(ctx, obj.oid)
	case r.byRefs:
		err = noBranch(want.BaseRef, nil)
	default:
		err = fmt.Errorf("%w: ref %s leads to no commit", errDamaged, name)
	}
	return head, base, err
}

// named reads a commit that somebody named: it may be another object, or not
// be there.
func (r *Repo) named(ctx context.Context, oid OID) (Commit, error) {
	obj, err := r.objects.info(ctx, string(oid))
	switch {
	case err != nil:
		return Commit{}, err
	case obj.kind == "":
		return Commit{}, noCommit(oid, nil)
	case obj.kind != "commit":
		return Commit{}, &scan.Failure{
			Code: scan.CodeCommitNotFound, Lasting: true,
			Message: fmt.Sprintf("%s is a %s and not a commit.", oid, obj.kind),
		}
	}
	return r.Commit(ctx, oid)
}

// MergeBase returns the merge base that `git diff a...b` uses: the first, if
// there are several. found is false without common history.
func (r *Repo) MergeBase(ctx context.Context, a, b OID) (base OID, found bool, err error) {
	if base, known := r.bases[[2]OID{a, b}]; known {
		return base, base != "", nil
	}

	out, err := r.store.git.run(ctx, r.gen.dir, newCommand("merge-base").oids(a, b))
	var failed *gitError
	switch {
	case errors.As(err, &failed) && failed.code == 1 && failed.signal == 0 && len(out) == 0: // there is none
	case err != nil:
		return "", false, err
	default:
		if base, err = parseOID(strings.TrimSpace(string(out))); err != nil {
			return "", false, err
		}
	}
	r.bases[[2]OID{a, b}] = base
	return base, base != "", nil
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
func (r *Repo) Branches(ctx context.Context) ([]OID, error) {
	out, err := r.store.git.run(ctx, r.gen.dir, newCommand("ls-remote", "--heads").from(r.request.Remote, false))
	if err != nil {
		return nil, err
	}

	var branches []OID
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, "\t")
		oid, err := parseOID(name)
		if err != nil {
			return nil, &scan.Failure{Code: scan.CodeHostUnreachable, Message: unreachable, Err: err}
		}
		branches = append(branches, oid)
	}
	return branches, nil
}

// Fetch fetches one more commit of the remote by its name.
func (r *Repo) Fetch(ctx context.Context, oid OID) (Commit, error) {
	if err := r.fetch(ctx, newFetch(r.request.Remote, true).oids(oid)); err != nil {
		return Commit{}, err
	}
	return r.Commit(ctx, oid)
}

// file finds the content of a regular file in a tree; "" when there is none.
func (r *Repo) file(ctx context.Context, tree OID, path string) (OID, error) {
	key := fileKey{tree, path}
	if oid, known := r.files[key]; known {
		return oid, nil
	}

	e, found, err := r.objects.lookup(ctx, tree, path)
	if err != nil {
		return "", err
	}
	if !found || e.mode.kind() != typeFile {
		e.oid = ""
	}
	r.files[key] = e.oid
	return e.oid, nil
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

// close frees the processes and the lock. It can be called again.
func (r *Repo) close() error {
	r.objects.close()
	if p := r.comparison.proc; p != nil {
		p.kill()
		r.comparison = comparison{}
	}
	return r.gen.release()
}
