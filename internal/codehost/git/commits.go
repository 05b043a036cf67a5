package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// Commits names a change's two ends, in place of Request.Refs.
type Commits struct {
	Head    OID
	Base    OID    // "" with BaseRef
	BaseRef string // a branch, without refs/heads/; "" with Base
}

// Where the commits of the last scan that named any are kept. The next fetch
// tells the server that they are here; more of them would add up.
const (
	headName  = "refs/prwarden/commits/head"
	baseName  = "refs/prwarden/commits/base"
	headsName = "refs/prwarden/heads/"
)

// branch asks for a branch of the remote, which must be there, to be stored
// under name.
func (c *command) branch(branch, name string) *command {
	if err := CheckBranch(branch); err != nil {
		c.err = err
	}
	c.names = append(c.names, "+refs/heads/"+branch+":"+name)
	return c
}

// commit asks for a commit of the remote by its own name, to be stored under
// name.
func (c *command) commit(oid OID, name string) *command {
	if _, err := parseOID(string(oid)); err != nil {
		c.err = err
	}
	c.names = append(c.names, "+"+string(oid)+":"+name)
	return c
}

// branches asks for all branches of the remote.
func (c *command) branches() *command {
	c.names = append(c.names, "+refs/heads/*:"+headsName+"*")
	return c
}

// fetchCommits fetches the commits that the request names, with their history.
// Servers that give out what refs lead to only are asked for all branches and
// the request's refs instead.
func (r *Repo) fetchCommits(ctx context.Context) error {
	want := r.request.Commits
	c := newCommand("fetch", fetchOptions()...).fetchFrom(r.request.Remote, !r.gen.complete).commit(want.Head, headName)
	if want.BaseRef != "" {
		c.branch(want.BaseRef, baseName)
	} else {
		c.commit(want.Base, baseName)
	}
	err := r.fetch(ctx, c)
	var failed *gitError
	if !errors.As(err, &failed) {
		return err
	}
	text := strings.ToLower(failed.stderr)
	switch {
	case strings.Contains(text, "couldn't find remote ref"):
		return noBranch(want.BaseRef, err)
	case strings.Contains(text, "unadvertised object"):
		return r.fetchByRefs(ctx)
	case strings.Contains(text, "not our ref"):
		for _, oid := range []OID{want.Head, want.Base} {
			if oid != "" && strings.Contains(text, string(oid)) {
				return noCommit(oid, err)
			}
		}
	}
	return err
}

// fetchByRefs fetches what the commits are searched in.
func (r *Repo) fetchByRefs(ctx context.Context) error {
	c := newCommand("fetch", fetchOptions("--prune")...).fetchFrom(r.request.Remote, !r.gen.complete).branches()
	for i, name := range r.request.Refs {
		c.ref(i, name)
	}
	r.byRefs = true
	return r.fetch(ctx, c)
}

func noBranch(name string, err error) error {
	return &scan.Failure{Code: scan.CodeBaseUnknown, Lasting: true, Err: err,
		Message: fmt.Sprintf("The repository has no branch %q, which base_ref names.", name)}
}

func noCommit(oid OID, err error) *scan.Failure {
	return &scan.Failure{Code: scan.CodeCommitNotFound, Lasting: true, Err: err,
		Message: fmt.Sprintf("The repository has no commit %s, or its server does not give it out: then no branch and not the pull request leads to it.", oid)}
}

// BaseRef is the branch that the request names as the base, "" for none.
func (r *Repo) BaseRef() string { return r.request.Commits.BaseRef }

// Ends are the commits that the request names.
func (r *Repo) Ends(ctx context.Context) (head, base Commit, err error) {
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
		name = headsName + want.BaseRef
	}
	oid, found, err := r.objects.resolve(ctx, name)
	if err == nil && !found {
		if err = noBranch(want.BaseRef, nil); !r.byRefs {
			err = fmt.Errorf("%w: ref %s leads to no commit", errDamaged, name)
		}
	}
	if err != nil {
		return head, base, err
	}
	base, err = r.Commit(ctx, oid)
	return head, base, err
}

// named reads a commit that somebody named: it may be another object, or not
// be there.
func (r *Repo) named(ctx context.Context, oid OID) (Commit, error) {
	kind := ""
	err := r.objects.askAll(ctx, askInfo, []OID{oid}, func(a *answers) error {
		obj, _, err := a.info()
		kind = obj.kind
		return err
	})
	switch {
	case err != nil:
		return Commit{}, err
	case kind == "":
		return Commit{}, noCommit(oid, nil)
	case kind != "commit":
		return Commit{}, &scan.Failure{Code: scan.CodeCommitNotFound, Lasting: true,
			Message: fmt.Sprintf("%s is a %s and not a commit.", oid, kind)}
	}
	return r.Commit(ctx, oid)
}
