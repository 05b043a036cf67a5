package git_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// desk is a repository with a work tree, as a person has it.
type desk struct {
	t   *testing.T
	dir string
	env []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	d := &desk{t: t, dir: filepath.Join(dir, "work")}
	require.NoError(t, os.Mkdir(d.dir, 0o755))
	d.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	d.git("init", "--quiet", "--template=", "--initial-branch=main", ".")
	// Newer versions of git do it in the background after each commit.
	d.git("config", "--global", "maintenance.auto", "false")
	d.git("config", "--global", "gc.auto", "0")
	d.git("config", "user.name", "A")
	d.git("config", "user.email", "a@example.com")
	return d
}

func (d *desk) git(args ...string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = d.dir, d.env
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	require.NoError(d.t, err, "git %s: %s", args, errOut.String())
	return strings.TrimSpace(string(out))
}

func (d *desk) write(pathsAndTexts ...string) {
	d.t.Helper()
	for i := 0; i < len(pathsAndTexts); i += 2 {
		path := filepath.Join(d.dir, pathsAndTexts[i])
		require.NoError(d.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(d.t, os.WriteFile(path, []byte(pathsAndTexts[i+1]), 0o644))
	}
}

func (d *desk) commit(pathsAndTexts ...string) string {
	d.t.Helper()
	d.write(pathsAndTexts...)
	d.git("add", "--all")
	d.git("commit", "--quiet", "--allow-empty", "--message=m")
	return d.git("rev-parse", "HEAD")
}

// conflict has two branches make changes that git can't merge, and merges them.
func (d *desk) conflict(other, main func()) {
	d.t.Helper()
	d.git("checkout", "--quiet", "-b", "other")
	other()
	d.commit()
	d.git("checkout", "--quiet", "main")
	main()
	d.commit()
	merge := exec.CommandContext(d.t.Context(), "git", "merge", "other")
	merge.Dir, merge.Env = d.dir, d.env
	require.Error(d.t, merge.Run())
}

func (d *desk) find(change ...func(*git.LocalOptions)) (*git.Local, error) {
	o := git.LocalOptions{
		Path: d.dir, Env: d.env, MaxFileSize: 1 << 20,
		Skipped: func(path string, err error) { assert.NoError(d.t, err, path) },
	}

	for _, c := range change {
		c(&o)
	}

	return git.FindLocal(d.t.Context(), o)
}

func (d *desk) local(change ...func(*git.LocalOptions)) *git.Local {
	d.t.Helper()
	found, err := d.find(change...)
	require.NoError(d.t, err)
	return found
}

// changes are the added lines of a change, as `path:line text`, and paths of files
// without any.
func changes(t *testing.T, source scan.Source) []string {
	t.Helper()
	c, err := source.Open(t.Context(), scan.Target{})
	require.NoError(t, err)
	list := []string{}
	n := 0

	for f, err := range c.Files(t.Context()) {
		require.NoError(t, err)
		n++
		switch {
		case f.Submodule:
			list = append(list, f.Path+" submodule")
		case f.TooLarge:
			list = append(list, f.Path+" large")
		case len(f.Added) == 0:
			list = append(list, f.Path)
		}
		lines := strings.Split(string(f.Content), "\n")
		for _, r := range f.Added {
			for i := r.First; i <= r.Last; i++ {
				list = append(list, fmt.Sprintf("%s:%d %s", f.Path, i, lines[i-1]))
			}
		}
	}

	assert.Equal(t, n, c.FileCount())
	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "again")
	return list
}

func TestLocalChanges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do               func(d *desk)
		worktree, staged []string
	}{
		"nothing": {func(*desk) {}, nil, nil},
		"changed": {func(d *desk) { d.write("a.txt", "1\n2\nthree\n") }, []string{"a.txt:3 three"}, nil},
		"staged and changed": {func(d *desk) {
			d.write("a.txt", "one\n2\n3\n")
			d.git("add", "a.txt")
			d.write("a.txt", "one\n2\nthree\n")
		}, []string{"a.txt:1 one", "a.txt:3 three"}, []string{"a.txt:1 one"}},
		"same size, same second": {func(d *desk) { d.write("a.txt", "1\n2\n4\n") }, []string{"a.txt:3 4"}, nil},
		"new": {func(d *desk) {
			d.write("new/x y\t\"ü\".txt", "x\ny", "ignored.o", "x\n")
		}, []string{"new/x y\t\"ü\".txt:1 x", "new/x y\t\"ü\".txt:2 y"}, nil},
		"ignored but tracked": {func(d *desk) {
			d.write("kept.o", "x\n")
			d.git("add", "--force", "kept.o")
			d.write("kept.o", "x\ny\n")
		}, []string{"kept.o:1 x", "kept.o:2 y"}, []string{"kept.o:1 x"}},
		"ignored by the user": {func(d *desk) {
			d.write("../ignore", "*.mine\n", "new.mine", "x\n")
			d.git("config", "--global", "core.excludesFile", filepath.Join(filepath.Dir(d.dir), "ignore"))
		}, nil, nil},
		"renamed": {func(d *desk) {
			d.git("mv", "long.txt", "moved.txt")
			d.write("moved.txt", numbers(20)+"end\n")
		}, []string{"moved.txt:21 end"}, []string{"moved.txt"}},
		"file for a folder": {func(d *desk) {
			require.NoError(d.t, os.RemoveAll(filepath.Join(d.dir, "dir")))
			d.write("dir", "y\n")
		}, []string{"dir:1 y"}, nil},
		"folder for a file": {func(d *desk) {
			require.NoError(d.t, os.Remove(filepath.Join(d.dir, "a.txt")))
			d.write("a.txt/in", "x\n")
		}, []string{"a.txt/in:1 x"}, nil},
		"symlink": {func(d *desk) {
			require.NoError(d.t, os.Symlink("/etc/passwd", filepath.Join(d.dir, "link")))
			require.NoError(d.t, os.Remove(filepath.Join(d.dir, "a.txt")))
			require.NoError(d.t, os.Symlink("dir", filepath.Join(d.dir, "a.txt")))
		}, []string{"a.txt:1 dir", "link:1 /etc/passwd"}, nil},
		"symlink to a folder for a folder": {func(d *desk) {
			require.NoError(d.t, os.Rename(filepath.Join(d.dir, "dir"), filepath.Join(d.dir, "../elsewhere")))
			require.NoError(d.t, os.Symlink("../elsewhere", filepath.Join(d.dir, "dir")))
			d.write("a.txt", "1\n2\nthree\n")
		}, []string{"a.txt:3 three", "dir:1 ../elsewhere"}, nil},
		"ignored symlink for a folder": {func(d *desk) {
			require.NoError(d.t, os.Rename(filepath.Join(d.dir, "dir"), filepath.Join(d.dir, "../elsewhere")))
			d.write("../elsewhere/in.txt", "y\n", ".git/info/exclude", "dir\n")
			d.git("update-index", "--cacheinfo", "100644,"+d.git("rev-parse", "HEAD:a.txt")+",dir/in.txt")
			require.NoError(d.t, os.Symlink("../elsewhere", filepath.Join(d.dir, "dir")))
			d.write("a.txt", "1\n2\nthree\n")
		}, []string{"a.txt:3 three"}, []string{"dir/in.txt:1 1", "dir/in.txt:2 2", "dir/in.txt:3 3"}},
		"large": {func(d *desk) {
			d.write(
				"big.txt", strings.Repeat("x\n", 3<<20), "some.txt", strings.Repeat("x\n", 1<<20), "a.txt",
				strings.Repeat("y\n", 3<<20),
			)
		}, []string{"a.txt large", "big.txt large", "some.txt large"}, nil},
		"line endings as they are stored": {func(d *desk) {
			d.git("config", "core.autocrlf", "true")
			d.write("a.txt", "1\r\n2\r\nthree\r\n")
		}, []string{"a.txt:3 three"}, nil},
		"line endings as they are": {func(d *desk) { d.write("a.txt", "1\r\n2\n3\n") }, []string{"a.txt:1 1\r"}, nil},
		"conflict": {func(d *desk) {
			d.conflict(func() { d.write("a.txt", "1\nother\n3\n") }, func() { d.write("a.txt", "1\nmain\n3\n") })
		}, []string{
			"a.txt:2 <<<<<<< HEAD", "a.txt:4 =======", "a.txt:5 other", "a.txt:6 >>>>>>> other",
		}, []string{"unmerged"}},
		"conflict of names": {func(d *desk) {
			d.conflict(func() { d.git("mv", "a.txt", "b.txt") }, func() { d.git("mv", "a.txt", "c.txt") })
		}, []string{"b.txt:1 1", "b.txt:2 2", "b.txt:3 3"}, []string{"unmerged"}},
		"folder for a file with conflicts": {func(d *desk) {
			d.conflict(func() { d.write("a.txt", "other\n") }, func() { d.write("a.txt", "main\n") })
			require.NoError(d.t, os.Remove(filepath.Join(d.dir, "a.txt")))
			d.write("a.txt/in", "x\n")
		}, []string{"a.txt/in:1 x"}, []string{"unmerged"}},
		"conflict of large files": {func(d *desk) {
			d.conflict(
				func() { d.write("big.txt", strings.Repeat("x\n", 1<<20)) },
				func() { d.write("big.txt", strings.Repeat("y\n", 1<<20)) })
		}, []string{"big.txt large"}, []string{"unmerged"}},
		"submodule": {func(d *desk) {
			sub := newDesk(d.t)
			sub.commit("x", "x\n")
			d.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
			d.git("commit", "--quiet", "--message=sub")
			inside := &desk{t: d.t, dir: filepath.Join(d.dir, "sub"), env: d.env}
			inside.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message=m")
			d.write("sub/x", "not seen\n")
			d.git("add", "sub")
			inside.git("config", "core.fsmonitor", "touch "+filepath.Join(d.dir, ".git", "ran"))
		}, []string{"sub submodule"}, []string{"sub submodule"}},
		"repository inside": {func(d *desk) {
			d.git("init", "--quiet", "inner")
			inside := &desk{t: d.t, dir: filepath.Join(d.dir, "inner"), env: d.env}
			inside.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message=m")
		}, []string{"inner submodule"}, nil},
		"first commit to come": {func(d *desk) {
			d.git("checkout", "--quiet", "--orphan", "fresh")
			d.git("rm", "--quiet", "-r", "--cached", ".")
			d.git("add", "a.txt")
			require.NoError(d.t, os.RemoveAll(filepath.Join(d.dir, "dir")))
			require.NoError(d.t, os.Remove(filepath.Join(d.dir, "long.txt")))
		}, []string{
			".gitignore:1 *.o", "a.txt:1 1", "a.txt:2 2", "a.txt:3 3",
		}, []string{"a.txt:1 1", "a.txt:2 2", "a.txt:3 3"}},
		"nothing yet": {func(d *desk) {
			require.NoError(d.t, os.RemoveAll(filepath.Join(d.dir, ".git")))
			d.git("init", "--quiet", "--template=", ".")
			require.NoError(d.t, os.RemoveAll(filepath.Join(d.dir, "dir")))
			require.NoError(d.t, os.Remove(filepath.Join(d.dir, "long.txt")))
		}, []string{".gitignore:1 *.o", "a.txt:1 1", "a.txt:2 2", "a.txt:3 3"}, nil},
		"split index": {func(d *desk) {
			d.git("update-index", "--split-index")
			d.write("a.txt", "1\n2\nthree\n")
			d.git("add", "a.txt")
		}, []string{"a.txt:3 three"}, []string{"a.txt:3 three"}},
		"attributes don't hide": {func(d *desk) {
			d.write(".gitattributes", "* -diff\n*.txt diff=none filter=none\n", "a.txt", "1\n2\nthree\n")
			d.git("config", "diff.none.textconv", "true")
			d.git("add", "--all")
		}, []string{".gitattributes:1 * -diff", ".gitattributes:2 *.txt diff=none filter=none", "a.txt:3 three"},
			[]string{".gitattributes:1 * -diff", ".gitattributes:2 *.txt diff=none filter=none", "a.txt:3 three"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.commit("a.txt", "1\n2\n3\n", "long.txt", numbers(20), "dir/in.txt", "x\n", ".gitignore", "*.o\n")
			tt.do(d)
			before := d.state()
			assert.Equal(t, append([]string{}, tt.worktree...), changes(t, d.local().Worktree()))
			if len(tt.staged) == 1 && tt.staged[0] == "unmerged" {
				_, err := d.local().Staged().Open(t.Context(), scan.Target{})
				require.ErrorIs(t, err, git.ErrUnmerged)
			} else {
				assert.Equal(t, append([]string{}, tt.staged...), changes(t, d.local().Staged()))
			}
			assert.Equal(t, before, d.state(), "nothing was written")
		})
	}
}

// What is written about a scan is left out, unless it is tracked.
func TestLocalOmits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.commit("kept.json", "1\n")
	d.write("kept.json", "1\n2\n", "r.json", "x\n", "out/r.json", "y\n", "out/other.json", "z\n")
	assert.Equal(
		t, []string{"kept.json:2 2", "out/other.json:1 z"},
		changes(t, d.local().Worktree("kept.json", "r.json", "out/r.json", "none")),
	)

	assert.Len(t, changes(t, d.local().Worktree()), 4)
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line number %d\n", i)
	}

	return b.String()
}

// state is what is in the repository's own directory, by path.
func (d *desk) state() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	require.NoError(d.t, filepath.WalkDir(filepath.Join(d.dir, ".git"), func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		info, err2 := e.Info()
		require.NoError(d.t, err2)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		if !strings.Contains(path, "objects") && !strings.Contains(
			path, "sharedindex",
		) { // git renews the times of these when it would write or reads them
			all[path] += info.ModTime().String()
		}
		return err
	}))
	return all
}

// No program that a repository names is run: it may be a stranger's.
func TestLocalRunsNoProgram(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.commit("a.txt", "1\n", "b.txt", "1\n")
	evil := "touch " + filepath.Join(d.dir, "ran") + "; false"

	for key, value := range map[string]string{
		"core.fsmonitor": evil, "core.pager": evil, "diff.external": evil, "diff.x.textconv": evil,
		"diff.x.command": evil, "core.alternateRefsCommand": evil, "filter.x.clean": evil,
		"filter.x.smudge": evil, "filter.x.process": evil, "filter.x.required": "true",
		"filter.only.clean": evil, "filter.only.required": "true", "filter.Odd.Name.clean": evil,
		"core.sshCommand": evil, "core.hooksPath": filepath.Join(d.dir, "hooks"), "core.editor": evil,
		"credential.helper": "!" + evil, "gpg.program": evil, "core.untrackedCache": "true",
		"core.splitIndex": "true", "remote.origin.url": "ext::" + evil, "remote.origin.promisor": "true",
		"extensions.partialClone": "origin", "protocol.ext.allow": "always",
	} {
		d.git("config", key, value)
	}

	d.write(".git/info/attributes", "a.txt filter=x diff=x\nb.txt filter=only\nc.txt filter=Odd.Name\n")
	for _, hook := range []string{"post-index-change", "pre-commit", "reference-transaction", "post-checkout"} {
		d.write("hooks/"+hook, "#!/bin/sh\n"+evil+"\n", ".git/hooks/"+hook, "#!/bin/sh\n"+evil+"\n")
		require.NoError(t, os.Chmod(filepath.Join(d.dir, "hooks", hook), 0o755))
		require.NoError(t, os.Chmod(filepath.Join(d.dir, ".git/hooks", hook), 0o755))
	}

	d.write("a.txt", "2\n", "b.txt", "2\n", "c.txt", "2\n", ".gitignore", "hooks\n")
	assert.Equal(
		t, []string{".gitignore:1 hooks", "a.txt:1 2", "b.txt:1 2", "c.txt:1 2"}, changes(t, d.local().Worktree()),
	)

	assert.Empty(t, changes(t, d.local().Staged()))
	assert.Empty(t, changes(t, d.local().Commits("HEAD", "HEAD")))
	assert.NoFileExists(t, filepath.Join(d.dir, "ran"))
}

func TestLocalCommits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	root := d.commit("a.txt", "1\n")
	d.git("tag", "--annotate", "--message=m", "v1")
	d.git("checkout", "--quiet", "-b", "topic")
	head := d.commit("a.txt", "1\n2\n")
	d.git("checkout", "--quiet", "main")
	main := d.commit("b.txt", "1\n")
	d.write("c.txt", "not committed\n")

	for _, ends := range [][2]string{
		{"main", "topic"}, {main, head}, {"v1", "topic"}, {"main~1", "refs/heads/topic"}, {main[:10], "topic@{0}"},
	} {
		c, err := d.local().Commits(ends[0], ends[1]).Open(t.Context(), scan.Target{})
		require.NoError(t, err, "%s", ends)
		assert.Equal(t, head, c.HeadSHA())
		require.NoError(t, c.Close())
		assert.Equal(t, []string{"a.txt:2 2"}, changes(t, d.local().Commits(ends[0], ends[1])), "%s", ends)
	}

	assert.Equal(t, []string{"b.txt:1 1"}, changes(t, d.local().Commits(root, "HEAD")))
	for _, ref := range []string{
		"none", "", "--all", "-x", "main:a.txt", "main^{tree}", "main..topic", "main\nHEAD",
		strings.Repeat("0", 40),
	} {
		_, err := d.local().Commits(ref, "HEAD").Open(t.Context(), scan.Target{})
		var wrong *git.RefError
		require.ErrorAs(t, err, &wrong, "%q", ref)
		assert.Equal(t, ref, wrong.Ref)
		assert.False(t, wrong.Unborn)
	}

	d.git("checkout", "--quiet", "--orphan", "fresh")
	_, err := d.local().Commits("main", "HEAD").Open(t.Context(), scan.Target{})
	var wrong *git.RefError
	require.ErrorAs(t, err, &wrong)
	assert.True(t, wrong.Unborn)

	d.write(".git/index", "broken, which does not matter for commits")
	assert.Equal(t, []string{"b.txt:1 1"}, changes(t, d.local().Commits(root, "main")))
}

// A rules file that can't be read must not count as none.
func TestLostRulesFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	base := d.commit(rule.FilePath, "version: 1\n")
	d.commit("a.txt", "1\n")
	oid := d.git("rev-parse", "HEAD:"+filepath.Dir(rule.FilePath))
	require.NoError(t, os.Remove(filepath.Join(d.dir, ".git", "objects", oid[:2], oid[2:])))
	_, err := d.local().Commits(base, "HEAD").Open(t.Context(), scan.Target{})
	require.ErrorContains(t, err, "damaged")
}
