package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/scan"
)

// fetchCommits fetches the commits that the target names.
func (r *repo) fetchCommits(ctx context.Context, want finding.Commits) error {
	if (want.Base == "") == (want.BaseRef == "") || want.BaseRef != "" && checkBranch(want.BaseRef) != nil {
		return baseUnknown("Either base_sha or base_ref must say what the commit is to be merged into; "+
			"%q can't be the name of a branch.", want.BaseRef)
	}

	if r.target.ForDiff {
		isHere, err := r.hasCommits(ctx, want.Head, want.Base)
		if isHere || err != nil {
			return err
		}
	}

	base := want.Base
	if want.BaseRef != "" {
		base = "refs/heads/" + want.BaseRef
	}
	err := r.fetch(ctx, newFetch(r.remote).refspec(want.Head, namedHead, "").refspec(base, namedBase, ""))
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

// hasCommits says whether commits are in the cache, and so all that leads to them.
func (r *repo) hasCommits(ctx context.Context, names ...string) (bool, error) {
	for _, name := range names {
		if _, found, err := r.find(ctx, OID(name)); !found || err != nil {
			return false, err
		}
	}

	return true, nil
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
	c, err := r.between(ctx, base.OID, head, finding.BaseRequested)
	if err == nil && c.mergeBase.OID == head.OID {
		err = baseUnknown("base_sha has head_sha %s in its history already or is equal to it, so there is nothing "+
			"to compare. Give the commit that it was to be merged into, as it was before.", head.OID)
	}

	return c, err
}

// namedCommit reads a commit that somebody named: it may be another object, or not
// be there.
func (r *repo) namedCommit(ctx context.Context, oid string) (Commit, error) {
	c, found, err := r.find(ctx, OID(oid))
	if err == nil && !found {
		err = noCommit(oid)
	}
	return c, err
}

// earliestWith returns the earliest commit on the first-parent line of branch
// that has head among its ancestors, itself excluded; an empty one when none has.
// When head is on that line itself it is the first parent of the result.
func (r *repo) earliestWith(ctx context.Context, branch, head OID) (Commit, error) {
	list := func(option word) ([]string, error) {
		revisions := newCommand("rev-list", option).oids(branch, head)
		revisions.names[1] = "^" + revisions.names[1]
		out, err := r.git.run(ctx, revisions)
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

// baseRequired says that the base would have to be guessed. A trial merge that is
// there may soon be one of the current head.
func (r *repo) baseRequired(isStale bool) *scan.Failure {
	has := "has no trial merge of it"
	if isStale {
		has = "has a trial merge of another head only, or one that is in conflict"
	}
	f := baseUnknown("What the pull request is to be merged into would have to be guessed: the code host %s. "+
		"Name it with head_sha and base_sha or base_ref, or leave out require_base.", has)
	f.Lasting = !isStale

	return f
}

// beforeMerge is the change of head on a branch as it was before head was merged
// into it, or as it is when head is not. When that can't be told, it says so.
func (r *repo) beforeMerge(ctx context.Context, branch OID, head Commit, unknown string) (*change, error) {
	c, err := r.between(ctx, branch, head, finding.BaseRequested)
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
	return r.between(ctx, merged.Parents[0], head, finding.BaseRequested)
}

// parseCommit reads a commit object. Nothing relies on its author and message, so they
// may be broken or missing.
func parseCommit(oid OID, data []byte) (Commit, error) {
	c := Commit{OID: oid}
	header, message, _ := bytes.Cut(data, []byte("\n\n"))
	for line := range bytes.Lines(header) {
		key, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		if key == "author" {
			name, _, _ := strings.Cut(value, "<")
			c.Author = finding.Line(name, finding.MaxAuthor)
		}
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
	subject, _, _ := bytes.Cut(bytes.TrimLeft(message, "\n"), []byte("\n\n"))
	c.Subject = finding.Line(string(subject), finding.MaxTitle)
	return c, nil
}
