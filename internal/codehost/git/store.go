package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sync/errgroup"

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
		return nil, errors.New("git: scanning needs Linux")
	}
	path, err := findGit(o.Git)
	if err != nil {
		return nil, err
	}

	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("git: cache directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("git: cache directory: %w", err)
	}
	config, err := writeConfig(dir, o.Limits)
	if err != nil {
		return nil, fmt.Errorf("git: configuration: %w", err)
	}
	return &Store{
		git:      &git{path: path, config: config, limits: o.Limits, extra: o.Env},
		dir:      dir,
		prefetch: o.Prefetch,
	}, nil
}

// findGit returns the path of git, which is looked for in PATH when none is
// given, and refuses one without `cat-file --batch-command`.
func findGit(path string) (string, error) {
	if path == "" {
		var err error
		if path, err = exec.LookPath("git"); err != nil {
			return "", fmt.Errorf("%w: %w", ErrNoGit, err)
		}
	}

	cmd := exec.CommandContext(context.Background(), path, "version")
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git: %s version: %w", path, err)
	}
	return path, checkVersion(string(out))
}

// checkVersion judges what `git version` printed.
func checkVersion(version string) error {
	var major, minor int
	if _, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor); err != nil {
		return fmt.Errorf("git: git says %q for its version: %w", version, err)
	}
	if major < 2 || major == 2 && minor < 36 {
		return fmt.Errorf("git: git 2.36 or newer is needed; this is %d.%d", major, minor)
	}
	return nil
}

// Check tells whether repositories can be fetched and kept: git is there and
// the cache directory can be written. A full disk is no reason against it: the
// scan that meets it makes room.
func (s *Store) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := exec.LookPath(s.git.path); err != nil {
		return fmt.Errorf("git: %w", err)
	}
	if _, err := os.Stat(s.git.config); err != nil {
		return fmt.Errorf("git: configuration: %w", err)
	}

	f, err := os.CreateTemp(s.dir, ".writable-*")
	switch {
	case err == nil:
		closeFile(f)
		err = os.Remove(f.Name())
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return nil
	}
	if err != nil {
		return fmt.Errorf("git: cache directory: %w", err)
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
	// Endpoints chooses head and base among what was fetched. Its errors should
	// be *scan.Failure.
	Endpoints func(ctx context.Context, r *Repo) (head, base Commit, err error)
}

// Remote is where a repository is fetched from.
type Remote struct {
	URL      string // https, http or file, without credentials
	Username string // sent with Token
	Token    string // sent to the host of URL only; "" for none
}

// Commits names head and base, in place of Request.Refs.
type Commits struct {
	Head    OID
	Base    OID    // "" with BaseRef
	BaseRef string // a branch, without refs/heads/; "" with Base
}

// Open fetches what req asks for and opens the change between its endpoints. It
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

	if gen.fresh {
		s.counts.misses.Add(1)
	} else {
		s.counts.hits.Add(1)
	}
	r := newRepo(s, gen, req)
	opened, err := r.open(ctx)
	if err != nil {
		_ = r.close()
		_ = sweep(gen.dir) // of what git did not finish, which can fill a disk
		return nil, gen.fresh, err
	}
	return opened, gen.fresh, nil
}

// open fetches the request and opens its change. The commit-graph is written
// beside the comparison, but for a new generation before it: choosing the
// endpoints then gains what that takes.
func (r *Repo) open(ctx context.Context) (*change, error) {
	// While the remote is waited for, these start.
	if err := errors.Join(r.objects.open(ctx), r.startComparing(ctx, !r.gen.fresh)); err != nil {
		return nil, err
	}
	if err := r.fetchRequest(ctx); err != nil {
		return nil, err
	}

	graphCtx, stop := context.WithCancel(ctx)
	defer stop()
	var graph errgroup.Group
	graph.Go(func() error { return r.updateGraph(graphCtx) })
	waitGraph := func() error {
		defer scan.Begin(ctx, scan.PhaseCache)()
		return graph.Wait()
	}
	if r.gen.fresh {
		if err := waitGraph(); err != nil {
			return nil, err
		}
	}

	opened, err := r.choose(ctx)
	if err != nil {
		stop()
		_ = graph.Wait() // it was stopped
		return nil, err
	}
	if err := waitGraph(); err != nil {
		return nil, err
	}
	return opened, r.tidy(ctx)
}
