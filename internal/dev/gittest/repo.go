// Package gittest makes repositories for tests: ordinary ones, and ones
// that git would never write. Objects are written directly, so nothing checks
// them.
package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Repo is a bare repository at `<Root>/owner/name.git`.
type Repo struct {
	Root string
	Dir  string
	t    testing.TB
	at   map[string]int // when commits were made, in Unix seconds
}

// Name is what the repository is called in a scan.Target.
const Name = "owner/name"

// New makes an empty repository, whose HEAD is `refs/heads/main`.
func New(t testing.TB) *Repo {
	t.Helper()
	root := t.TempDir()
	r := &Repo{Root: root, Dir: filepath.Join(root, Name+".git"), t: t, at: make(map[string]int)}
	r.Git("init", "--quiet", "--bare", "--template=", r.Dir)
	r.Write("HEAD", "ref: refs/heads/main\n")
	return r
}

// URL is the template under which a host finds the repository.
func (r *Repo) URL() string { return "file://" + r.Root + "/{repo}.git" }

// Git runs git in the repository and returns what it prints, trimmed.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_DIR=" + r.Dir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		require.NoError(r.t, err, "git %s: %s", args, exit.Stderr)
	}

	require.NoError(r.t, err)
	return strings.TrimSpace(string(out))
}

// Write writes a file of the repository's directory.
func (r *Repo) Write(path, text string) {
	r.t.Helper()
	path = filepath.Join(r.Dir, path)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.WriteFile(path, []byte(text), 0o644))
}

// Object stores a loose object of any content and returns its name.
func (r *Repo) Object(kind string, data []byte) string {
	r.t.Helper()
	name := ObjectName(kind, data)
	dir := filepath.Join(r.Dir, "objects", name[:2])
	require.NoError(r.t, os.MkdirAll(dir, 0o755))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	fmt.Fprintf(z, "%s %d\x00", kind, len(data))
	_, err := z.Write(data)
	require.NoError(r.t, err)
	require.NoError(r.t, z.Close())
	require.NoError(r.t, os.WriteFile(filepath.Join(dir, name[2:]), packed.Bytes(), 0o644))
	return name
}

// ObjectName is what git calls an object.
func ObjectName(kind string, data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// Entry is a line of a tree object.
type Entry struct {
	Mode string // as it is stored: 100644, 40000, …
	Name string
	OID  string
}

// TreeData is the content of a tree object, its entries in the order given.
func TreeData(entries ...Entry) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(e.OID)
		if err != nil {
			panic(err) // a mistake in a test
		}
		fmt.Fprintf(&b, "%s %s\x00%s", e.Mode, e.Name, raw)
	}

	return b.Bytes()
}

// File is a file of a commit.
type File struct {
	Mode string // 100644 when empty; 120000 for a symlink, 160000 for a submodule
	Text string // of a submodule, the commit's name
}

// Files are the files of a commit, by path.
type Files map[string]File

// Text are plain files with these contents, given as path, text, path, text …
func Text(pathsAndTexts ...string) Files {
	files := make(Files)
	for i := 0; i < len(pathsAndTexts); i += 2 {
		files[pathsAndTexts[i]] = File{Text: pathsAndTexts[i+1]}
	}
	return files
}

// Tree stores files and returns the name of their tree.
func (r *Repo) Tree(files Files) string {
	r.t.Helper()
	var entries []Entry
	below := make(map[string]Files)
	for path, file := range files {
		dir, rest, nested := strings.Cut(path, "/")
		if nested {
			if below[dir] == nil {
				below[dir] = make(Files)
			}
			below[dir][rest] = file
			continue
		}
		e := Entry{Mode: file.Mode, Name: path, OID: file.Text}
		if e.Mode == "" {
			e.Mode = "100644"
		}
		if e.Mode != "160000" {
			e.OID = r.Object("blob", []byte(file.Text))
		}
		entries = append(entries, e)
	}

	for dir, files := range below {
		entries = append(entries, Entry{Mode: "40000", Name: dir, OID: r.Tree(files)})
	}
	key := func(e Entry) string {
		if e.Mode == "40000" {
			return e.Name + "/"
		}
		return e.Name
	}

	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(key(a), key(b)) })
	return r.Object("tree", TreeData(entries...))
}

// Commit stores a commit of files and returns its name.
func (r *Repo) Commit(files Files, parents ...string) string {
	r.t.Helper()
	return r.CommitTree(r.Tree(files), parents...)
}

// CommitTree stores a commit of a tree. Each commit is a second later than its
// first parent.
func (r *Repo) CommitTree(tree string, parents ...string) string {
	r.t.Helper()
	at := 1_700_000_000
	if len(parents) > 0 && r.at[parents[0]] > 0 {
		at = r.at[parents[0]] + 1
	}
	oid := r.Object("commit", CommitData(tree, at, parents...))
	r.at[oid] = at
	return oid
}

// CommitData is the content of a commit object made at a Unix time.
func CommitData(tree string, at int, parents ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author A <a@example.com> %d +0000\ncommitter A <a@example.com> %d +0000\n\nmessage\n", at, at)
	return b.Bytes()
}

// Ref sets a ref.
func (r *Repo) Ref(name, oid string) {
	r.t.Helper()
	r.Write(name, oid+"\n")
}

// Pull sets the head of a pull request.
func (r *Repo) Pull(number int, oid string) {
	r.t.Helper()
	r.Ref(fmt.Sprintf("refs/pull/%d/head", number), oid)
}

// Change makes pull request 1 from base, which becomes the main branch, to
// head, and returns both commits.
func (r *Repo) Change(base, head Files) (baseOID, headOID string) {
	r.t.Helper()
	baseOID = r.Commit(base)
	headOID = r.Commit(head, baseOID)
	r.Ref("refs/heads/main", baseOID)
	r.Pull(1, headOID)
	return baseOID, headOID
}

// Script writes an executable shell script and returns its path. Another
// process writes it: a file that this one has open for writing, as a child
// that it starts meanwhile has too, can't be executed.
func Script(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `cat >"$1" && chmod 755 "$1"`, "write", path)
	cmd.Stdin = strings.NewReader("#!/bin/sh\n" + text)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}
