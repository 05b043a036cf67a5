package stage

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sample holds the files of the sample repository, a folder for each commit.
//
//go:embed all:testdata
var sample embed.FS

// The sample repository and its pull requests: one with mistakes of many kinds,
// and a small one that Push changes.
const (
	Repo   = "acme/shop"
	Number = 1
	Small  = 2
)

func path(root string) string { return filepath.Join(root, filepath.FromSlash(Repo)+".git") }

// MakeRepository makes a bare repository at root/acme/shop.git with its pull
// requests at refs/pull/N/head, as code hosts keep them.
func MakeRepository(root string) error {
	dir := path(root)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := git(dir, nil, "init", "--quiet", "--bare", "--initial-branch=main", dir); err != nil {
		return err
	}
	return fastImport(dir,
		commit{folder: "base", ref: "refs/heads/main"},
		commit{folder: "change", ref: "refs/pull/1/head", parent: "refs/heads/main"},
		commit{folder: "refund", ref: "refs/pull/2/head", parent: "refs/heads/main"})
}

// Push adds a commit to the small pull request, which fixes two mistakes and
// makes another.
func Push(root string) error {
	return fastImport(path(root), commit{folder: "again", ref: "refs/pull/2/head", parent: "refs/pull/2/head^0"})
}

// commit adds the files of a folder of the sample to a parent; none for "".
type commit struct{ folder, ref, parent string }

func fastImport(dir string, commits ...commit) error {
	var stream bytes.Buffer
	for _, c := range commits {
		fmt.Fprintf(&stream, "commit %s\ncommitter Demo <demo@example.com> 1750000000 +0000\ndata 0\n", c.ref)
		if c.parent != "" {
			fmt.Fprintf(&stream, "from %s\n", c.parent)
		}
		top := "testdata/" + c.folder
		err := fs.WalkDir(sample, top, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := sample.ReadFile(path)
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", strings.TrimPrefix(path, top+"/"), len(text), text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return git(dir, &stream, "fast-import", "--quiet")
}

// git runs git in dir without anything of the user's configuration.
func git(dir string, stdin io.Reader, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = stdin
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}
