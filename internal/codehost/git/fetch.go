package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

func fetchOptions(more ...word) []word {
	return append([]word{"--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--refmap="}, more...)
}

// fetchRefs fetches the refs of the request: their commits and trees, and in
// a complete generation also the contents of all files.
func (r *Repo) fetchRefs(ctx context.Context) error {
	c := newCommand("fetch", fetchOptions("--prune")...).fetchFrom(r.request.Remote, !r.gen.complete)
	for i, name := range r.request.Refs {
		c.ref(i, name)
	}
	return r.fetch(ctx, c)
}

func (r *Repo) fetch(ctx context.Context, c *command) error {
	fetched := scan.Begin(ctx, scan.PhaseFetch)
	before := r.gen.packBytes()
	_, err := r.store.git.run(ctx, r.gen.dir, c)
	// The entry is locked, so what is there more than before came now.
	bytes := max(0, r.gen.packBytes()-before)
	r.store.counts.fetched(bytes, err)
	fetched(scan.Count{Name: "bytes", N: bytes})
	return err
}

// ensure fetches those of blobs that the cache lacks, and returns the sizes of
// all. fetched says whether there were any.
func (r *Repo) ensure(ctx context.Context, blobs map[OID]bool) (fetched bool, sizes map[OID]int64, err error) {
	oids := make([]OID, 0, len(blobs))
	for oid := range blobs {
		oids = append(oids, oid)
	}
	slices.Sort(oids)
	sizes = make(map[OID]int64, len(oids))
	missing, err := r.sizes(ctx, oids, sizes)
	if err != nil || len(missing) == 0 {
		return false, sizes, err
	}
	if err := r.fetchMissing(ctx, missing); err != nil {
		return true, nil, err
	}
	missing, err = r.sizes(ctx, missing, sizes)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%w: the remote did not send %s", errDamaged, missing[0])
	}
	return true, sizes, err
}

// sizes puts the sizes of those of oids that are here into into, and returns
// the others.
func (r *Repo) sizes(ctx context.Context, oids []OID, into map[OID]int64) (missing []OID, err error) {
	defer scan.Begin(ctx, scan.PhaseCompare)()
	err = r.objects.askAll(ctx, askInfo, oids, func(a *answers) error {
		for _, oid := range oids {
			obj, found, err := a.info()
			switch {
			case err != nil:
				return err
			case !found:
				missing = append(missing, oid)
			case obj.kind != "blob":
				return fmt.Errorf("%w: %s is a %s and should be a blob", errDamaged, oid, obj.kind)
			default:
				into[oid] = obj.size
			}
		}
		return nil
	})
	return missing, err
}

// errRefused is for a server that gives out refs, but no single objects.
var errRefused = errors.New("gitrepo: the server gives out no single objects")

// fetchMissing fetches objects by their names.
func (r *Repo) fetchMissing(ctx context.Context, oids []OID) error {
	if r.gen.temporary {
		return lacking(oids)
	}
	var list strings.Builder
	for _, oid := range oids {
		list.WriteString(string(oid) + "\n")
	}
	c := newCommand("fetch", fetchOptions("--stdin")...).fetchFrom(r.request.Remote, true)
	c.set("fetch.negotiationAlgorithm", "noop")
	c.stdin = strings.NewReader(list.String())
	err := r.fetch(ctx, c)
	var failed *gitError
	if errors.As(err, &failed) && !r.gen.complete {
		text := strings.ToLower(failed.stderr)
		if strings.Contains(text, "unadvertised object") || strings.Contains(text, "not our ref") {
			return fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	return err
}
