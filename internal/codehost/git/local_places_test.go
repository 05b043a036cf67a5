package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/scan"
)

func TestLocalPlaces(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.commit("a.txt", "1\n", "dir/b.txt", "1\n", "dir2/c.txt", "1\n")
	d.write("a.txt", "2\n", "dir/b.txt", "2\n", "dir2/c.txt", "2\n")
	all := []string{"a.txt:1 2", "dir/b.txt:1 2", "dir2/c.txt:1 2"}
	at := func(path string, only bool) func(*git.LocalOptions) {
		return func(o *git.LocalOptions) { o.Path, o.Only = filepath.Join(d.dir, path), only }
	}

	assert.Equal(t, all, changes(t, d.local(at("dir", false)).Worktree()))
	assert.Equal(t, all, changes(t, d.local(at(".", true)).Worktree()))
	assert.Equal(t, all[1:2], changes(t, d.local(at("dir", true)).Worktree()))
	assert.Equal(t, all[:1], changes(t, d.local(at("a.txt", true)).Worktree()))
	assert.Equal(t, d.dir, filepath.FromSlash(d.local(at("dir", true)).Top()))

	// A link to a file is one itself.
	for link, to := range map[string]string{"link": "a.txt", "dir/link": "../a.txt", "to-dir": "dir"} {
		require.NoError(t, os.Symlink(to, filepath.Join(d.dir, link)))
	}
	assert.Equal(t, []string{"link"}, paths(t, d.local(at("link", true)).Worktree()))
	assert.Equal(t, []string{"dir/link"}, paths(t, d.local(at("to-dir/link", true)).Worktree()))
	assert.Equal(t, []string{"dir/b.txt", "dir/link"}, paths(t, d.local(at("to-dir", true)).Worktree()))
	for _, link := range []string{"link", "dir/link", "to-dir"} {
		require.NoError(t, os.Remove(filepath.Join(d.dir, link)))
	}

	// Another work tree of the repository.
	other := filepath.Join(filepath.Dir(d.dir), "other")
	d.git("worktree", "add", "--quiet", other)
	require.NoError(t, os.WriteFile(filepath.Join(other, "a.txt"), []byte("3\n"), 0o644))
	assert.Equal(t, []string{"a.txt:1 3"}, changes(t, d.local(func(o *git.LocalOptions) { o.Path = other }).Worktree()))

	// What git tells hooks counts: here that another index is going to be committed.
	index := filepath.Join(filepath.Dir(d.dir), "next-index")
	d.env = append(
		d.env, "GIT_INDEX_FILE="+index, "GIT_DIR="+filepath.Join(d.dir, ".git"), "GIT_WORK_TREE="+d.dir,
		"GIT_EXTERNAL_DIFF=false",
	)

	d.git("read-tree", "HEAD")
	d.git("add", "dir2")
	assert.Equal(t, all[2:], changes(t, d.local().Staged()))
	assert.Equal(t, all, changes(t, d.local().Worktree()))
}

// A work tree may be far from its repository.
func TestLocalWorkTreeElsewhere(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func(d *desk, tree string){
		"variable":      func(d *desk, tree string) { d.env = append(d.env, "GIT_WORK_TREE="+tree) },
		"configuration": func(d *desk, tree string) { d.git("config", "core.worktree", tree) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.commit("a.txt", "1\n", "b.txt", "1\n")
			tree := filepath.Join(filepath.Dir(d.dir), "tree")
			require.NoError(t, os.Mkdir(tree, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(tree, "a.txt"), []byte("2\n"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(tree, "b.txt"), []byte("1\n"), 0o644))
			tell(d, tree)
			assert.Equal(t, []string{"a.txt:1 2"}, changes(t, d.local().Worktree()))
			d.git("add", "a.txt")
			assert.Equal(t, []string{"a.txt:1 2"}, changes(t, d.local().Staged()))
			assert.Equal(t, tree, filepath.FromSlash(d.local().Top()))
		})
	}
}

func TestLocalRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.commit("a.txt", "1\n")
	bare := filepath.Join(t.TempDir(), "bare.git")
	d.git("clone", "--quiet", "--bare", ".", bare)
	other := filepath.Join(t.TempDir(), "sha256")
	d.git("init", "--quiet", "--object-format=sha256", other)
	outside := t.TempDir()

	_, err := d.find(func(o *git.LocalOptions) { o.Path = outside })
	require.ErrorIs(t, err, git.ErrNoRepository)
	_, err = d.find(func(o *git.LocalOptions) { o.Path = other })
	require.ErrorContains(t, err, "sha1")
	_, err = d.find(func(o *git.LocalOptions) { o.Path, o.Only = bare, true })
	require.ErrorIs(t, err, git.ErrBare)

	inBare := d.local(func(o *git.LocalOptions) { o.Path = bare })
	for _, source := range []scan.Source{inBare.Worktree(), inBare.Staged()} {
		_, err = source.Open(t.Context(), scan.Target{})
		require.ErrorIs(t, err, git.ErrBare)
	}

	assert.Empty(t, changes(t, inBare.Commits("main", "main")))
}

func TestLocalClones(t *testing.T) {
	t.Parallel()
	origin := newDesk(t)
	origin.commit("a.txt", "1\n", "long.txt", numbers(10))
	origin.commit("a.txt", "1\n2\n", "moved.txt", numbers(10)+"x\n")
	origin.git("config", "uploadpack.allowFilter", "true")
	clone := func(args ...string) *desk {
		d := &desk{t: t, dir: filepath.Join(t.TempDir(), "clone"), env: origin.env}
		origin.git(append(append([]string{"clone", "--quiet"}, args...), "file://"+origin.dir, d.dir)...)
		return d
	}

	shallow := clone("--depth=1")
	shallow.write("a.txt", "1\n2\n3\n")
	assert.True(t, shallow.local().Shallow())
	assert.False(t, origin.local().Shallow())
	assert.Equal(t, []string{"a.txt:3 3"}, changes(t, shallow.local().Worktree()))
	_, err := shallow.local().Commits("HEAD~1", "HEAD").Open(t.Context(), scan.Target{})
	var ref *git.RefError
	require.ErrorAs(t, err, &ref)

	borrowed := clone("--shared")
	assert.Equal(
		t, []string{"a.txt:2 2", "moved.txt:1 line number 0"},
		changes(t, borrowed.local().Commits("HEAD~1", "HEAD"))[:2],
	)

	// A partial clone is not completed behind its owner's back.
	partial := clone("--filter=blob:none", "--no-checkout")
	_, err = partial.local().Commits("HEAD~1", "HEAD").Open(t.Context(), scan.Target{})
	var failure *scan.Failure
	require.ErrorAs(t, err, &failure)
	assert.Contains(t, failure.Message, "lacks")
}

func TestLocalFilesThatCanNotBeRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.commit("a.txt", "1\n")
	require.NoError(t, os.Remove(filepath.Join(d.dir, "a.txt")))
	fifo := exec.CommandContext(t.Context(), "mkfifo", filepath.Join(d.dir, "a.txt"))
	require.NoError(t, fifo.Run())
	d.write("b.txt", "1\n")
	var skipped []string
	own := d.local(func(o *git.LocalOptions) {
		o.Skipped = func(path string, err error) { skipped = append(skipped, path+": "+err.Error()) }
	})

	assert.Equal(t, []string{"b.txt:1 1"}, changes(t, own.Worktree()))
	require.Len(t, skipped, 1)
	assert.Contains(t, skipped[0], "a.txt: it is no regular file")
}

func TestStagedFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("rules", "text\n", "dir/rules", "x")
	require.NoError(t, os.Symlink("rules", filepath.Join(d.dir, "link")))
	d.git("add", "--all")
	l := d.local()

	for path, want := range map[string]string{"rules": "text", "none": "", "dir": "", "link": ""} {
		data, err := l.StagedFile(t.Context(), path, 3)
		require.NoError(t, err, path)
		assert.Equal(t, want, string(data), path)
	}

	oid := d.git("rev-parse", ":rules")
	require.NoError(t, os.Remove(filepath.Join(d.dir, ".git", "objects", oid[:2], oid[2:])))
	_, err := l.StagedFile(t.Context(), "rules", 3)
	assert.Error(t, err, "a missing blob is not a missing file")
}

// paths are those of the files of a change.
func paths(t *testing.T, source scan.Source) (all []string) {
	t.Helper()
	c, err := source.Open(t.Context(), scan.Target{})
	require.NoError(t, err)
	for f, err := range c.Files(t.Context()) {
		require.NoError(t, err)
		all = append(all, f.Path)
	}
	require.NoError(t, c.Close())

	return all
}
