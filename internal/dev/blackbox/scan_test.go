package blackbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scanIn runs `prwarden scan` in a folder, as its owner.
func scanIn(t *testing.T, dir string, more []string, args ...string) (code int, out, errOut string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"scan"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(env(t.TempDir()), more...)
	return ran(t, cmd)
}

// ran runs a command to its end.
func ran(t *testing.T, cmd *exec.Cmd) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func answerOf(t *testing.T, text string) (a scanAnswer) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &a), "%s", text)
	return a
}

// What a local scan finds between two commits is what a server finds there, to
// the last field; only what a comment says of rules that an organization may
// have is the server's to know. diffcheck -server does the same with real repositories.
func TestScanFindsWhatAReviewOfTheCommitsFinds(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	rulesFile := "version: 1\ndisable: [hygiene/dockerfile-latest-tag]\nexclude: ['skip/**']\n" +
		"override: {security/no-eval: {severity: low, exclude: ['old/**']}}\nrules:\n" +
		"- {id: wide, type: regex, pattern: '(?s)BEGIN.*?END', message: m, severity: high, multiline: true}\n"
	numbered := strings.Repeat("some line of text\n", 30)
	r := h.create(t, "acme/web", files{
		".prwarden/rules.yml": rulesFile, "a.js": "eval(x)\n", "old.txt": numbered, "gone.js": "eval(y)\n",
		"w.txt": "BEGIN\n\nEND\n",
	})

	root := r.sha("refs/heads/main")
	key := "AKIA" + "QWERTYUIOPASDFGH"
	heads := []string{
		r.commit("refs/heads/one", root, files{
			"a.js": "eval(x)\neval(y) // é😀 eval(z)\r\n// prwarden:ignore -- which?\n// prwarden:ignore " +
				"security/no-eval -- it is a test\neval(w)\n",
			"b.js": "eval(a) // prwarden:ignore security/no-eval -- until then until 2020-01-01\n// " +
				"prwarden:ignore security/no-eval -- of no use\n",
			"caf\xe9.js": "eval(x)\n", "skip/c.js": "eval(x)\n", "old/d.js": "eval(x)\n", "n.js": "eval(x)\n\x00",
			"Dockerfile": "FROM python:latest\n",
			"l.js":       strings.Repeat("eval(x);", 3000) + "\neval(x)\n", "big.js": "eval(x)\n" + strings.Repeat("x", 1<<20),
			"old.txt": remove, "new/renamed.txt": numbered + "eval(z)\n", "key.txt": "id = " + key + "\nagain " + key + "\n",
			"gone.js": remove,
			"w.txt":   "BEGIN\nnow\nEND\n",
		}),
		r.commit("refs/heads/two", root, files{
			".prwarden/rules.yml": "version: 2\n", "e.js": "eval(x)\n",
			"f.js": "eval(x)\n" + strings.Repeat("\n", 10) + "eval(x)\n",
		}),
		r.commit("refs/heads/three", root, files{".prwarden/rules.yml": remove}),
		r.commit("refs/heads/four", root, files{}),
	}

	r.commit("refs/heads/main", root, files{
		".prwarden/rules.yml": rulesFile + "- {id: later, type: regex, pattern: 'some|eval', message: m, severity: info}\n",
		"a.js":                "eval(main)\n",
	})

	main := r.sha("refs/heads/main")
	findings := 0
	for _, head := range heads {
		for _, base := range []string{root, main} {
			a := c.do(t, "POST", "/v1/reviews", map[string]any{
				"repo": "acme/web", "pr_number": 7, "head_sha": head, "base_sha": base, "fail_on": "info",
			})
			require.Equal(t, 202, a.status, a.body)
			id := a.decode(t)["review_id"].(string)
			c.wait(t, id)
			remote := answerOf(t, c.do(t, "GET", "/v1/reviews/"+id, nil).body)
			require.Equal(t, "complete", remote.Status)
			code, out, errOut := scanIn(t, r.dir, nil, "--base", base, "--head", head, "--output", "json", "--fail-on", "info")
			assert.Equal(t, map[bool]int{true: 1}[len(remote.Findings) > 0], code, errOut)
			for _, f := range slices.Concat(remote.Findings, remote.Suppressed) {
				delete(f, "state") // which needs a review before
			}
			assert.Equal(t, remote, answerOf(t, out))
			assert.NotContains(t, out+errOut, key)
			findings += len(remote.Findings) + len(remote.Suppressed)
		}
	}

	assert.Greater(t, findings, 20)
}

// worktree makes a repository with a work tree, whose rules file is one of the
// first commit.
func worktree(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir()}
	r.git("", "init", "-q", "-b", "main")
	r.git("", "config", "maintenance.auto", "false") // which may go on after a commit
	r.write(files{
		".prwarden/rules.yml": "version: 1\nrules:\n- {id: word, type: regex, pattern: needle, message: m, severity: high}\n",
		"a.txt":               "hay\n",
	})

	r.git("", "add", ".")
	r.git("", "commit", "-q", "-m", "first")
	return r
}

func (r *repository) write(change files) {
	r.t.Helper()
	for name, content := range change {
		path := filepath.Join(r.dir, name)
		require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(r.t, os.WriteFile(path, []byte(content), 0o644))
	}
}

func TestScanOfChanges(t *testing.T) {
	t.Parallel()
	r := worktree(t)
	scan := func(args ...string) (code int, places []string, errOut string) {
		t.Helper()
		code, out, errOut := scanIn(t, r.dir, nil, append(args, "--output", "json", "--no-default-rules")...)
		places = []string{}
		if code == 0 || code == 1 {
			for _, f := range answerOf(t, out).Findings {
				places = append(places, fmt.Sprintf("%s:%v", f["file"], f["line"]))
			}
		}

		return code, places, errOut
	}

	code, places, errOut := scan()
	assert.Equal(t, 0, code, errOut)
	assert.Empty(t, places)
	assert.Contains(t, errOut, "applying "+filepath.Join(r.dir, ".prwarden/rules.yml")+"\n")
	const hint = "--base REF scans what a branch changes, --all every file.\n"
	assert.Contains(t, errOut, hint)

	r.write(files{"a.txt": "hay\nneedle\n", "dir/new.txt": "needle\n"})
	code, places, _ = scan()
	assert.Equal(t, 1, code)
	assert.Equal(t, []string{"a.txt:2", "dir/new.txt:1"}, places)
	_, places, _ = scan("dir")
	assert.Equal(t, []string{"dir/new.txt:1"}, places)
	code, places, errOut = scan("--staged")
	assert.Equal(t, 0, code)
	assert.Empty(t, places)
	assert.Contains(t, errOut, "applying .prwarden/rules.yml as it is staged\n")
	assert.NotContains(t, errOut, hint, "that there is nothing to look at is no news to a hook")

	// The rules file that is going to be committed counts, not the one on the disk.
	r.git("", "add", "a.txt")
	r.write(files{".prwarden/rules.yml": "broken"})
	_, places, _ = scan("--staged")
	assert.Equal(t, []string{"a.txt:2"}, places)
	code, _, errOut = scan()
	assert.Equal(t, 2, code)
	assert.Contains(t, errOut, "prwarden: "+filepath.Join(r.dir, ".prwarden/rules.yml")+" is not valid:\n  line 1: ")

	// Between commits it is that of the base, as for a pull request.
	r.git("", "add", "--all")
	r.git("", "commit", "-q", "-m", "second")
	_, places, errOut = scan("--base", "HEAD~1")
	assert.Equal(t, []string{".prwarden/rules.yml:1", ".prwarden/rules.yml:1", "a.txt:2", "dir/new.txt:1"}, places)
	assert.NotContains(t, errOut, "applying")
	rules := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(
		t,
		os.WriteFile(
			rules, []byte("version: 1\nrules:\n- {id: other, type: regex, pattern: broken, message: m, severity: low}\n"),
			0o644,
		),
	)
	code, places, _ = scan("--base", "HEAD~1", "--rules", rules)
	assert.Equal(t, 0, code, "low")
	assert.Equal(t, []string{".prwarden/rules.yml:1"}, places)
}

func TestScanOfConflicts(t *testing.T) {
	t.Parallel()
	r := worktree(t)
	r.git("", "checkout", "-q", "-b", "other")
	r.write(files{"a.txt": "other\n"})
	r.git("", "commit", "-q", "--all", "-m", "other")
	r.git("", "checkout", "-q", "main")
	r.write(files{"a.txt": "needle\n"})
	r.git("", "commit", "-q", "--all", "-m", "main")
	merge := exec.CommandContext(
		t.Context(), "git", "-c", "user.name=A", "-c", "user.email=a@example.com", "merge", "other",
	)
	merge.Dir, merge.Env = r.dir, env(t.TempDir())
	require.Error(t, merge.Run())
	code, out, errOut := scanIn(t, r.dir, nil, "--staged", "--no-default-rules")
	assert.Equal(t, 3, code)
	assert.Empty(t, out)
	assert.Equal(t, "applying .prwarden/rules.yml as it is staged\n"+
		"prwarden: there are files with unresolved conflicts, so nothing can be committed yet; resolve and add them, "+
		"or leave out --staged to scan the files as they are\n", errOut)
}

// git tells hooks which index is going to be committed; a scan in a hook heeds it.
func TestScanInAHook(t *testing.T) {
	t.Parallel()
	r := worktree(t)
	hook := filepath.Join(r.dir, ".git", "hooks", "pre-commit")
	require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o755))

	// Another process writes it: a file that this one has open can't be run while
	// another test starts a process, which has it open for a moment, too.
	write := exec.CommandContext(t.Context(), "sh", "-c", `cat >"$0" && chmod 755 "$0"`, hook)
	write.Stdin = strings.NewReader("#!/bin/sh\nexec '" + binary + "' scan --staged --no-default-rules\n")
	require.NoError(t, write.Run())
	commit := func(args ...string) (string, error) {
		cmd := exec.CommandContext(
			t.Context(), "git",
			append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "m"}, args...)...,
		)
		cmd.Dir, cmd.Env = r.dir, env(t.TempDir())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}

	r.write(files{"a.txt": "hay\nneedle\n", "b.txt": "hay\n"})
	r.git("", "add", "b.txt")
	out, err := commit()
	require.NoError(t, err, "a.txt is not staged: %s", out)
	for _, args := range [][]string{{"--all"}, {"a.txt"}} {
		out, err = commit(args...)
		require.Error(t, err)
		assert.Contains(t, out, "a.txt:2:1  high      custom/word\n")
		assert.Contains(t, out, "Failed: 1 finding is high or worse.\n")
	}

	assert.Equal(t, "2", r.git("", "rev-list", "--count", "HEAD"))
}

func TestScanOfChangesFails(t *testing.T) {
	t.Parallel()
	r := worktree(t)
	outside := t.TempDir()
	shallow := filepath.Join(t.TempDir(), "shallow")
	r.write(files{"b.txt": "x\n"})
	r.git("", "add", ".")
	r.git("", "commit", "-q", "-m", "second")
	r.git("", "clone", "-q", "--depth", "1", "file://"+r.dir, shallow)
	bare := filepath.Join(t.TempDir(), "bare.git")
	r.git("", "clone", "-q", "--bare", ".", bare)
	fresh := t.TempDir()
	r.git("", "init", "-q", fresh)
	for name, tt := range map[string]struct {
		dir  string
		args []string
		env  []string
		code int
		want string
	}{
		"no repository": {
			outside, nil, nil, 2,
			". is in no git repository, so there are no changes to scan; --all scans every file of a folder",
		},
		"bare":            {bare, nil, nil, 2, "--base REF scans what a commit changes"},
		"inside of .git":  {filepath.Join(r.dir, ".git"), nil, nil, 2, "the inside of .git"},
		"bare and staged": {bare, []string{"--staged"}, nil, 2, "this is a bare repository"},
		"no such base":    {r.dir, []string{"--base", "nowhere"}, nil, 2, `"nowhere" names no commit of this repository`},
		"an option": {
			r.dir, []string{"--base=--output=x"}, nil, 2, `"--output=x" names no commit of this repository`,
		},
		"no such head": {r.dir, []string{"--base", "HEAD", "--head", "nowhere"}, nil, 2, `"nowhere" names no commit`},
		"cut off": {
			shallow, []string{"--base", "HEAD~1"}, nil, 2,
			"the clone is shallow, so it may just not be here; fetch more history",
		},
		"no commit yet": {fresh, []string{"--base", "HEAD"}, nil, 2, "there is no commit yet"},
		"outside of the tree": {
			r.dir, []string{outside}, []string{"GIT_DIR=" + filepath.Join(r.dir, ".git"), "GIT_WORK_TREE=" + r.dir}, 2,
			"the path is not in the work tree: ",
		},
		"no git": {r.dir, nil, []string{"PATH=" + outside}, 3, "git is not installed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errOut := scanIn(t, tt.dir, tt.env, tt.args...)
			assert.Equal(t, tt.code, code, errOut)
			assert.Empty(t, out)
			assert.Contains(t, errOut, tt.want)
		})
	}
}

// What a repository names its files is no command to the service that scans it,
// and its rules file leads to no other.
func TestScanOfAHostileTree(t *testing.T) {
	t.Parallel()
	r := worktree(t)
	const name = "::error title=x::y"
	r.write(files{name: "hay\n", "d/f": "hay\n"})
	r.git("", "add", "--all")
	r.git("", "commit", "-q", "-m", "second")
	outside := t.TempDir()
	require.NoError(t, os.Remove(filepath.Join(r.dir, name)))
	require.NoError(t, syscall.Mkfifo(filepath.Join(r.dir, name), 0o600))
	require.NoError(t, os.Rename(filepath.Join(r.dir, "d"), filepath.Join(outside, "d")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "d"), filepath.Join(r.dir, "d")))
	r.write(files{"a.txt": "needle\n"})
	code, out, errOut := scanIn(t, r.dir, nil, "--no-default-rules")
	assert.Equal(t, 3, code)
	assert.Contains(t, out, "1 finding in 2 changed files")
	assert.Contains(t, errOut, `\x3a`+name[1:]+": can't be read: it is no regular file")
	assert.NotContains(t, "\n"+out+errOut, "\n::")

	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("password: hunter2\n"), 0o600))
	rules := filepath.Join(r.dir, ".prwarden", "rules.yml")
	require.NoError(t, os.Remove(rules))
	for _, put := range []func() error{
		func() error { return os.Symlink(secret, rules) },
		func() error { return syscall.Mkfifo(rules, 0o600) },
	} {
		require.NoError(t, put())
		for _, command := range []string{"check", "test", "list"} {
			cmd := exec.CommandContext(t.Context(), binary, "rules", command)
			cmd.Dir, cmd.Env = r.dir, env(t.TempDir())
			text, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, command)
			assert.Equal(t, 2, exit.ExitCode(), command)
			assert.Contains(t, string(text), "the rules file can't be read: .prwarden/rules.yml is ", command)
			assert.NotContains(t, string(text), "hunter2", command)
		}

		require.NoError(t, os.Remove(rules))
	}
}

// scanAnswer is what a scan says in the form of a review, as the format json has it.
type scanAnswer struct {
	HeadSHA    string           `json:"head_sha"`
	BaseSHA    string           `json:"base_sha"`
	Status     string           `json:"status"`
	Findings   []map[string]any `json:"findings"`
	Suppressed []map[string]any `json:"suppressed"`
	Skipped    []map[string]any `json:"skipped"`
	Summary    map[string]any   `json:"summary"`
	Truncated  bool             `json:"truncated"`
}
