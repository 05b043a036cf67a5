package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/scan"
)

// The refs of the cache. Those of the last scan that named commits are kept,
// because the next fetch tells the server what is here; more would add up.
const (
	refsName   = "refs/prwarden/"
	defaultRef = refsName + "default/ref"
	headRef    = refsName + "head/ref"
	mergeRef   = refsName + "merge/ref"
	namedHead  = refsName + "commits/head"
	namedBase  = refsName + "commits/base"
)

// wanted is what a scan is of: a pull request, or commits that somebody named.
type wanted struct {
	target     scan.Target
	head, base OID // of named commits; base is "" with Target.Commits.BaseRef
}

// parseTarget checks what a scan of any commits names. The server has done so,
// but what becomes part of a command is checked where that is made.
func parseTarget(t scan.Target) (w wanted, err error) {
	c := t.Commits
	w.target = t
	if !w.named() {
		return w, nil
	}

	if w.head, err = parseOID(strings.ToLower(c.Head)); err != nil {
		return w, badCommit("head_sha", c.Head)
	}
	switch {
	case (c.Base == "") == (c.BaseRef == ""):
		return w, baseUnknown("Either base_sha or base_ref must say what the commit is to be merged into.")
	case c.BaseRef != "" && checkBranch(c.BaseRef) != nil:
		return w, baseUnknown("%q can't be the name of a branch.", c.BaseRef)
	case c.BaseRef != "":
		return w, nil
	}
	if w.base, err = parseOID(strings.ToLower(c.Base)); err != nil {
		return w, badCommit("base_sha", c.Base)
	}
	return w, nil
}

// named tells whether the target names commits instead of a pull request.
func (w wanted) named() bool { return w.target.Commits != (finding.Commits{}) }

// fetch fetches what is wanted with its history: commits and trees.
func (w wanted) fetch(ctx context.Context, r *repo) error {
	if !w.named() {
		number := strconv.Itoa(int(w.target.Number))
		host := w.target.Host
		return r.fetch(ctx, newFetch(r.remote, "--prune").
			ref("HEAD", defaultRef).
			ref(strings.ReplaceAll(host.HeadRef, "{number}", number), headRef).
			ref(strings.ReplaceAll(host.MergeRef, "{number}", number), mergeRef))
	}

	c := newFetch(r.remote).commit(w.head, namedHead)
	branch := w.target.Commits.BaseRef
	if branch != "" {
		c.branch(branch, namedBase)
	} else {
		c.commit(w.base, namedBase)
	}
	err := r.fetch(ctx, c)
	var failed *gitError
	if !errors.As(err, &failed) {
		return err
	}
	if branch != "" && failed.says("couldn't find remote ref", "invalid refspec") {
		return baseUnknown("The repository has no branch %q, which base_ref names.", branch)
	}
	for _, oid := range []OID{w.head, w.base} {
		if oid != "" && failed.says("not our ref", "unadvertised object") && failed.says(string(oid)) {
			return noCommit(oid)
		}
	}
	return err
}

// endpoints finds what is to be merged into what, and where head left base.
func (w wanted) endpoints(ctx context.Context, r *repo) (*change, error) {
	if w.named() {
		return w.namedEndpoints(ctx, r)
	}

	head, found, err := r.ref(ctx, headRef)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, lasting(scan.CodePullRequestNotFound, "%s has no pull request %d.", w.target.Repo, w.target.Number)
	}
	merge, found, err := r.ref(ctx, mergeRef)
	if err != nil {
		return nil, err
	}
	// The server's trial merge is of an older head when it is not up to date.
	if found && len(merge.Parents) == 2 && merge.Parents[1] == head.OID {
		base, err := r.commit(ctx, merge.Parents[0])
		if err != nil {
			return nil, err
		}
		return r.between(ctx, base, head)
	}

	branch, found, err := r.ref(ctx, defaultRef)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, baseUnknown("The repository's HEAD leads to no branch, so its default branch can't be told.")
	}
	return r.beforeMerge(ctx, branch, head, baseUnknown("The pull request was fast-forwarded into the default branch "+
		"or is equal to it, so what it was to be merged into can't be told."))
}

// namedEndpoints finds the commits that the target names, with the base as it was
// when head was to be merged into it. A head that the base has already would
// compare as no change at all: a branch tells what it was before, and a commit
// doesn't.
func (w wanted) namedEndpoints(ctx context.Context, r *repo) (*change, error) {
	head, err := r.namedCommit(ctx, w.head)
	if err != nil {
		return nil, err
	}
	if branch := w.target.Commits.BaseRef; branch != "" {
		base, found, err := r.ref(ctx, namedBase)
		if err == nil && !found {
			err = fmt.Errorf("%w: a fetched branch is not there", errDamaged)
		}
		if err != nil {
			return nil, err
		}
		return r.beforeMerge(ctx, base, head, baseUnknown("head_sha was fast-forwarded into the branch %q, "+
			"which base_ref names, or is equal to it, so what it was to be merged into can't be told. Give base_sha.", branch))
	}

	base, err := r.namedCommit(ctx, w.base)
	if err != nil {
		return nil, err
	}
	c, err := r.between(ctx, base, head)
	if err == nil && c.mergeBase.OID == head.OID {
		err = baseUnknown("base_sha has head_sha %s in its history already or is equal to it, so there is nothing "+
			"to compare. Give the commit that it was to be merged into, as it was before.", head.OID)
	}
	return c, err
}

// beforeMerge is the change of head on a branch as it was before head was merged
// into it, or as it is when head is not. It fails with unknown when that can't be
// told.
func (r *repo) beforeMerge(ctx context.Context, branch, head Commit, unknown error) (*change, error) {
	c, err := r.between(ctx, branch, head)
	if err != nil || c.mergeBase.OID != head.OID {
		return c, err
	}

	merged, found, err := r.earliestWith(ctx, branch.OID, head.OID)
	if err != nil {
		return nil, err
	}
	if !found || len(merged.Parents) == 0 || merged.Parents[0] == head.OID {
		return nil, unknown
	}
	base, err := r.commit(ctx, merged.Parents[0])
	if err != nil {
		return nil, err
	}
	return r.between(ctx, base, head)
}

// between is the change from where head left base to head. Of several merge bases
// it takes the first, as `git diff base...head` does.
func (r *repo) between(ctx context.Context, base, head Commit) (*change, error) {
	out, err := r.git.run(ctx, r.dir, newCommand("merge-base").oids(base.OID, head.OID))
	var failed *gitError
	if errors.As(err, &failed) && failed.code == 1 && failed.signal == 0 && len(out) == 0 {
		return nil, lasting(scan.CodeNoMergeBase,
			"The pull request's head has no history in common with what it is to be merged into.")
	}
	if err != nil {
		return nil, err
	}

	oid, err := parseOID(strings.TrimSpace(string(out)))
	if err != nil {
		return nil, err
	}
	mergeBase, err := r.commit(ctx, oid)
	return &change{repo: r, head: head, base: base, mergeBase: mergeBase}, err
}

// earliestWith returns the earliest commit on the first-parent line of branch
// that has head among its ancestors, itself excluded; found is false when none
// has. When head is on that line itself it is the first parent of the result.
func (r *repo) earliestWith(ctx context.Context, branch, head OID) (c Commit, found bool, err error) {
	list := func(option word) ([]string, error) {
		revisions := newCommand("rev-list", option).oids(branch, head)
		revisions.names[1] = "^" + revisions.names[1]
		out, err := r.git.run(ctx, r.dir, revisions)
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
			c, err = r.commit(ctx, OID(line[i]))
			return c, err == nil, err
		}
	}
	return Commit{}, false, nil
}

// Commit is a commit and what it leads to.
type Commit struct {
	OID     OID
	Tree    OID
	Parents []OID
}

// maxCommit is the largest commit object that is read, in bytes.
const maxCommit = 1 << 20

// ref returns the commit that a ref leads to; found is false when there is no
// such ref.
func (r *repo) ref(ctx context.Context, name string) (c Commit, found bool, err error) {
	obj, err := r.objects.info(ctx, name+"^{commit}")
	if err == nil && obj.kind == "" && has(r.dir, name) {
		err = fmt.Errorf("%w: ref %s leads to no commit", errDamaged, name)
	}
	if err != nil || obj.kind == "" {
		return Commit{}, false, err
	}
	c, err = r.commit(ctx, obj.oid)
	return c, err == nil, err
}

// commit reads a commit.
func (r *repo) commit(ctx context.Context, oid OID) (Commit, error) {
	data, err := r.objects.read(ctx, oid, "commit", maxCommit)
	if err != nil {
		return Commit{}, err
	}
	if len(data) > maxCommit {
		return Commit{}, fmt.Errorf("%w: commit %s is too large", errDamaged, oid)
	}
	return parseCommit(oid, data)
}

// namedCommit reads a commit that somebody named: it may be another object, or not
// be there.
func (r *repo) namedCommit(ctx context.Context, oid OID) (Commit, error) {
	obj, err := r.objects.info(ctx, string(oid))
	switch {
	case err != nil:
		return Commit{}, err
	case obj.kind == "":
		return Commit{}, noCommit(oid)
	case obj.kind != "commit":
		return Commit{}, lasting(scan.CodeCommitNotFound, "%s is a %s and not a commit.", oid, obj.kind)
	}
	return r.commit(ctx, oid)
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

func badCommit(field, value string) *scan.Failure {
	return lasting(scan.CodeCommitNotFound, "%s is %q and must be the 40 hexadecimal digits of a commit.", field, value)
}

func noCommit(oid OID) *scan.Failure {
	return lasting(scan.CodeCommitNotFound, "The repository has no commit %s, or its server does not give it out: "+
		"then no branch and not the pull request leads to it.", oid)
}

func baseUnknown(format string, args ...any) *scan.Failure {
	return lasting(scan.CodeBaseUnknown, format, args...)
}
