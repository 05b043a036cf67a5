package stage

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sample holds the sample repository: `base` is what is on its main branch,
// `change` what the pull request makes of it.
//
//go:embed all:testdata
var sample embed.FS

// The sample pull request.
const (
	Repo   = "acme/shop"
	Number = 1
)

// MakeRepository makes a bare repository at root/acme/shop.git with the pull
// request at refs/pull/1/head, as code hosts keep them.
func MakeRepository(root string) error {
	dir := filepath.Join(root, filepath.FromSlash(Repo)+".git")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	g := gitDir{dir}
	if _, err := g.run(nil, "init", "--quiet", "--bare", "--initial-branch=main", dir); err != nil {
		return err
	}
	base, err := g.commit("testdata/base", "", "Start the shop")
	if err != nil {
		return err
	}
	change, err := g.commit("testdata/change", base, "Show totals, print invoices, install with one line")
	if err != nil {
		return err
	}
	if _, err := g.run(nil, "update-ref", "refs/heads/main", base); err != nil {
		return err
	}
	_, err = g.run(nil, "update-ref", fmt.Sprintf("refs/pull/%d/head", Number), change)
	return err
}

type gitDir struct{ path string }

// commit makes a commit of the sample's folder on top of parent, and returns
// its name.
func (g gitDir) commit(folder, parent, message string) (string, error) {
	index := filepath.Join(g.path, "demo-index")
	if err := os.RemoveAll(index); err != nil { // that of the commit before
		return "", err
	}
	if parent != "" {
		if _, err := g.index(index, nil, "read-tree", parent); err != nil {
			return "", err
		}
	}
	err := fs.WalkDir(sample, folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := sample.ReadFile(path)
		if err != nil {
			return err
		}
		blob, err := g.run(content, "hash-object", "-w", "--stdin")
		if err != nil {
			return err
		}
		_, err = g.index(index, nil, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+strings.TrimPrefix(path, folder+"/"))
		return err
	})
	if err != nil {
		return "", err
	}
	tree, err := g.index(index, nil, "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", tree, "-m", message}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	return g.run(nil, args...)
}

func (g gitDir) index(file string, stdin []byte, args ...string) (string, error) {
	return g.command(stdin, []string{"GIT_INDEX_FILE=" + file}, args...)
}

func (g gitDir) run(stdin []byte, args ...string) (string, error) {
	return g.command(stdin, nil, args...)
}

// command runs git without anything of the user's configuration.
func (g gitDir) command(stdin []byte, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = g.path
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.path, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@example.com", "GIT_AUTHOR_DATE=1750000000 +0000",
		"GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@example.com", "GIT_COMMITTER_DATE=1750000000 +0000",
	}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return string(bytes.TrimSpace(out)), nil
}
