package git_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// past is the commits of a repository with pull request 1, which was begun at
// second. With first as the merge base of main and head the line of second
// would count as added by the pull request. git reads main and head themselves
// as objects, and third and begun from a commit-graph.
type past struct{ first, second, third, main, begun, head string }

func history(r *Repo) (p past) {
	p.first = r.Commit(Text("a", "0\n"))
	p.second = r.Commit(Text("a", "0\n", "second", "s\n"), p.first)
	p.third = r.Commit(Text("a", "0\n", "second", "s\n", "third", "t\n"), p.second)
	p.main = r.Commit(Text("a", "0\n", "second", "s\n", "third", "tt\n"), p.third)
	p.begun = r.Commit(Text("a", "0\n", "second", "s\n", "begun", "b\n"), p.second)
	p.head = r.Commit(Text("a", "0\n1\n", "second", "s\n"), p.begun)
	r.Ref("refs/heads/main", p.main)
	r.Pull(1, p.head)
	return p
}

// setParent changes the first parent of a commit in a commit-graph file.
func setParent(t *testing.T, path, commit, parent string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	chunk := func(id string) []byte {
		at := bytes.Index(data[:200], []byte(id))
		require.Positive(t, at, "no chunk %s", id)
		return data[binary.BigEndian.Uint64(data[at+4:]):binary.BigEndian.Uint64(data[at+16:])]
	}
	names, commits := chunk("OIDL"), chunk("CDAT")
	index := func(name string) int {
		raw, err := hex.DecodeString(name)
		require.NoError(t, err)
		n := len(names) / 20
		i := sort.Search(n, func(i int) bool { return bytes.Compare(names[i*20:i*20+20], raw) >= 0 })
		require.Less(t, i, n)
		return i
	}
	binary.BigEndian.PutUint32(commits[index(commit)*36+20:], uint32(index(parent)))
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// graphFile is the only graph of the only generation below dir.
func graphFile(t *testing.T, dir string) string {
	t.Helper()
	paths := find(t, dir, "graph-*.graph")
	require.Len(t, paths, 1)
	return paths[0]
}

// What git believes of a wrong commit-graph, a scan must not.
func TestWrongCommitGraph(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	p := history(r)
	s := newStore(t, dir)
	require.Equal(t, "1\n", openAdded(t, s, request(r, 1)))
	graph := graphFile(t, dir)
	setParent(t, graph, p.third, p.first)
	setParent(t, graph, p.begun, p.first)

	// The danger is real: git takes another merge base.
	out, err := exec.CommandContext(
		t.Context(), "git", "--git-dir", find(t, dir, "*.git")[0], "merge-base", p.main, p.head,
	).Output()
	require.NoError(t, err)
	require.Equal(t, p.first, strings.TrimSpace(string(out)))

	assert.Equal(t, "1\n", openAdded(t, s, request(r, 1)))
	sound := graphFile(t, dir)
	require.NoError(
		t,
		exec.CommandContext(t.Context(), "git", "--git-dir", find(t, dir, "*.git")[0], "commit-graph", "verify").Run(),
		"a sound graph replaces it",
	)
	before, err := os.Stat(sound)
	require.NoError(t, err)
	assert.Equal(t, "1\n", openAdded(t, s, request(r, 1)))
	after, err := os.Stat(sound)
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime(), "and is left alone")
	assert.Len(t, find(t, dir, "1.git"), 1, "nothing was fetched again")
}

// Whatever is in the place of the commit-graph, a scan neither fails nor
// changes, and afterwards the graph is whole.
func TestDamagedCommitGraph(t *testing.T) {
	t.Parallel()
	overwrite := func(pattern, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := find(t, dir, pattern)[0]
			require.NoError(t, os.Chmod(path, 0o600))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
	}
	tests := map[string]func(t *testing.T, dir string){
		"garbage":       overwrite("graph-*.graph", strings.Repeat("CGPH garbage", 100)),
		"list emptied":  overwrite("commit-graph-chain", ""),
		"list garbage":  overwrite("commit-graph-chain", "../../garbage\n"),
		"graph removed": func(t *testing.T, dir string) { require.NoError(t, os.Remove(graphFile(t, dir))) },
		"list removed": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(find(t, dir, "commit-graph-chain")[0]))
		},
		"in one file": func(t *testing.T, dir string) {
			data, err := os.ReadFile(graphFile(t, dir))
			require.NoError(t, err)
			data[len(data)/2] ^= 1
			path := filepath.Join(find(t, dir, "*.git")[0], "objects", "info", "commit-graph")
			require.NoError(t, os.WriteFile(path, data, 0o600))
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := New(t), t.TempDir()
			history(r)
			s := newStore(t, dir)
			require.Equal(t, "1\n", openAdded(t, s, request(r, 1)))
			damage(t, dir)
			assert.Equal(t, "1\n", openAdded(t, s, request(r, 1)))
			git := exec.CommandContext(t.Context(), "git", "--git-dir", find(t, dir, "*.git")[0], "commit-graph", "verify")
			out, err := git.CombinedOutput()
			assert.NoError(t, err, "%s", out)
			assert.NotEmpty(t, readFile(t, find(t, dir, "commit-graph-chain")[0]))
			assert.Len(t, find(t, dir, "1.git"), 1, "nothing was fetched again")
		})
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// New commits are added to the graph, whether it is read meanwhile or not.
func TestCommitGraphGrows(t *testing.T) {
	t.Parallel()
	r, dir := New(t), t.TempDir()
	p := history(r)
	s := newStore(t, dir)
	c, err := s.Open(t.Context(), request(r, 1))
	require.NoError(t, err)
	r.Pull(2, r.Commit(Text("a", "0\n2\n", "second", "s\n", "third", "tt\n"), p.main))
	assert.Equal(t, "2\n", openAdded(t, s, request(r, 2)))
	assert.Equal(t, "1\n", added(t, c))
	require.NoError(t, c.Close())
	var commits int
	for _, path := range find(t, dir, "graph-*.graph") {
		data := readFile(t, path)
		at := bytes.Index(data[:200], []byte("OIDL"))
		commits += int(binary.BigEndian.Uint64(data[at+16:])-binary.BigEndian.Uint64(data[at+4:])) / 20
	}
	assert.Equal(t, 7, commits)
}
