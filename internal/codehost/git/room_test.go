package git_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/scan"
)

// noisy makes a repository whose pull request has a tree of some 100 KiB that
// doesn't compress, another one for each seed.
func noisy(t *testing.T, seed uint32) *Repo {
	t.Helper()
	r := New(t)
	state := seed
	file := func(name, text string) Entry {
		return Entry{Mode: "100644", Name: name, OID: r.Object("blob", []byte(text))}
	}

	entries := []Entry{file("a", "0\n1\n")}
	b := file("b", "x\n")
	for i := range 500 {
		name := fmt.Appendf(nil, "b%03d", i)
		for range 200 {
			state = state*1664525 + 1013904223
			name = append(name, '0'+byte(state>>24)%200)
		}
		b.Name = string(name)
		entries = append(entries, b)
	}

	base := r.Commit(Text("a", "0\n"))
	r.Ref("refs/heads/main", base)
	r.Pull(1, r.CommitTree(r.Object("tree", TreeData(entries...)), base))
	return r
}

// The tests of what is removed can't be parallel: a process that another test
// starts has the lock of a copy for an instant, which keeps it.

// TestCacheStaysWithinItsLimit has scans that succeed and scans that fail after
// they fetched.
func TestCacheStaysWithinItsLimit(t *testing.T) {
	const limit = 250 << 10
	for name, fails := range map[string]bool{"complete": false, "failed": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := newStore(t, dir, func(l *git.Limits) { l.CacheSize = limit })
			leftover := filepath.Join(dir, "repositories", ".gone-x")
			require.NoError(t, os.MkdirAll(leftover, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(leftover, "pack"), make([]byte, limit), 0o600))
			require.EqualValues(t, limit, s.Size())
			var first scan.Target
			for seed := range uint32(5) {
				r := noisy(t, seed)
				p := request(r, 1)
				if fails {
					head := r.Git("rev-parse", "refs/pull/1/head")
					p.Commits = finding.Commits{Head: head, Base: head}
				}
				if seed == 0 {
					first = p
				}

				c, err := s.Open(t.Context(), p)
				require.Equal(t, fails, err != nil, "%v", err)
				if err == nil {
					require.NoError(t, c.Close())
				}
				require.Positive(t, s.Size())
				require.LessOrEqual(t, s.Size(), int64(limit), "after %d scans", seed+1)
			}
			assert.NoDirExists(t, leftover)
			assert.EqualValues(t, 3, s.Stats().Evictions, "what fits is kept")
			if !fails {
				assert.NotEmpty(t, openAdded(t, s, first), "what was removed is fetched again")
			}
		})
	}
}

// A copy that is read is not removed, however old it is.
func TestCopiesInUseAreKept(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, dir, func(l *git.Limits) { l.CacheSize = 250 << 10 })
	p := request(noisy(t, 0), 1)
	held, err := s.Open(t.Context(), p)
	require.NoError(t, err)
	past := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(copies(t, dir)[0], past, past))

	for seed := range uint32(3) {
		openAdded(t, s, request(noisy(t, seed+1), 1))
	}

	assert.Len(t, copies(t, dir), 2)
	assert.NotEmpty(t, added(t, held))
	require.NoError(t, held.Close())
}

func TestFailedFetchLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStore(t, dir, func(l *git.Limits) { l.FileSize = 64 << 10 })
	p := request(noisy(t, 1), 1)
	_, err := s.Open(t.Context(), p)
	var f *scan.Failure
	require.ErrorAs(t, err, &f)
	assert.Equal(t, scan.CodeRepositoryTooLarge, f.Code, "%v", f)
	assert.Empty(t, find(t, dir, "tmp_*"))
}

// failGit puts a git into PATH that does something else for one verb, and fails.
func failGit(t *testing.T, verb, instead string) {
	t.Helper()
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	text := "case \" $* \" in *\" " + verb + " \"*) " + instead + "; exit 128;; esac\nexec '" + git + "' \"$@\"\n"
	script := Script(t, text)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(script, filepath.Join(dir, "git")))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// TestFullDiskMakesRoom has a git that says what it says on a full disk, and
// leaves behind what it leaves there. A server can have it say so, too.
func TestFullDiskMakesRoom(t *testing.T) {
	dir := t.TempDir()
	good := newStore(t, dir)
	var last *Repo

	for seed := range uint32(5) {
		last = noisy(t, seed)
		openAdded(t, good, request(last, 1))
		for _, repo := range copies(t, dir) { // each is older than the next
			info, err := os.Stat(repo)
			require.NoError(t, err)
			past := info.ModTime().Add(-time.Hour)
			require.NoError(t, os.Chtimes(repo, past, past))
		}
	}

	failGit(t, "fetch",
		`echo unfinished > "$GIT_DIR/objects/pack/tmp_pack_x"; echo "fatal: write error: No space left on device" >&2`)
	p := request(last, 1)
	for _, test := range []struct {
		file int64 // that git may write: with less than this, the disk is full
		code string
		kept int
	}{
		{1 << 20, scan.CodeHostUnreachable, 5},
		{1 << 60, scan.CodeCacheFull, 2},
	} {
		s := newStore(t, dir, func(l *git.Limits) { l.FileSize = test.file })
		_, err := s.Open(t.Context(), p)
		var f *scan.Failure
		require.ErrorAs(t, err, &f)
		assert.Equal(t, test.code, f.Code, "%v", f)
		assert.False(t, f.Lasting)
		assert.Len(t, copies(t, dir), test.kept)
		assert.Empty(t, find(t, dir, "tmp_*"))
	}

	assert.Equal(t, "1\n", openAdded(t, good, request(last, 1))[:2])
}

// TestFailureOfInit has a git that can't make a repository, which is never the
// fault of the one that is to be scanned.
func TestFailureOfInit(t *testing.T) {
	p := request(noisy(t, 1), 1)
	failGit(t, "init", `echo "fatal: could not set 'core.filemode' to 'true'" >&2`)
	for code, room := range map[string]int64{scan.CodeScanFailed: 0, scan.CodeCacheFull: 1 << 60} {
		s := newStore(t, t.TempDir(), func(l *git.Limits) { l.Room = room })
		_, err := s.Open(t.Context(), p)
		var f *scan.Failure
		require.ErrorAs(t, err, &f)
		assert.Equal(t, code, f.Code, "%v", f)
		assert.False(t, f.Lasting)
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	r := noisy(t, 1)
	s := newStore(t, t.TempDir())
	assert.Zero(t, s.Size())
	openAdded(t, s, request(r, 1))
	first := s.Stats()
	assert.EqualValues(t, 1, first.Misses)
	assert.Zero(t, first.Hits)
	assert.Greater(t, s.Size(), int64(90<<10), "the tree has some 100 KiB")
	assert.NotZero(t, first.Fetches)

	openAdded(t, s, request(r, 1))
	again := s.Stats()
	assert.EqualValues(t, 1, again.Hits)
	assert.EqualValues(t, 1, again.Misses)
	assert.Greater(t, again.Fetches, first.Fetches)

	gone := request(r, 1)
	gone.Host.URL += "-gone"
	_, err := s.Open(t.Context(), gone)
	require.Error(t, err)
	assert.NotZero(t, s.Stats().FailedFetches)
}
