package git

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// repo is a repository that one scan reads. It is not safe for concurrent use.
type repo struct {
	git       *git
	dir       string
	objects   *objects
	comparing *process // compares trees when it is told which
	prefetch  []string // see Options
	target    scan.Target
	remote    Remote
	fetch     func(ctx context.Context, c *command) error // nil for a repository that fetches nothing
	fail      func(ctx context.Context, err error) error  // says what an error met after Open means
	release   func() error
}

func newRepo(g *git, dir string) *repo {
	return &repo{git: g, dir: dir, objects: &objects{git: g, dir: dir}}
}

// start starts the processes that every scan needs.
func (r *repo) start(ctx context.Context) (err error) {
	if err := r.objects.open(ctx); err != nil {
		return err
	}
	r.comparing, err = r.git.start(ctx, r.dir, listFiles("--no-renames"))
	return err
}

// close frees the processes and the repository. It can be called again.
func (r *repo) close() error {
	r.objects.close()
	if r.comparing != nil {
		r.comparing.kill()
	}
	return r.release()
}

// Open fetches what the target names from remote and opens the change. It fails
// with a *scan.Failure. A copy in the cache that turns out damaged is fetched
// anew, once. Canceling ctx ends what it started.
func (s *Store) Open(ctx context.Context, t scan.Target, remote Remote) (scan.Change, error) {
	for {
		c, again, err := s.open(ctx, t, remote)
		if err == nil {
			return c, nil
		}
		if !again {
			return nil, err
		}
	}
}

// open is one attempt. When it fails, again tells whether that may be the fault of
// the copy in the cache, which is condemned now.
func (s *Store) open(ctx context.Context, t scan.Target, remote Remote) (opened *change, again bool, err error) {
	locked := scan.Begin(ctx, scan.PhaseCache)
	name := cacheName(t, remote.URL)
	lock, err := s.lock(ctx, name)
	if err != nil {
		return nil, false, s.fail(ctx, err, nil)
	}
	defer func() { _ = lock.Unlock() }() // fails only where it is lost already
	c, err := s.take(ctx, name)
	locked()
	if err != nil {
		return nil, false, s.fail(ctx, err, nil)
	}

	s.count(func(st *Stats) {
		if c.fresh {
			st.Misses++
		} else {
			st.Hits++
		}
	})
	r := s.repo(c, t, remote)
	opened, err = r.open(ctx)
	if err != nil {
		err = s.fail(ctx, err, c)
		_ = r.close()
		_ = c.sweep() // of what git did not finish, which can fill a disk
	}
	return opened, !c.fresh && has(c.dir, condemnedName), err
}

// repo is the repository in a copy.
func (s *Store) repo(c *cached, t scan.Target, remote Remote) *repo {
	r := newRepo(s.gitIn(c.dir), c.dir)
	r.prefetch, r.target, r.remote, r.release = s.prefetch, t, remote, c.release
	r.fetch = func(ctx context.Context, command *command) error { return s.fetch(ctx, r.git, c, command) }
	r.fail = func(ctx context.Context, err error) error { return s.fail(ctx, err, c) }
	return r
}

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

// fetch runs a command that fetches into c, and counts what it brings.
func (s *Store) fetch(ctx context.Context, g *git, c *cached, command *command) error {
	fetched := scan.Begin(ctx, scan.PhaseFetch)
	before := c.packBytes()
	_, err := g.run(ctx, c.dir, command)
	// The copy is locked, so what is there more than before came now.
	bytes := max(0, c.packBytes()-before)
	fetched()

	s.count(func(st *Stats) {
		st.Fetches++
		if err != nil {
			st.FailedFetches++
		}
	})
	s.grew(bytes)
	return err
}

// ensure fetches those of blobs that are not here, and returns the sizes of all.
func (r *repo) ensure(ctx context.Context, blobs []OID) (map[OID]int64, error) {
	slices.Sort(blobs)
	blobs = slices.Compact(blobs)
	sizes := make(map[OID]int64, len(blobs))
	missing, err := r.sizes(ctx, blobs, sizes)
	if err != nil || len(missing) == 0 {
		return sizes, err
	}

	if err := r.fetchObjects(ctx, missing); err != nil {
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
func (r *repo) sizes(ctx context.Context, blobs []OID, into map[OID]int64) (missing []OID, err error) {
	defer scan.Begin(ctx, scan.PhaseCompare)()
	b, err := r.objects.batch(ctx, queryInfo, names(blobs))
	if err != nil {
		return nil, err
	}

	for _, oid := range blobs {
		err := b.next(ctx, func(obj object, _ io.Reader) error {
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
		if err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// names are object names as a query has them.
func names(oids []OID) []string {
	list := make([]string, len(oids))
	for i, oid := range oids {
		list[i] = string(oid)
	}
	return list
}

// fetchObjects fetches objects by their names.
func (r *repo) fetchObjects(ctx context.Context, oids []OID) error {
	if r.fetch == nil {
		return lasting(scan.CodeRepositoryInvalid, "The repository lacks %d of the objects to compare, such as %s. "+
			"Of a partial clone, fetch them first: `git diff` of the same does.", len(oids), oids[0])
	}

	c := newFetch(r.remote, "--stdin")
	c.set("fetch.negotiationAlgorithm", "noop")
	c.stdin = strings.NewReader(strings.Join(names(oids), "\n") + "\n")
	return r.fetch(ctx, c)
}
