package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/prwarden/prwarden/internal/scan"
)

// Options are what New needs.
type Options struct {
	Dir      string   // of the cache; made when missing
	Git      string   // path of git; looked for in PATH when empty
	Limits   Limits   // DefaultLimits()
	Env      []string // `NAME=value` for commands that use the network, such as a proxy
	Prefetch []string // paths that ReadFile is going to be asked for, on either side
}

// Store is a cache of repositories and the git that fetches them. It is safe
// for concurrent use, and several processes may share one directory.
type Store struct {
	git      *git
	dir      string
	prefetch []string
	buffers  buffers
	counts   counts
}

// New makes the cache directory and finds git.
func New(o Options) (*Store, error) {
	if !supported {
		return nil, errors.New("gitrepo: scanning needs Linux")
	}
	path := o.Git
	if path == "" {
		var err error
		if path, err = exec.LookPath("git"); err != nil {
			return nil, fmt.Errorf("gitrepo: git is not installed: %w", err)
		}
	}
	if err := checkVersion(path); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("gitrepo: cache directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("gitrepo: cache directory: %w", err)
	}
	config, err := writeConfig(dir, o.Limits)
	if err != nil {
		return nil, fmt.Errorf("gitrepo: configuration: %w", err)
	}
	return &Store{
		git:      &git{path: path, config: config, limits: o.Limits, extra: o.Env},
		dir:      dir,
		prefetch: o.Prefetch,
	}, nil
}

// checkVersion refuses a git without `cat-file --batch-command`.
func checkVersion(path string) error {
	cmd := exec.CommandContext(context.Background(), path, "version")
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("gitrepo: %s version: %w", path, err)
	}
	return enough(string(out))
}

// enough judges what `git version` printed.
func enough(version string) error {
	var major, minor int
	if _, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor); err != nil {
		return fmt.Errorf("gitrepo: git says %q for its version: %w", version, err)
	}
	if major < 2 || major == 2 && minor < 36 {
		return fmt.Errorf("gitrepo: git 2.36 or newer is needed; this is %d.%d", major, minor)
	}
	return nil
}

// Request is what Open fetches.
type Request struct {
	Organization string // whose cache it is
	Repo         string // `owner/name`
	Remote       Remote
	Refs         []string // to fetch from it; those that it does not have are left out
	// Commits are fetched in place of Refs, which are then for a server that
	// gives out no commits by their names.
	Commits *Commits
	// Ends chooses the change's two ends among what was fetched. Its errors
	// should be *scan.Failure.
	Ends func(ctx context.Context, r *Repo) (head, base Commit, err error)
}

// Open fetches what req asks for and opens the change between its ends. It
// fails with a *scan.Failure. A cache that turns out damaged is fetched anew,
// once.
func (s *Store) Open(ctx context.Context, req Request) (scan.Change, error) {
	c, fresh, err := s.open(ctx, req, asItIs)
	if errors.Is(err, errRefused) {
		c, fresh, err = s.open(ctx, req, newComplete)
	}
	if err == nil {
		return c, nil
	}
	failure := s.fail(ctx, err, fresh)
	if fresh || !suspectsCache(ctx, failure) {
		return nil, failure
	}
	if c, _, err = s.open(ctx, req, newPartial); err != nil {
		return nil, s.fail(ctx, err, true)
	}
	return c, nil
}

// fail says what err means. When the disk is full it makes room for the scans
// to come. git has many words for a write that failed, and none at all for some:
// with hardly any room, what looks like the repository's fault is the disk's.
func (s *Store) fail(ctx context.Context, err error, fresh bool) *scan.Failure {
	failure := asFailure(ctx, err, fresh)
	switch failure.Code {
	case scan.CodeRepositoryInvalid, scan.CodeRepositoryTooLarge, scan.CodeScanFailed:
		if free, freeErr := freeSpace(s.dir); freeErr == nil && free < s.git.limits.Room && ctx.Err() == nil {
			failure = full().failure(err)
		}
	}
	if failure.Code == scan.CodeCacheFull {
		s.makeRoom()
	}
	return failure
}

// start says what a scan begins with.
type start int

const (
	asItIs      start = iota // what is in the cache
	newPartial               // an empty generation
	newComplete              // an empty generation that gets everything
)

// open is one attempt. fresh tells whether it began with an empty cache.
func (s *Store) open(ctx context.Context, req Request, from start) (c scan.Change, fresh bool, err error) {
	locked := scan.Begin(ctx, scan.PhaseCache)
	entry, err := s.lockEntry(ctx, req)
	if err != nil {
		return nil, true, err
	}
	defer entry.unlock(ctx)
	gen, err := entry.generation(ctx, from)
	locked()
	if err != nil {
		return nil, true, err
	}
	s.counts.opened(gen.fresh)
	r := &Repo{
		store: s, gen: gen, request: req,
		objects: &objects{git: s.git, dir: gen.dir},
		bases:   make(map[[2]OID]OID),
	}
	defer func() {
		if err != nil {
			_ = r.close()
			_ = sweep(gen.dir) // of what git did not finish, which can fill a disk
		}
	}()
	// While the remote is waited for, cat-file starts.
	if err := r.objects.open(ctx); err != nil {
		return nil, gen.fresh, err
	}
	fetch := r.fetchRefs
	if req.Commits != nil {
		fetch = r.fetchCommits
	}
	if err := fetch(ctx); err != nil {
		return nil, gen.fresh, err
	}
	graph, err := r.startGraph(ctx)
	if err != nil {
		return nil, gen.fresh, err
	}
	defer graph.stop()
	chosen := scan.Begin(ctx, scan.PhaseEnds)
	head, base, err := req.Ends(ctx, r)
	chosen()
	if err != nil {
		return nil, gen.fresh, err
	}
	opened, err := r.change(ctx, head, base)
	if err != nil {
		return nil, gen.fresh, err
	}
	if err := graph.wait(ctx); err != nil {
		return nil, gen.fresh, err
	}
	if err := r.tidy(ctx); err != nil {
		return nil, gen.fresh, err
	}
	return opened, gen.fresh, nil
}
