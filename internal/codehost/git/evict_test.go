package git_test

import (
	"context"
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

// onDisk is the size of a cache, in bytes.
func onDisk(t *testing.T, dir string) (size int64) {
	t.Helper()
	for _, path := range find(t, filepath.Join(dir, "repositories"), "*") {
		info, err := os.Stat(path)
		require.NoError(t, err)
		if info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size
}

// TestFailedScansStayWithinTheCache has scans that fail after they fetched.
func TestFailedScansStayWithinTheCache(t *testing.T) {
	t.Parallel()
	const limit = 250 << 10
	dir := t.TempDir()
	s := newStore(t, dir, func(l *git.Limits) { l.CacheSize = limit })
	for seed := range uint32(4) {
		req := request(noisy(t, seed), 1)
		ends := req.Endpoints
		req.Endpoints = func(ctx context.Context, r *git.Repo) (head, base git.Commit, err error) {
			if _, _, err = ends(ctx, r); err == nil {
				err = &scan.Failure{Code: scan.CodeBaseUnknown, Message: "m", Lasting: true}
			}
			return head, base, err
		}
		_, err := s.Open(t.Context(), req)
		var f *scan.Failure
		require.ErrorAs(t, err, &f)
		require.Equal(t, scan.CodeBaseUnknown, f.Code, "%v", f)
		require.Positive(t, onDisk(t, dir))
		require.LessOrEqual(t, onDisk(t, dir), int64(limit), "after %d scans", seed+1)
	}
	assert.Len(t, find(t, dir, "1.git"), 2, "what fits is kept")
}

// TestEntryOfAKilledScanIsMeasured has entries without a recorded size, as
// those have whose scan was killed or still runs.
func TestEntryOfAKilledScanIsMeasured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlimited := newStore(t, dir)
	for seed := range uint32(3) {
		req := request(noisy(t, seed), 1)
		ends := req.Endpoints
		req.Endpoints = func(ctx context.Context, r *git.Repo) (head, base git.Commit, err error) {
			assert.Len(t, find(t, dir, "size"), int(seed), "none is recorded while it changes")
			return ends(ctx, r)
		}
		openAdded(t, unlimited, req)
	}
	sizes := find(t, dir, "size")
	require.Len(t, sizes, 3)
	for _, path := range sizes {
		require.NoError(t, os.Remove(path))
	}
	s := newStore(t, dir, func(l *git.Limits) { l.CacheSize = 250 << 10 })
	openAdded(t, s, request(noisy(t, 3), 1))
	assert.LessOrEqual(t, onDisk(t, dir), int64(250<<10))
	assert.Len(t, find(t, dir, "1.git"), 2)
}

func TestFailedFetchLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStore(t, dir, func(l *git.Limits) { l.FileSize = 64 << 10 })
	_, err := s.Open(t.Context(), request(noisy(t, 1), 1))
	var f *scan.Failure
	require.ErrorAs(t, err, &f)
	assert.Equal(t, scan.CodeRepositoryTooLarge, f.Code, "%v", f)
	assert.Empty(t, find(t, dir, "tmp_*"))
}

// TestFullDiskMakesRoom has a git that says what it says on a full disk, and
// leaves behind what it leaves there.
func TestFullDiskMakesRoom(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("git")
	require.NoError(t, err)
	script := Script(t, fmt.Sprintf(`
case " $* " in *" fetch "*)
	echo unfinished > "$GIT_DIR/objects/pack/tmp_pack_x"
	echo "fatal: write error: No space left on device" >&2
	exit 128
esac
exec '%s' "$@"
`, path))
	for name, test := range map[string]struct {
		largest int64 // file that git may write
		kept    int
	}{
		"full":                  {1 << 60, 2}, // of five
		"only said by somebody": {1 << 20, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			good := newStore(t, dir)
			var last *Repo
			for seed := range uint32(5) {
				last = noisy(t, seed)
				openAdded(t, good, request(last, 1))
				for _, generation := range find(t, dir, "1.git") { // each entry is older than the next
					entry := filepath.Dir(generation)
					info, err := os.Stat(entry)
					require.NoError(t, err)
					past := info.ModTime().Add(-time.Hour)
					require.NoError(t, os.Chtimes(entry, past, past))
				}
			}
			limits := git.DefaultLimits()
			limits.FileSize = test.largest
			s, err := git.New(git.Options{Dir: dir, Git: script, Limits: limits})
			require.NoError(t, err)
			_, err = s.Open(t.Context(), request(last, 1))
			var f *scan.Failure
			require.ErrorAs(t, err, &f)
			assert.Equal(t, scan.CodeCacheFull, f.Code, "%v", f)
			assert.False(t, f.Lasting)
			assert.Len(t, find(t, dir, "1.git"), test.kept)
			assert.Empty(t, find(t, dir, "tmp_*"))
			assert.Equal(t, "1\n", openAdded(t, good, request(last, 1))[:2])
		})
	}
}

// TestFailureOfInit has a git that can't make a repository, which is never the
// fault of the one that is to be scanned.
func TestFailureOfInit(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("git")
	require.NoError(t, err)
	script := Script(t, fmt.Sprintf(`
case " $* " in *" init "*)
	echo "fatal: could not set 'core.filemode' to 'true'" >&2
	exit 128
esac
exec '%s' "$@"
`, path))
	for name, test := range map[string]struct {
		room int64 // that the disk must have
		code string
	}{
		"on a disk with room": {0, scan.CodeScanFailed},
		"on a full disk":      {1 << 60, scan.CodeCacheFull},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := git.DefaultLimits()
			limits.Room = test.room
			s, err := git.New(git.Options{Dir: t.TempDir(), Git: script, Limits: limits})
			require.NoError(t, err)
			_, err = s.Open(t.Context(), request(noisy(t, 1), 1))
			var f *scan.Failure
			require.ErrorAs(t, err, &f)
			assert.Equal(t, test.code, f.Code, "%v", f)
			assert.False(t, f.Lasting)
		})
	}
}
