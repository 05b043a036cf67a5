package git_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/scan"
)

func newStore(t *testing.T, dir string, change ...func(*git.Limits)) *git.Store {
	t.Helper()
	limits := git.DefaultLimits()
	for _, c := range change {
		c(&limits)
	}
	s, err := git.New(git.Options{Dir: dir, Limits: limits})
	require.NoError(t, err)
	return s
}

// request is for a pull request whose base is the default branch.
func request(r *Repo, number int) git.Request {
	return git.Request{
		Organization: "acme", Repo: Name, Remote: git.Remote{URL: "file://" + r.Dir},
		Refs: []string{"HEAD", fmt.Sprintf("refs/pull/%d/head", number)},
		Endpoints: func(ctx context.Context, r *git.Repo) (head, base git.Commit, err error) {
			if base, _, err = r.Ref(ctx, 0); err == nil {
				head, _, err = r.Ref(ctx, 1)
			}
			return head, base, err
		},
	}
}

// added is the text that a change adds, all files together.
func added(t *testing.T, c scan.Change) string {
	t.Helper()
	var b strings.Builder
	for file, err := range c.Files(t.Context()) {
		require.NoError(t, err)
		lines := strings.Split(string(file.Content), "\n")
		for _, span := range file.Added {
			fmt.Fprintln(&b, strings.Join(lines[span.First-1:span.Last], "\n"))
		}
	}
	return b.String()
}

func openAdded(t *testing.T, s *git.Store, req git.Request) string {
	t.Helper()
	c, err := s.Open(t.Context(), req)
	require.NoError(t, err)
	defer c.Close()
	return added(t, c)
}

// find are the files below dir whose path matches a pattern of filepath.Match
// from the right.
func find(t *testing.T, dir, pattern string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ok, _ := filepath.Match(pattern, d.Name()); ok {
			found = append(found, path)
		}
		return nil
	}))
	return found
}

func TestDamagedCacheIsFetchedAgain(t *testing.T) {
	t.Parallel()
	overwrite := func(pattern, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			paths := find(t, dir, pattern)
			require.NotEmpty(t, paths)
			for _, path := range paths {
				require.NoError(t, os.Chmod(path, 0o600))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
		}
	}
	tests := map[string]func(t *testing.T, dir string){
		"pack emptied":          overwrite("*.pack", ""),
		"pack is garbage":       overwrite("*.pack", strings.Repeat("garbage", 100)),
		"index emptied":         overwrite("*.idx", ""),
		"HEAD emptied":          overwrite("HEAD", ""),
		"configuration":         overwrite("config", "[garbage"),
		"ref emptied":           overwrite("ref", ""),
		"ref to nothing":        overwrite("ref", strings.Repeat("1", 40)+"\n"),
		"commit-graph":          overwrite("graph-*.graph", "CGPH garbage"),
		"trees of a comparison": overwrite("??????????????????????????????????????", ""),
		"end of the pack": func(t *testing.T, dir string) {
			for _, path := range find(t, dir, "*.pack") {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				require.NoError(t, os.Chmod(path, 0o600))
				require.NoError(t, os.WriteFile(path, data[:len(data)/2], 0o600))
			}
		},
		"content of the packs": func(t *testing.T, dir string) {
			for _, path := range find(t, dir, "*.pack") {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				for i := 20; i < len(data)-20; i++ {
					data[i] ^= 0x55
				}
				require.NoError(t, os.Chmod(path, 0o600))
				require.NoError(t, os.WriteFile(path, data, 0o600))
			}
		},
		"packs removed": func(t *testing.T, dir string) {
			for _, path := range find(t, dir, "pack-*") {
				require.NoError(t, os.Remove(path))
			}
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := New(t), t.TempDir()
			r.Change(Text("a", "0\n", "b", "0\n"), Text("a", "0\n1\n", "b", "0\n2\n"))
			s := newStore(t, dir)
			require.Equal(t, "1\n2\n", openAdded(t, s, request(r, 1)))
			damage(t, filepath.Join(dir, "repositories"))
			// Damage that shows only while files are read ends one scan, in a
			// way that the queue tries again.
			c, err := s.Open(t.Context(), request(r, 1))
			require.NoError(t, err)
			for _, fileErr := range c.Files(t.Context()) {
				if fileErr != nil {
					var f *scan.Failure
					require.ErrorAs(t, fileErr, &f)
					assert.False(t, f.Lasting, "%v", f)
				}
			}
			require.NoError(t, c.Close())
			assert.Equal(t, "1\n2\n", openAdded(t, s, request(r, 1)))
			assert.Len(t, find(t, dir, "*.git"), 1, "the damaged generation is removed")
		})
	}
}

func TestLeftoversOfAKilledGit(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	base, _ := r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	s := newStore(t, dir)
	openAdded(t, s, request(r, 1))
	gen := find(t, dir, "1.git")[0]
	leftovers := []string{
		"HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock", "refs/prwarden/in/1/ref.lock",
		"objects/pack/tmp_pack_x", "objects/pack/tmp_idx_x",
		"objects/info/commit-graphs/commit-graph-chain.lock", "objects/tmp_objdir-x/pack/y", "objects/00/tmp_obj_x",
	}
	for _, path := range leftovers {
		path = filepath.Join(gen, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	r.Pull(1, r.Commit(Text("a", "0\n2\n"), base))
	assert.Equal(t, "2\n", openAdded(t, s, request(r, 1)))
	for _, path := range leftovers {
		assert.NoFileExists(t, filepath.Join(gen, path))
	}
	assert.DirExists(t, gen, "the generation is kept")
}

func TestReadersKeepTheirGeneration(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	s := newStore(t, dir)
	reader, err := s.Open(t.Context(), request(r, 1))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(find(t, dir, "1.git")[0], "prwarden-condemned"), nil, 0o600))
	assert.Equal(t, "1\n", openAdded(t, s, request(r, 1)))
	assert.Len(t, find(t, dir, "*.git"), 2)
	assert.Equal(t, "1\n", added(t, reader))
	require.NoError(t, reader.Close())
	require.NoError(t, reader.Close(), "twice")
	openAdded(t, s, request(r, 1))
	assert.Len(t, find(t, dir, "*.git"), 1)
}

func TestOrganizationsShareNothing(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	s := newStore(t, dir)
	for _, organization := range []string{"acme", "other", "../../evil"} {
		req := request(r, 1)
		req.Organization = organization
		assert.Equal(t, "1\n", openAdded(t, s, req))
	}
	entries, err := os.ReadDir(filepath.Join(dir, "repositories"))
	require.NoError(t, err)
	assert.Len(t, entries, 3)
}

func TestManyScansAtOnce(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	base := r.Commit(Text("a", "0\n"))
	r.Ref("refs/heads/main", base)
	const pulls = 8
	for n := range pulls {
		r.Pull(n+1, r.Commit(Text("a", fmt.Sprintf("0\n%d\n", n+1)), base))
	}
	stores := []*git.Store{newStore(t, dir), newStore(t, dir)} // as two processes have
	var wait sync.WaitGroup
	for n := range 2 * pulls {
		wait.Go(func() {
			number := n%pulls + 1
			assert.Equal(t, fmt.Sprintf("%d\n", number), openAdded(t, stores[n%2], request(r, number)))
		})
	}
	wait.Wait()
	assert.Len(t, find(t, dir, "*.git"), 1)
}

func TestPacksAreCombined(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	base := r.Commit(Text("a", "0\n"))
	r.Ref("refs/heads/main", base)
	s := newStore(t, dir, func(l *git.Limits) { l.Packs = 4 })
	var first scan.Change
	for n := 1; n <= 10; n++ {
		r.Pull(n, r.Commit(Text("a", fmt.Sprintf("0\n%d\n", n)), base))
		c, err := s.Open(t.Context(), request(r, n))
		require.NoError(t, err)
		if first == nil {
			first = c
			continue
		}
		assert.Equal(t, fmt.Sprintf("%d\n", n), added(t, c))
		require.NoError(t, c.Close())
		assert.LessOrEqual(t, len(find(t, dir, "*.pack")), 5)
	}
	assert.Equal(t, "1\n", added(t, first), "a reader goes on over combined packs")
	require.NoError(t, first.Close())
	assert.Equal(t, "3\n", openAdded(t, s, request(r, 3)))
	assert.Len(t, find(t, dir, "1.git"), 1, "nothing was fetched anew")
}

func TestEviction(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var repos []*Repo
	for i := range 4 {
		r := New(t)
		noise := make([]byte, 200<<10)
		for j := range noise {
			noise[j] = byte((j*j + i) >> 3)
		}
		r.Change(Text("a", "0\n"), Text("a", string(bytes.ToValidUTF8(noise, []byte("?")))))
		repos = append(repos, r)
	}
	unlimited := newStore(t, dir)
	openAdded(t, unlimited, request(repos[0], 1))
	data, err := os.ReadFile(find(t, dir, "size")[0])
	require.NoError(t, err)
	var size int64
	_, err = fmt.Sscan(string(data), &size)
	require.NoError(t, err)

	s := newStore(t, dir, func(l *git.Limits) { l.CacheSize = size * 5 / 2 })
	held, err := s.Open(t.Context(), request(repos[0], 1)) // the oldest, but in use
	require.NoError(t, err)
	past := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Dir(find(t, dir, "1.git")[0]), past, past))
	for _, r := range repos[1:] {
		openAdded(t, s, request(r, 1))
	}
	assert.Len(t, find(t, dir, "1.git"), 2)
	assert.NotEmpty(t, added(t, held))
	require.NoError(t, held.Close())
	assert.NotEmpty(t, openAdded(t, s, request(repos[1], 1)), "what was evicted is fetched again")
}

func TestCanceledWhileAnotherScanFetches(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	s := newStore(t, dir)
	req := request(r, 1)
	inside, leave := make(chan struct{}), make(chan struct{})
	ends := req.Endpoints
	req.Endpoints = func(ctx context.Context, r *git.Repo) (head, base git.Commit, err error) {
		close(inside)
		<-leave
		return ends(ctx, r)
	}
	done := make(chan error)
	go func() {
		c, err := s.Open(t.Context(), req)
		if err == nil {
			err = c.Close()
		}
		done <- err
	}()
	select {
	case <-inside:
	case err := <-done:
		require.FailNow(t, "ended before its ends were asked for", "%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Open(ctx, request(r, 1))
	assert.ErrorIs(t, err, context.Canceled)
	close(leave)
	assert.NoError(t, <-done)
}
