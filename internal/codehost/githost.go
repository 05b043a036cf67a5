package codehost

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// The refs that are fetched, by their place in the request.
const (
	defaultRef = iota
	headRef
	mergeRef
)

// openGit opens a pull request of a git server without an API. It tells what is
// to be merged into what from references and history.
func openGit(
	ctx context.Context, store *git.Store, t scan.Target, host organization.Host, remote git.Remote,
) (scan.Change, error) {
	req := git.Request{
		Organization: t.Organization,
		Repo:         t.Repo,
		Remote:       remote,
		Refs: []string{
			defaultRef: "HEAD", headRef: reference(host.HeadRef, t.Number), mergeRef: reference(host.MergeRef, t.Number),
		},
		Endpoints: func(ctx context.Context, r *git.Repo) (head, base git.Commit, err error) {
			head, found, err := r.Ref(ctx, headRef)
			if err == nil && !found {
				err = notFound(t)
			}
			if err == nil {
				base, err = mergeTarget(ctx, r, head)
			}
			return head, base, err
		},
	}
	if t.Commits != (finding.Commits{}) {
		commits, err := namedCommits(t.Commits)
		if err != nil {
			return nil, err
		}
		req.Commits, req.Endpoints = commits, namedEndpoints
	}
	return store.Open(ctx, req)
}

// namedCommits checks what a scan of any commits names. The server has done so,
// but what becomes part of a command is checked where that is made.
func namedCommits(c finding.Commits) (*git.Commits, error) {
	head, err := git.ParseOID(c.Head)
	if err != nil {
		return nil, badCommit("head_sha", c.Head)
	}

	switch {
	case (c.Base == "") == (c.BaseRef == ""):
		return nil, baseUnknown("Either base_sha or base_ref must say what the commit is to be merged into.")
	case c.BaseRef != "":
		if git.CheckBranch(c.BaseRef) != nil {
			return nil, baseUnknown("%q can't be the name of a branch.", c.BaseRef)
		}
		return &git.Commits{Head: head, BaseRef: c.BaseRef}, nil
	}

	base, err := git.ParseOID(c.Base)
	if err != nil {
		return nil, badCommit("base_sha", c.Base)
	}
	return &git.Commits{Head: head, Base: base}, nil
}

// mergeTarget is what head is, or was, to be merged into.
func mergeTarget(ctx context.Context, r *git.Repo, head git.Commit) (base git.Commit, err error) {
	merge, found, err := r.Ref(ctx, mergeRef)
	if err != nil {
		return base, err
	}
	// The server's trial merge is of an older head when it is not up to date.
	if found && len(merge.Parents) == 2 && merge.Parents[1] == head.OID {
		return r.Commit(ctx, merge.Parents[0])
	}
	branch, err := defaultBranch(ctx, r)
	if err != nil {
		return base, err
	}
	return beforeMerge(ctx, r, branch, head, baseUnknown("The pull request was fast-forwarded into the default branch "+
		"or is equal to it, so what it was to be merged into can't be told."))
}

// namedEndpoints are the commits that the request names, with the base as it was
// when head was to be merged into it. A head that the base has already would
// compare as no change at all: a branch tells what it was before, and a commit
// doesn't.
func namedEndpoints(ctx context.Context, r *git.Repo) (head, base git.Commit, err error) {
	head, base, err = r.Endpoints(ctx)
	if err != nil {
		return head, base, err
	}
	if branch := r.BaseRef(); branch != "" {
		base, err = beforeMerge(ctx, r, base, head, baseUnknown("head_sha was fast-forwarded into the branch %q, "+
			"which base_ref names, or is equal to it, so what it was to be merged into can't be told. Give base_sha.", branch))
		return head, base, err
	}

	within, err := contains(ctx, r, base, head)
	if err == nil && within {
		err = baseUnknown("base_sha has head_sha %s in its history already or is equal to it, so there is nothing "+
			"to compare. Give the commit that it was to be merged into, as it was before.", head.OID)
	}
	return head, base, err
}

// beforeMerge is the branch as it was before head was merged into it, or as it
// is when head is not. It returns unknown when that can't be told.
func beforeMerge(
	ctx context.Context, r *git.Repo, branch, head git.Commit, unknown error,
) (base git.Commit, err error) {
	within, err := contains(ctx, r, branch, head)
	if err != nil || !within {
		return branch, err
	}
	merged, found, err := r.EarliestWith(ctx, branch.OID, head.OID)
	if err != nil {
		return base, err
	}
	if !found || len(merged.Parents) == 0 || merged.Parents[0] == head.OID {
		return base, unknown
	}
	return r.Commit(ctx, merged.Parents[0])
}

// contains tells whether base has head in its history or is equal to it. It is
// false without common history: then the comparison fails and says so.
func contains(ctx context.Context, r *git.Repo, base, head git.Commit) (bool, error) {
	common, found, err := r.MergeBase(ctx, base.OID, head.OID)
	return err == nil && found && common == head.OID, err
}

// defaultBranch is what the remote's HEAD leads to. A HEAD that names a branch
// that is not there, as a new bare repository has, leaves the only branch.
func defaultBranch(ctx context.Context, r *git.Repo) (git.Commit, error) {
	branch, found, err := r.Ref(ctx, defaultRef)
	if err != nil || found {
		return branch, err
	}
	branches, err := r.Branches(ctx)
	if err != nil {
		return branch, err
	}
	if len(branches) != 1 {
		return branch, baseUnknown("The repository's HEAD leads to no branch, and it has %d branches.", len(branches))
	}
	return r.Fetch(ctx, branches[0])
}

// lasting is a failure that trying again does not change.
func lasting(code, format string, args ...any) *scan.Failure {
	return &scan.Failure{Code: code, Message: fmt.Sprintf(format, args...), Lasting: true}
}

func badCommit(field, value string) *scan.Failure {
	return lasting(scan.CodeCommitNotFound, "%s is %q and must be the 40 hexadecimal digits of a commit.", field, value)
}

func baseUnknown(format string, args ...any) *scan.Failure {
	return lasting(scan.CodeBaseUnknown, format, args...)
}

func notFound(t scan.Target) *scan.Failure {
	return lasting(scan.CodePullRequestNotFound, "%s has no pull request %d.", t.Repo, t.Number)
}

// reference puts the number of a pull request into the name of a reference.
func reference(template string, number int32) string {
	return strings.ReplaceAll(template, "{number}", strconv.Itoa(int(number)))
}
