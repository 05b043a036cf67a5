package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
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

// open fetches the target and opens the change. While the remote is waited
// for, the processes that are needed afterwards start.
func (r *repo) open(ctx context.Context) (*change, error) {
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	if err := r.fetchTarget(ctx); err != nil {
		return nil, err
	}

	chosen := scan.Begin(ctx, scan.PhaseEnds)
	c, err := r.endpoints(ctx)
	chosen()
	if err != nil {
		return nil, err
	}
	return c, c.compare(ctx)
}

// fetchTarget fetches the commits and trees of a pull request, or of the commits
// that the target names, with their history.
func (r *repo) fetchTarget(ctx context.Context) error {
	t := r.target
	if t.Commits != (finding.Commits{}) {
		return r.fetchCommits(ctx, t.Commits)
	}

	number := strconv.Itoa(int(t.Number))
	return r.fetch(ctx, newFetch(r.remote, "--prune").
		ref("HEAD", defaultRef).
		ref(strings.ReplaceAll(t.Host.HeadRef, "{number}", number), headRef).
		ref(strings.ReplaceAll(t.Host.MergeRef, "{number}", number), mergeRef))
}

func (r *repo) fetchCommits(ctx context.Context, want finding.Commits) error {
	if (want.Base == "") == (want.BaseRef == "") || want.BaseRef != "" && checkBranch(want.BaseRef) != nil {
		return baseUnknown("Either base_sha or base_ref must say what the commit is to be merged into; "+
			"%q can't be the name of a branch.", want.BaseRef)
	}

	c := newFetch(r.remote).commit(OID(want.Head), namedHead)
	if want.BaseRef != "" {
		c.branch(want.BaseRef, namedBase)
	} else {
		c.commit(OID(want.Base), namedBase)
	}
	err := r.fetch(ctx, c)
	var failed *gitError
	if !errors.As(err, &failed) {
		return err
	}

	if want.BaseRef != "" && failed.says("couldn't find remote ref", "invalid refspec") {
		return baseUnknown("The repository has no branch %q, which base_ref names.", want.BaseRef)
	}
	for _, oid := range []string{want.Head, want.Base} {
		if oid != "" && failed.says("not our ref", "unadvertised object") && failed.says(oid) {
			return noCommit(oid)
		}
	}
	return err
}

// endpoints finds what is to be merged into what, and where head left base.
func (r *repo) endpoints(ctx context.Context) (*change, error) {
	if r.target.Commits != (finding.Commits{}) {
		return r.namedEndpoints(ctx, r.target.Commits)
	}

	head, found, err := r.ref(ctx, headRef)
	if err == nil && !found {
		err = lasting(scan.CodePullRequestNotFound, "%s has no pull request %d.", r.target.Repo, r.target.Number)
	}
	if err != nil {
		return nil, err
	}
	merge, found, err := r.ref(ctx, mergeRef)
	if err != nil {
		return nil, err
	}

	// The server's trial merge is of an older head when it is not up to date.
	if found && len(merge.Parents) == 2 && merge.Parents[1] == head.OID {
		return r.between(ctx, merge.Parents[0], head)
	}

	branch, found, err := r.ref(ctx, defaultRef)
	if err == nil && !found {
		err = baseUnknown("The repository's HEAD leads to no branch, so its default branch can't be told.")
	}
	if err != nil {
		return nil, err
	}
	return r.beforeMerge(ctx, branch.OID, head, "The pull request was fast-forwarded into the default branch "+
		"or is equal to it, so what it was to be merged into can't be told.")
}

// namedEndpoints finds the commits that the target names, with the base as it was
// when head was to be merged into it. A head that the base has already would
// compare as no change at all: a branch tells what it was before, and a commit
// doesn't.
func (r *repo) namedEndpoints(ctx context.Context, want finding.Commits) (*change, error) {
	head, err := r.namedCommit(ctx, want.Head)
	if err != nil {
		return nil, err
	}
	if want.BaseRef != "" {
		base, found, err := r.ref(ctx, namedBase)
		if err == nil && !found {
			err = fmt.Errorf("%w: a fetched branch is not there", errDamaged)
		}
		if err != nil {
			return nil, err
		}
		return r.beforeMerge(ctx, base.OID, head, fmt.Sprintf("head_sha was fast-forwarded into the branch %q, which "+
			"base_ref names, or is equal to it, so what it was to be merged into can't be told. Give base_sha.", want.BaseRef))
	}

	base, err := r.namedCommit(ctx, want.Base)
	if err != nil {
		return nil, err
	}
	c, err := r.between(ctx, base.OID, head)
	if err == nil && c.mergeBase.OID == head.OID {
		err = baseUnknown("base_sha has head_sha %s in its history already or is equal to it, so there is nothing "+
			"to compare. Give the commit that it was to be merged into, as it was before.", head.OID)
	}

	return c, err
}

// beforeMerge is the change of head on a branch as it was before head was merged
// into it, or as it is when head is not. When that can't be told, it says so.
func (r *repo) beforeMerge(ctx context.Context, branch OID, head Commit, unknown string) (*change, error) {
	c, err := r.between(ctx, branch, head)
	if err != nil || c.mergeBase.OID != head.OID {
		return c, err
	}

	merged, err := r.earliestWith(ctx, branch, head.OID)
	if err != nil {
		return nil, err
	}
	if len(merged.Parents) == 0 || merged.Parents[0] == head.OID {
		return nil, baseUnknown("%s", unknown)
	}
	return r.between(ctx, merged.Parents[0], head)
}

// between is the change from where head left base to head. Of several merge bases
// it takes the first, as `git diff base...head` does.
func (r *repo) between(ctx context.Context, baseOID OID, head Commit) (*change, error) {
	out, err := r.git.run(ctx, r.dir, newCommand("merge-base").oids(baseOID, head.OID))
	var failed *gitError
	if errors.As(err, &failed) && failed.code == 1 && failed.signal == 0 && len(out) == 0 {
		return nil, lasting(scan.CodeNoMergeBase,
			"The pull request's head has no history in common with what it is to be merged into.")
	}
	if err != nil {
		return nil, err
	}

	base, err := r.commit(ctx, baseOID)
	if err != nil {
		return nil, err
	}
	mergeBase, err := r.commit(ctx, OID(strings.TrimSpace(string(out))))
	return &change{repo: r, head: head, base: base, mergeBase: mergeBase}, err
}

// earliestWith returns the earliest commit on the first-parent line of branch
// that has head among its ancestors, itself excluded; an empty one when none has.
// When head is on that line itself it is the first parent of the result.
func (r *repo) earliestWith(ctx context.Context, branch, head OID) (Commit, error) {
	list := func(option word) ([]string, error) {
		revisions := newCommand("rev-list", option).oids(branch, head)
		revisions.names[1] = "^" + revisions.names[1]
		out, err := r.git.run(ctx, r.dir, revisions)
		return strings.Fields(string(out)), err
	}
	line, err := list("--first-parent") // newest first
	if err != nil {
		return Commit{}, err
	}

	descendants, err := list("--ancestry-path")
	if err != nil {
		return Commit{}, err
	}

	contain := make(map[string]bool, len(descendants))
	for _, oid := range descendants {
		contain[oid] = true
	}
	for _, oid := range slices.Backward(line) {
		if contain[oid] {
			return r.commit(ctx, OID(oid))
		}
	}

	return Commit{}, nil
}

// OID is the name of an object: 40 lower-case hexadecimal digits.
type OID string

// oidSize is the length of an OID; the binary form is half of it.
const oidSize = 40

const (
	// noOID stands for "no object" in git's lists.
	noOID OID = "0000000000000000000000000000000000000000"
	// emptyTree is the tree without files, which git knows without storing it.
	emptyTree OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

// parseOID checks that s names an object.
func parseOID(s string) (OID, error) {
	if len(s) != oidSize || strings.Trim(s, "0123456789abcdef") != "" {
		return "", fmt.Errorf("git: %q is no object name", s)
	}
	return OID(s), nil
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
func (r *repo) namedCommit(ctx context.Context, oid string) (Commit, error) {
	obj, err := r.objects.info(ctx, oid)
	if err == nil && obj.kind != "commit" {
		err = noCommit(oid)
	}
	if err != nil {
		return Commit{}, err
	}
	return r.commit(ctx, obj.oid)
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

func noCommit(oid string) *scan.Failure {
	return lasting(scan.CodeCommitNotFound, "The repository has no commit %s, or its server does not give it out: "+
		"then no branch and not the pull request leads to it.", oid)
}

func baseUnknown(format string, args ...any) *scan.Failure {
	return lasting(scan.CodeBaseUnknown, format, args...)
}
