package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

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
// is none, or it has conflicts. One over limit bytes is cut at limit+1 bytes.
func (l *Local) StagedFile(ctx context.Context, path string, limit int) ([]byte, error) {
	if l.top == "" {
		return nil, ErrBare
	}
	c := newCommand("cat-file", "blob")
	c.names = []string{":" + path}
	data, err := l.git.run(ctx, "", c)
	var failed *gitError
	if errors.As(err, &failed) {
		return nil, nil
	}
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
	own := l.paths[indexPath]
	shared, _ := filepath.Glob(filepath.Join(filepath.Dir(own), "sharedindex.*"))
	err := copyFile(own, filepath.Join(r.dir, "index"))
	for _, path := range shared {
		err = errors.Join(err, copyFile(path, filepath.Join(r.dir, filepath.Base(path))))
	}
	if err != nil {
		return nil, err
	}

	out, err := l.run(ctx, newCommand("config", "--null", "--get-regexp",
		`^core\.(autocrlf|eol|excludesfile|filemode|symlinks|ignorecase|precomposeunicode)$`))
	var failed *gitError
	if err != nil && (!errors.As(err, &failed) || failed.code != 1) { // 1 is for none
		return nil, err
	}
	ix := &index{local: l, repo: r}
	for _, pair := range paths(out) {
		key, value, _ := strings.Cut(pair, "\n")
		ix.settings = append(ix.settings, setting{key, value})
	}
	tree := *r.git
	tree.cwd = l.git.cwd
	tree.env = append(tree.env, "GIT_WORK_TREE="+tree.cwd)
	ix.git = &tree
	return ix, nil
}

// copyFile copies a file if there is one. The copy is of the same time: by that of
// an index git tells which files may have changed just after they were looked at.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	data, err := os.ReadFile(from)
	if err == nil {
		err = writeFile(to, data)
	}
	if err == nil {
		err = os.Chtimes(to, time.Time{}, info.ModTime())
	}
	return err
}

func (ix *index) run(ctx context.Context, c *command) (string, error) {
	c.config = append(c.config, ix.settings...)
	out, err := ix.git.run(ctx, ix.repo.dir, c)
	return string(out), err
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

// paths are what NULs end.
func paths(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
}

// addAll brings the index to what the files are now, but new ones to omit.
func (ix *index) addAll(ctx context.Context, omit []string) error {
	changed, err := ix.run(ctx, newCommand("diff-files", "--name-only", "-z", "--ignore-submodules=dirty"))
	if err != nil {
		return err
	}
	others, err := ix.run(ctx, newCommand("ls-files", "--others", "--exclude-standard", "-z"))
	if err != nil {
		return err
	}

	fresh := slices.DeleteFunc(paths(others), func(path string) bool { return slices.Contains(omit, path) })
	all := append(slices.Compact(paths(changed)), fresh...) // one with conflicts is there twice
	var add, info bytes.Buffer
	for _, path := range all {
		if err := ix.sort(path, &add, &info); err != nil {
			ix.local.skipped(path, err)
		}
	}

	if add.Len() > 0 {
		c := newCommand("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
		c.stdin = &add
		if _, err := ix.run(ctx, c); err != nil {
			return err
		}
	}
	c := newCommand("update-index", "--replace", "-z", "--index-info")
	c.stdin = &info
	_, err = ix.run(ctx, c)
	return err
}

// largeFile is the size, in bytes, from which on a file is not added as it is:
// it is not going to be looked at, and may take long. Line endings can make up
// half of a text.
const largeFile = 4 * scan.MaxFileSize

// sort says how a path comes into the index: git reads the file, which is written
// to add, or what stands for it is written to info.
func (ix *index) sort(path string, add, info *bytes.Buffer) error {
	if repo, ok := strings.CutSuffix(path, "/"); ok { // a repository in this one, that nobody added
		fmt.Fprintf(info, "%o %s\t%s\x00", typeGitlink, emptyTree, repo)
		return nil
	}

	full := filepath.Join(ix.git.cwd, filepath.FromSlash(path))
	st, err := os.Lstat(full)
	gone := errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	switch {
	case gone || ix.behindLink(path): // git itself refuses to look behind a link
		fmt.Fprintf(info, "0 %s\t%s\x00", noOID, path)
		return nil
	case err != nil:
		return err
	case st.IsDir() || st.Mode()&os.ModeSymlink != 0:
		add.WriteString(path + "\x00")
		return nil
	case !st.Mode().IsRegular():
		return errors.New("it is neither a file nor a symbolic link")
	}

	f, err := os.Open(full)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if st.Size() < largeFile {
		add.WriteString(path + "\x00")
		return nil
	}
	start := make([]byte, scan.MaxFileSize+1)
	if _, err := io.ReadFull(f, start); err != nil {
		return err
	}
	oid, err := writeObject(ix.repo.dir, "blob", start)
	if err == nil {
		fmt.Fprintf(info, "%o %s\t%s\x00", typeFile|0o644, oid, path)
	}
	return err
}

// behindLink tells whether a folder on the way to a path was replaced by a
// symbolic link.
func (ix *index) behindLink(path string) bool {
	for i, c := range path {
		if c != '/' {
			continue
		}
		st, err := os.Lstat(filepath.Join(ix.git.cwd, filepath.FromSlash(path[:i])))
		if err == nil && st.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
