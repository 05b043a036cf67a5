package git_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
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
	"github.com/prwarden/prwarden/internal/organization"
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

func request(r *Repo, number int) scan.Target {
	host := organization.Host{Kind: organization.KindGit, URL: r.URL()}.WithDefaults()
	return scan.Target{Organization: "acme", Host: host, Repo: Name, Number: int32(number)}
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

func openAdded(t *testing.T, s *git.Store, p scan.Target) string {
	t.Helper()
	c, err := s.Open(t.Context(), p)
	require.NoError(t, err)
	defer c.Close()
	return added(t, c)
}

// copies are the repositories in a cache.
func copies(t *testing.T, dir string) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(dir, "repositories", "*"))
	require.NoError(t, err)
	return dirs
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
			p := request(r, 1)
			c, err := s.Open(t.Context(), p)
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
			onlyOne(t, s, p, dir)
		})
	}
}

func TestLeftoversOfAKilledGit(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	base, _ := r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	s := newStore(t, dir)
	openAdded(t, s, request(r, 1))
	repo := copies(t, dir)[0]
	leftovers := []string{
		"HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock", "refs/prwarden/head/ref.lock",
		"objects/pack/tmp_pack_x", "objects/pack/tmp_idx_x",
		"objects/info/commit-graphs/commit-graph-chain.lock", "objects/tmp_objdir-x/pack/y",
	}

	for _, path := range leftovers {
		path = filepath.Join(repo, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	}

	trees := find(t, filepath.Join(repo, "objects"), strings.Repeat("?", 38))
	require.Len(t, trees, 2, "of the comparison")
	past := time.Now().Add(-25 * time.Hour)
	for _, tree := range trees {
		require.NoError(t, os.Chtimes(tree, past, past))
	}

	r.Pull(1, r.Commit(Text("a", "0\n2\n"), base))
	assert.Equal(t, "2\n", openAdded(t, s, request(r, 1)))
	assert.Len(t, find(t, filepath.Join(repo, "objects"), strings.Repeat("?", 38)), 2, "the old ones went")
	for _, path := range leftovers {
		assert.NoFileExists(t, filepath.Join(repo, path))
	}

	assert.DirExists(t, repo, "the copy is kept")
}

// A pull request that nobody can read does not take the copy from the others.
func TestInvalidPullRequestKeepsAFreshCopy(t *testing.T) {
	t.Parallel()
	r, s := New(t), newStore(t, t.TempDir())
	base, _ := r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	tree := r.Object("tree", TreeData(Entry{Mode: "100644", Name: "..", OID: r.Object("blob", []byte("x\n"))}))
	r.Pull(2, r.CommitTree(tree, base))

	p := request(r, 2)
	_, err := s.Open(t.Context(), p)
	var f *scan.Failure
	require.ErrorAs(t, err, &f)
	assert.Equal(t, scan.CodeRepositoryInvalid, f.Code, "%v", f)
	assert.Equal(t, "1\n", openAdded(t, s, request(r, 1)))
	assert.EqualValues(t, 1, s.Stats().Misses)
}

func TestReadersKeepACondemnedCopy(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	s := newStore(t, dir)
	p := request(r, 1)
	reader, err := s.Open(t.Context(), p)
	require.NoError(t, err)

	require.NoError(t, os.WriteFile(filepath.Join(copies(t, dir)[0], "prwarden-condemned"), nil, 0o600))
	assert.Equal(t, "1\n", openAdded(t, s, p))
	assert.Len(t, copies(t, dir), 2)
	assert.Equal(t, "1\n", added(t, reader))

	require.NoError(t, reader.Close())
	require.NoError(t, reader.Close(), "twice")
	onlyOne(t, s, p, dir)
}

// onlyOne opens a repository until there is one copy of it. A process that another
// test starts has the lock of a copy for an instant, which keeps it.
func onlyOne(t *testing.T, s *git.Store, p scan.Target, dir string) {
	t.Helper()
	require.Eventually(t, func() bool {
		openAdded(t, s, p)
		return len(copies(t, dir)) == 1
	}, time.Minute, time.Millisecond)
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

	assert.Len(t, copies(t, dir), 3)
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
	assert.Len(t, copies(t, dir), 1)
}

// A repository in many packs is slow to read, so it is fetched anew.
func TestManyPacks(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	base := r.Commit(Text("a", "0\n"))
	r.Ref("refs/heads/main", base)
	s := newStore(t, dir, func(l *git.Limits) { l.Packs = 4 })

	for n := 1; n <= 10; n++ {
		r.Pull(n, r.Commit(Text("a", fmt.Sprintf("0\n%d\n", n)), base))
		assert.Equal(t, fmt.Sprintf("%d\n", n), openAdded(t, s, request(r, n)))
		assert.LessOrEqual(t, len(find(t, dir, "*.pack")), 6)
	}

	assert.Greater(t, s.Stats().Misses, uint64(1))
}

func TestCanceledWhileAnotherScanFetches(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 9)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		asked <- struct{}{}
		<-q.Context().Done()
	}))
	t.Cleanup(server.Close)
	s := newStore(t, t.TempDir(), func(l *git.Limits) { l.LowSpeed = time.Hour })
	p := request(New(t), 1)
	p.Host.URL = server.URL + "/r.git"
	first, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Open(first, p)
		done <- err
	}()
	<-asked

	second, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Open(second, p)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	stop()
	require.ErrorIs(t, <-done, context.Canceled)
	assert.Empty(t, asked, "the second scan fetched nothing")
}
