// Package stage puts up what demonstrations and tests of clients play on: a server, and a sample repository with pull
// requests that have mistakes.
package stage

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// sample holds the files of the sample repository, a folder for each commit.
//
//go:embed all:testdata
var sample embed.FS

// The sample repository and its pull requests: one with mistakes of many kinds, and a small one that Push changes.
const (
	Repo   = "acme/shop"
	Number = 1
	Small  = 2
)

// Install makes a configuration and an SQLite database in dir. The organization demo has the repositories below
// dir/repos, and github has those of github.com.
func Install(ctx context.Context, binary, dir string) (*program.Installation, error) {
	return program.Install(ctx, binary, dir, "sqlite:"+filepath.Join(dir, "prwarden.db"), []program.Organization{
		{Name: "demo", Repositories: "acme/*", URL: "file://" + dir + "/repos/{repo}.git"},
		{Name: "github", Repositories: "*/*", URL: "https://github.com/{repo}.git"},
	})
}

func repository(dir string) string {
	return filepath.Join(dir, "repos", filepath.FromSlash(Repo)+".git")
}

// MakeRepository makes the sample repository below dir/repos, with its pull requests at refs/pull/N/head and their
// trial merges at refs/pull/N/merge, as code hosts keep them.
func MakeRepository(ctx context.Context, dir string) error {
	base, err1 := commit("base", "refs/heads/main")
	many, err2 := commit("change", "refs/pull/1/head", "refs/heads/main")
	merged1, err3 := commit("change", "refs/pull/1/merge", "refs/heads/main", "refs/pull/1/head")
	small, err4 := commit("refund", "refs/pull/2/head", "refs/heads/main")
	merged2, err5 := commit("refund", "refs/pull/2/merge", "refs/heads/main", "refs/pull/2/head")
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	return program.MakeRepository(ctx, repository(dir), base+many+merged1+small+merged2)
}

// Push adds a commit to the small pull request, which fixes two mistakes and makes another.
func Push(ctx context.Context, dir string) error {
	again, err1 := commit("again", "refs/pull/2/head", "refs/pull/2/head^0")
	merged, err2 := commit("again", "refs/pull/2/merge", "refs/heads/main^0", "refs/pull/2/head")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	// The trial merge does not follow the one before.
	_, err := program.Git(ctx, repository(dir), again+merged, "fast-import", "--quiet", "--force")
	return err
}

// commit is a commit as git fast-import reads it: it adds the files of a folder of the sample to the first of its
// parents.
func commit(folder, ref string, parents ...string) (string, error) {
	subject := map[string]string{
		"base": "Start the shop", "change": "Pay, ship and report orders", "refund": "Refund orders",
		"again": "Refund orders without a shell",
	}[folder]
	stream := fmt.Sprintf("commit %s\ncommitter Demo <demo@example.com> 1750000000 +0000\ndata %d\n%s\n",
		ref, len(subject), subject)
	for i, parent := range parents {
		stream += []string{"from ", "merge "}[i] + parent + "\n"
	}
	top := "testdata/" + folder
	err := fs.WalkDir(sample, top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := sample.ReadFile(path)
		stream += fmt.Sprintf("M 100644 inline %s\ndata %d\n%s\n", strings.TrimPrefix(path, top+"/"), len(text), text)
		return err
	})
	return stream, err
}
