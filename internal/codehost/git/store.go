// Package git fetches one pull request's commits into a cache and says what
// it changes. It is the only caller of git.
//
// A repository may be hostile, so git runs in a cage: an empty environment, a
// configuration file of our own, no hooks, filters, helpers or prompts, and limits
// of memory, file size and processor time. Arguments are fixed words, hexadecimal
// object names and checked ref names. Trees that are made to kill their reader kill
// git, and only that scan fails.
//
// Fetches are partial: commits and trees first, then the changed files in one
// batch. git checks little of what it gets so, and the paths that it prints are
// checked here.
//
// A repository on this machine that belongs to whoever runs prwarden is read
// by way of Local, without a cache and on every system.
package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/scan"
)

// Limits bound what one scan, and the cache, may take.
type Limits struct {
	Memory       int64         // address space of a git process, in bytes
	FileSize     int64         // largest file that git may write, in bytes; bounds a fetched pack
	CPU          time.Duration // processor time of a git process, in whole seconds
	TreeMemory   int64         // data of the process that compares the trees, in bytes
	TreeCPU      time.Duration // its processor time, in whole seconds
	LowSpeed     time.Duration // a transfer under 1,000 bytes/s for so long ends; whole seconds
	ChangedFiles int           // changed files in a pull request
	ScannedSize  int64         // largest file that is scanned, in bytes; one that was larger before counts as new
	Packs        int           // packs of a repository in the cache before it is fetched anew
	CacheSize    int64         // all of the cache, in bytes; 0 is no limit
	Moment       time.Duration // a git process that runs for longer has a low priority; 0 for none
	Room         int64         // less free space than this, in bytes, is a full disk when git fails
}

// DefaultLimits suit the largest of the public repositories that were tried
// (kafka, kubernetes/ingress-nginx, bitnami/charts).
func DefaultLimits() Limits {
	return Limits{
		Memory:       2 << 30,
		FileSize:     8 << 30,
		CPU:          5 * time.Minute,
		TreeMemory:   512 << 20,
		TreeCPU:      time.Minute,
		LowSpeed:     20 * time.Second,
		ChangedFiles: 100_000,
		ScannedSize:  scan.MaxFileSize,
		Packs:        500,
		CacheSize:    20 << 30,
		Room:         16 << 20,
	}
}

// configText is the global configuration file of every git process. safe.directory
// and uploadpack are for file:// remotes, whose upload-pack reads no variables.
func configText(l Limits) []byte {
	return fmt.Appendf(nil, `[safe]
	directory = *
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[protocol]
	allow = never
[core]
	hooksPath = /dev/null
	packedGitLimit = 256m
	packedGitWindowSize = 32m
	deltaBaseCacheLimit = 64m
	bigFileThreshold = 256m
	looseCompression = 0
	safecrlf = false
[pack]
	threads = 2
[diff]
	renameLimit = 1000
[fetch]
	unpackLimit = 1
	writeCommitGraph = true
	showForcedUpdates = false
[transfer]
	credentialsInUrl = die
[http]
	followRedirects = false
	lowSpeedLimit = 1000
	lowSpeedTime = %d
`, max(1, int(l.LowSpeed/time.Second)))
}

// writeConfig stores the configuration file in dir and returns its path.
func writeConfig(dir string, l Limits) (string, error) {
	path := filepath.Join(dir, "gitconfig")
	return path, writeFile(path, configText(l))
}

// Options are what New needs.
type Options struct {
	Dir    string       // of the cache; made when missing
	Limits Limits       // DefaultLimits()
	Env    []string     // `NAME=value` for commands that use the network, such as a proxy
	Guard  egress.Guard // of hosts that are guarded
}

// Store is a cache of repositories and the git that fetches them. It is safe
// for concurrent use, and several processes may share one directory.
type Store struct {
	git    git // without a repository
	guard  egress.Guard
	config string
	dir    string

	mu    sync.Mutex
	stats Stats
	grown int64 // bytes that were fetched since the cache was measured
}

// New makes the cache directory and finds git.
func New(o Options) (*Store, error) {
	if !supported {
		return nil, errors.New("git: scanning needs Linux")
	}
	path, err := findGit()
	if err != nil {
		return nil, err
	}

	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("git: cache directory: %w", err)
	}
	for _, name := range []string{entriesName, locksName} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("git: cache directory: %w", err)
		}
	}
	config, err := writeConfig(dir, o.Limits)
	if err != nil {
		return nil, fmt.Errorf("git: configuration: %w", err)
	}

	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent"}
	return &Store{
		git:    git{path: path, limits: o.Limits, env: env, remote: o.Env},
		guard:  o.Guard,
		config: config,
		dir:    dir,
	}, nil
}

// findGit returns the path of git in PATH, and refuses one without
// `cat-file --batch-command`.
func findGit() (string, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoGit, err)
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

// Check tells whether repositories can be kept: the cache directory can be
// written. A full disk is no reason against it: the scan that meets it makes room.
func (s *Store) Check(context.Context) error {
	if _, err := os.Stat(s.config); err != nil {
		return fmt.Errorf("git: configuration: %w", err)
	}

	f, err := os.CreateTemp(s.dir, ".writable-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("git: cache directory: %w", err)
	}
	return nil
}

// Stats are counts of a Store since it was made.
type Stats struct {
	Fetches       uint64 // commands that fetch, those that failed too
	FailedFetches uint64 // those that failed
	Hits          uint64 // openings of a repository that was in the cache
	Misses        uint64 // openings that began with nothing: the first, and after a damage
	Evictions     uint64 // repositories removed to make room
}

// Stats returns the counts.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.stats
}

// shrink removes the repositories that were not used for the longest time until
// the cache has the size that to makes of its present one. Those in use stay.
func (s *Store) shrink(to func(size int64) int64) {
	type copied struct {
		*cached

		used time.Time
		size int64
	}

	var all []copied
	var total int64
	for _, dir := range s.copies("*") {
		if strings.HasPrefix(filepath.Base(dir), gonePrefix) && os.RemoveAll(dir) == nil {
			continue
		}
		if info, err := os.Stat(dir); err == nil { // or it was removed meanwhile
			c := copied{newCached(dir), info.ModTime(), treeSize(dir)}
			all = append(all, c)
			total += c.size
		}
	}

	limit := to(total)
	slices.SortFunc(all, func(a, b copied) int { return a.used.Compare(b.used) })
	for _, c := range all {
		if total <= limit {
			return
		}
		if c.remove() {
			total -= c.size
			s.count(func(st *Stats) { st.Evictions++ })
		}
	}
}

// Size returns how many bytes the cache has. It looks at every file.
func (s *Store) Size() (bytes int64) {
	return treeSize(filepath.Join(s.dir, entriesName))
}

// treeSize is the size of the files below dir, in bytes, as far as they can be
// read: others may be removing some.
func treeSize(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // go on with the others
		}
		if info, err := d.Info(); err == nil && !strings.HasSuffix(path, useName) {
			total += info.Size()
		}
		return nil
	})

	return total
}
