package blackbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nobody is a user without rights, where the tests run as root.
const nobody = 65534

// localScan is a `prwarden scan` of a folder of its own, by someone who is not
// root.
type localScan struct {
	dir string // that everyone may read
}

func newLocalScan(t *testing.T) localScan {
	t.Helper()

	// Not t.TempDir, whose parent only its owner can enter.
	dir, err := os.MkdirTemp("", "prwarden-scanall-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return localScan{dir}
}

// write writes a file below the folder that is scanned and returns its path.
func (s localScan) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(s.dir, "tree", name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func (s localScan) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"scan", "--all"}, args...)...)
	cmd.Dir = filepath.Join(s.dir, "tree")
	cmd.Env = env(s.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return cmd
}

func (s localScan) run(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	return ran(t, s.command(t, args...))
}

// A scan of a folder finds what a review of a pull request finds that adds it.
func TestScanAllFindsWhatAReviewFinds(t *testing.T) {
	t.Parallel()
	rules := files{".prwarden/rules.yml": "version: 1\nexclude: ['skip/**', '.prwarden/**']\nrules:\n" +
		"- {id: wide, type: regex, pattern: '(?s)BEGIN.*?END', message: m, severity: low, multiline: true}\n"}
	added := files{
		"a.go":       "package a\n\nfunc f() { fmt.Println(\"BEGIN\r\n\r\nEND\") }\n",
		"a/b.js":     "eval(x)\r\neval(y)",
		"a-b.js":     "\xff eval(x)",
		"caf\xe9.js": "eval(x) // eval(x)\n",
		"skip/c.js":  "eval(x)\n",
		"n.js":       "eval(x)\n\x00",
		"l.js":       strings.Repeat("eval(x);", 3000) + "\neval(x)\n",
		"big.js":     "eval(x)\n" + strings.Repeat("x", 1<<20),
		"none.js":    "",
	}

	s := newLocalScan(t)
	for _, m := range []files{rules, added} {
		for name, content := range m {
			s.write(t, name, content)
		}
	}

	require.NoError(t, os.Symlink("eval(x)", filepath.Join(s.dir, "tree", "link.js")))

	code, out, errOut := s.run(t, ".", "--output", "json")
	require.Equal(t, 1, code, errOut)
	var local map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &local))

	_, c, h := setup(t)
	r := h.create(t, "acme/web", rules)
	r.commit("refs/heads/change", r.sha("refs/heads/main"), added)
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}
	r.run("", index, "read-tree", "refs/heads/change")
	r.run(
		"", index, "update-index", "--add", "--cacheinfo",
		"120000,"+r.git("eval(x)", "hash-object", "-w", "--stdin")+",link.js",
	)
	r.git("", "update-ref", "refs/pull/1/head",
		r.git("", "commit-tree", r.run("", index, "write-tree"), "-m", "change", "-p", "refs/heads/change"))
	review := c.scan(t, "acme/web", 1)
	require.Equal(t, "complete", review["status"], review)
	remote, found := list(review["findings"]), list(local["findings"])
	require.Len(t, found, 10)
	for _, f := range remote {
		delete(f.(map[string]any), "state") // here is no review before
	}
	assert.Equal(t, remote, found)
	assert.Equal(t, review["skipped"], local["skipped"])
	assert.Equal(t, review["summary"], local["summary"])
}

// What can't be read is named, the rest is scanned, and the exit status says
// that it was not all.
func TestScanAllWithoutAccess(t *testing.T) {
	t.Parallel()
	s := newLocalScan(t)
	s.write(t, "a.js", "eval(x)\n")
	s.write(t, "z.js", "eval(x)\n")
	closed := filepath.Dir(s.write(t, "closed/b.js", "eval(x)\n"))
	for path, mode := range map[string]os.FileMode{closed: 0o700, s.write(t, "secret.js", "eval(x)\n"): 0o200} {
		require.NoError(t, os.Chmod(path, mode))
	}
	if os.Getuid() != 0 { // the owner: what keeps others out does not
		require.NoError(t, os.Chmod(closed, 0))
		t.Cleanup(func() { require.NoError(t, os.Chmod(closed, 0o755)) })
	}
	code, out, errOut := s.run(t, ".", "--output", "jsonl")
	assert.Equal(t, 3, code)
	assert.Equal(t, 2, strings.Count(out, "\n"))
	assert.Contains(t, out, `"file":"z.js"`)
	assert.Contains(t, errOut, "closed: can't be read: permission denied\n")
	assert.Contains(t, errOut, "secret.js: can't be read: permission denied\n")
}

// An interrupt ends a scan also when nobody reads its output, and so does a reader that goes away.
func TestScanAllEnds(t *testing.T) {
	t.Parallel()
	s := newLocalScan(t)
	for i := range 200 { // more findings than a pipe holds
		s.write(t, fmt.Sprintf("f%d.js", i), strings.Repeat("eval(x)\n", 100))
	}
	start := func() (cmd *exec.Cmd, stdout io.ReadCloser, stderr *bytes.Buffer) {
		cmd, stderr = s.command(t, ".", "--output", "jsonl"), &bytes.Buffer{}
		cmd.Stderr = stderr
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.ReadFull(stdout, make([]byte, 1))
		require.NoError(t, err)
		return cmd, stdout, stderr
	}

	cmd, _, stderr := start()
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.Error(t, cmd.Wait())
	assert.Equal(t, 3, cmd.ProcessState.ExitCode(), stderr.String())
	assert.Contains(t, stderr.String(), "prwarden: interrupted; not everything was looked at")

	cmd, stdout, _ := start()
	require.NoError(t, stdout.Close())
	require.Error(t, cmd.Wait())
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	assert.Equal(t, syscall.SIGPIPE, status.Signal())
}

// A report to what is open goes there, and does not take the place of the system's name for it.
func TestScanWritesToStreams(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.js"), []byte("eval(x)\n"), 0o600))
	code, out, errOut := scanIn(t, dir, nil, "--all", ".", "--fail-on", "none", "--output", "json=/proc/self/fd/1")
	require.Equal(t, 0, code, errOut)
	assert.Contains(t, out, "security/no-eval")
}
