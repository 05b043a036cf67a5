package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// Staged is the change from HEAD to the index: what is going to be committed.
// Opening it fails with ErrUnmerged while there are conflicts.
func (l *Local) Staged() scan.Source {
	return localSource{l, func(ctx context.Context, r *repo) (*change, error) {
		ix, err := l.newIndex(ctx, r)
		if err != nil {
			return nil, err
		}
		conflicts, err := ix.run(ctx, newCommand("ls-files", "--unmerged"))
		if err == nil && len(conflicts) > 0 {
			err = ErrUnmerged
		}
		if err != nil {
			return nil, err
		}
		return ix.change(ctx)
	}}
}

// StagedFile reads a file of the index whose path is a constant; nil when there
// is none, it is no regular file, or it has conflicts. One over limit bytes is cut
// at limit+1 bytes.
func (l *Local) StagedFile(ctx context.Context, path string, limit int) ([]byte, error) {
	if l.top == "" {
		return nil, ErrBare
	}
	list := newCommand("ls-files", "--stage", "-z")
	list.names = []string{path}
	out, err := l.run(ctx, list)
	if err != nil {
		return nil, err
	}

	info, name, _ := strings.Cut(strings.TrimSuffix(out, "\x00"), "\t") // such as `100644 <oid> 0<tab>path`
	fields := strings.Fields(info)
	if name != path || len(fields) != 3 || !strings.HasPrefix(fields[0], "100") || fields[2] != "0" {
		return nil, nil
	}
	data, err := l.git.run(ctx, "", newCommand("cat-file", "blob").oids(OID(fields[1])))
	return data[:min(len(data), limit+1)], err
}

// Worktree is the change from HEAD to the files of the work tree as they are,
// without those that are ignored and not tracked. Line endings are stored as
// `git add` would store them, but no filter is run. Paths to omit are left out
// too while they are not tracked: what is written about the scan belongs there.
func (l *Local) Worktree(omit ...string) scan.Source {
	return localSource{l, func(ctx context.Context, r *repo) (*change, error) {
		ix, err := l.newIndex(ctx, r)
		if err != nil {
			return nil, err
		}
		if err := ix.addAll(ctx, omit); err != nil {
			return nil, err
		}
		return ix.change(ctx)
	}}
}

// index is a copy of a repository's index, in a repository that borrows from it.
type index struct {
	local    *Local
	repo     *repo
	git      *git
	settings []setting
}

// newIndex copies the index, and takes over the settings that say which files
// there are and how they are stored.
func (l *Local) newIndex(ctx context.Context, r *repo) (*index, error) {
	if l.top == "" {
		return nil, ErrBare
	}
	out, err := l.run(ctx, newCommand("config", "--null", "--get-regexp",
		`^core\.(autocrlf|eol|excludesfile|filemode|symlinks|ignorecase|precomposeunicode)$`))
	var failed *gitError
	if err != nil && (!errors.As(err, &failed) || failed.code != 1) { // 1 is for none
		return nil, err
	}

	tree := *r.git
	tree.cwd, tree.env = l.git.cwd, append(tree.env, "GIT_WORK_TREE="+l.git.cwd)
	ix := &index{local: l, repo: r, git: &tree}
	for _, pair := range paths(out) {
		key, value, _ := strings.Cut(pair, "\n")
		ix.settings = append(ix.settings, setting{key, value})
	}
	parts, _ := filepath.Glob(filepath.Join(filepath.Dir(l.paths[indexPath]), "sharedindex.*"))
	err = copyFile(l.paths[indexPath], filepath.Join(r.dir, "index"))

	for _, part := range parts {
		err = errors.Join(err, copyFile(part, filepath.Join(r.dir, filepath.Base(part))))
	}
	return ix, err
}

func (ix *index) run(ctx context.Context, c *command) (string, error) {
	c.config = append(c.config, ix.settings...)
	out, err := ix.git.run(ctx, ix.repo.dir, c)
	return string(out), err
}

// paths are what NULs end.
func paths(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
}

// change is from HEAD to what the index holds.
func (ix *index) change(ctx context.Context) (*change, error) {
	out, err := ix.run(ctx, newCommand("write-tree", "--missing-ok"))
	if err != nil {
		return nil, err
	}
	tree, err := parseOID(strings.TrimSpace(out))
	if err != nil {
		return nil, err
	}

	base, err := ix.local.commit(ctx, ix.repo, "HEAD")
	var unborn *RefError
	if errors.As(err, &unborn) && unborn.Unborn {
		base, err = Commit{Tree: emptyTree}, nil
	}
	return &change{repo: ix.repo, head: Commit{Tree: tree}, base: base, mergeBase: base}, err
}

// addAll brings the index to what the files are now, but new ones to omit.
// Submodules are passed over, because git would run their own programs.
func (ix *index) addAll(ctx context.Context, omit []string) error {
	tracked, err := ix.run(ctx, newCommand("ls-files", "--stage", "-z"))
	if err != nil {
		return err
	}
	var modules strings.Builder
	for _, line := range paths(tracked) { // such as `100644 <oid> 0<tab>path`
		if _, path, _ := strings.Cut(line, "\t"); strings.HasPrefix(line, "160000 ") {
			modules.WriteString(path + "\x00")
		}
	}

	skip := newCommand("update-index", "--skip-worktree", "-z", "--stdin")
	skip.stdin = strings.NewReader(modules.String())
	if _, err := ix.run(ctx, skip); err != nil {
		return err
	}

	exclude, _ := os.ReadFile(ix.local.paths[excludePath]) // there need not be one
	literal := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `)
	for _, path := range omit {
		exclude = fmt.Appendf(exclude, "\n/%s\n", literal.Replace(path))
	}
	if err := writeFile(filepath.Join(ix.repo.dir, "info", "exclude"), exclude); err != nil {
		return fmt.Errorf("git: temporary files: %w", err)
	}
	_, err = ix.run(ctx, newCommand("add", "--all", "--ignore-errors", "."))
	var failed *gitError
	if errors.As(err, &failed) && failed.code == 1 { // it added the others
		ix.local.skipped(ix.local.top, errors.New(failed.stderr))
		err = nil
	}

	return err
}
