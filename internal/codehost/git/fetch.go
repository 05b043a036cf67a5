package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// fetchRequest fetches what the request names, with its history: commits and
// trees, and in a complete generation also the contents of all files.
func (r *Repo) fetchRequest(ctx context.Context) error {
	if r.request.Commits != nil {
		return r.fetchCommits(ctx)
	}
	return r.fetch(ctx, newFetch(r.request.Remote, !r.gen.complete, "--prune").refs(r.request.Refs...))
}

// fetchCommits fetches the commits that the request names. Servers that give
// out what refs lead to only are asked for all branches and the request's refs
// instead.
func (r *Repo) fetchCommits(ctx context.Context) error {
	want := r.request.Commits
	c := newFetch(r.request.Remote, !r.gen.complete).commit(want.Head, headName)
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
	switch {
	case failed.says("couldn't find remote ref"):
		return noBranch(want.BaseRef, err)
	case failed.says("unadvertised object"):
		r.byRefs = true
		return r.fetch(ctx, newFetch(r.request.Remote, !r.gen.complete, "--prune").branches().refs(r.request.Refs...))
	case failed.says("not our ref"):
		for _, oid := range []OID{want.Head, want.Base} {
			if oid != "" && failed.says(string(oid)) {
				return noCommit(oid, err)
			}
		}
	}
	return err
}

func noBranch(name string, err error) error {
	return &scan.Failure{
		Code: scan.CodeBaseUnknown, Lasting: true, Err: err,
		Message: fmt.Sprintf("The repository has no branch %q, which base_ref names.", name),
	}
}

func noCommit(oid OID, err error) error {
	return &scan.Failure{
		Code: scan.CodeCommitNotFound, Lasting: true, Err: err,
		Message: fmt.Sprintf("The repository has no commit %s, or its server does not give it out: "+
			"then no branch and not the pull request leads to it.", oid),
	}
}

// fetch runs a command that fetches, and counts what it brings.
func (r *Repo) fetch(ctx context.Context, c *command) error {
	fetched := scan.Begin(ctx, scan.PhaseFetch)
	before := r.gen.packBytes()
	_, err := r.store.git.run(ctx, r.gen.dir, c)
	// The entry is locked, so what is there more than before came now.
	bytes := max(0, r.gen.packBytes()-before)

	counts := &r.store.counts
	counts.fetches.Add(1)
	counts.fetchedBytes.Add(uint64(bytes))
	if err != nil {
		counts.failedFetches.Add(1)
	}
	fetched()
	return err
}

// ensure fetches those of blobs that the cache lacks, and returns the sizes of
// all.
func (r *Repo) ensure(ctx context.Context, blobs []OID) (map[OID]int64, error) {
	slices.Sort(blobs)
	blobs = slices.Compact(blobs)
	sizes := make(map[OID]int64, len(blobs))
	missing, err := r.sizes(ctx, blobs, sizes)
	if err != nil || len(missing) == 0 {
		return sizes, err
	}

	if err := r.fetchMissing(ctx, missing); err != nil {
		return nil, err
	}
	missing, err = r.sizes(ctx, missing, sizes)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%w: the remote did not send %s", errDamaged, missing[0])
	}
	return sizes, err
}

// sizes puts the sizes of those of blobs that are here into into, and returns
// the others.
func (r *Repo) sizes(ctx context.Context, blobs []OID, into map[OID]int64) (missing []OID, err error) {
	defer scan.Begin(ctx, scan.PhaseCompare)()
	i := 0
	err = r.objects.batch(ctx, queryInfo, names(blobs), func(obj object, _ io.Reader) error {
		oid := blobs[i]
		i++
		switch obj.kind {
		case "":
			missing = append(missing, oid)
		case "blob":
			into[oid] = obj.size
		default:
			return fmt.Errorf("%w: %s is a %s and should be a blob", errDamaged, oid, obj.kind)
		}
		return nil
	})
	return missing, err
}

// names are object names as a query has them.
func names(oids []OID) []string {
	list := make([]string, len(oids))
	for i, oid := range oids {
		list[i] = string(oid)
	}
	return list
}

// errRefused is for a server that gives out refs, but no single objects.
var errRefused = errors.New("git: the server gives out no single objects")

// fetchMissing fetches objects by their names.
func (r *Repo) fetchMissing(ctx context.Context, oids []OID) error {
	if r.gen.temporary {
		return lacking(oids)
	}

	c := newFetch(r.request.Remote, true, "--stdin")
	c.set("fetch.negotiationAlgorithm", "noop")
	c.stdin = strings.NewReader(strings.Join(names(oids), "\n") + "\n")
	err := r.fetch(ctx, c)
	var failed *gitError
	if errors.As(err, &failed) && !r.gen.complete && failed.says("unadvertised object", "not our ref") {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}
