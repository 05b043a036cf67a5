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
	return localSource{l, func(ctx context.Context, r *Repo) (*change, error) {
		ix, err := l.newIndex(r)
		if err != nil {
			return nil, err
		}
		conflicts, err := ix.git.run(ctx, "", l.command("ls-files", "--unmerged", "-z"))
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
// is no regular file. One over limit bytes is cut at limit+1 bytes.
func (l *Local) StagedFile(ctx context.Context, path string, limit int) ([]byte, error) {
	if l.top == "" {
		return nil, ErrBare
	}
	out, err := l.git("GIT_LITERAL_PATHSPECS=1").run(ctx, "", l.command("ls-files", "--stage", "-z", "--", word(path)))
	if err != nil {
		return nil, err
	}

	// `100644 <oid> 0<tab>path`; there are several while there is a conflict.
	fields := strings.Fields(string(out))
	if len(fields) < 3 || !strings.HasPrefix(fields[0], "100") {
		return nil, nil
	}
	oid, err := parseOID(fields[1])
	if err != nil {
		return nil, err
	}
	data, err := l.git().run(ctx, "", l.command("cat-file", "blob").oids(oid))
	return data[:min(len(data), limit+1)], err
}

// Worktree is the change from HEAD to the files of the work tree as they are,
// without those that are ignored and not tracked. Line endings are stored as
// `git add` would store them, but no filter is run. Paths to omit are left out
// too while they are not tracked: what is written about the scan belongs there.
func (l *Local) Worktree(omit ...string) scan.Source {
	return localSource{l, func(ctx context.Context, r *Repo) (*change, error) {
		ix, err := l.newIndex(r)
		if err != nil {
			return nil, err
		}
		if err := ix.disarm(ctx); err != nil {
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
	local   *Local
	repo    *Repo
	git     *git
	filters []setting // that make the configured filters do nothing
}

// newIndex copies the index. The copy is of the same time: by that git tells
// which files may have changed just after they were looked at.
func (l *Local) newIndex(r *Repo) (*index, error) {
	if l.top == "" {
		return nil, ErrBare
	}
	path := filepath.Join(r.gen.dir, "index")
	ix := &index{local: l, repo: r}
	ix.git = l.git("GIT_INDEX_FILE="+path, "GIT_OBJECT_DIRECTORY="+filepath.Join(r.gen.dir, "objects"))
	err := copyFile(l.index, path)
	if errors.Is(err, os.ErrNotExist) { // nothing was ever added
		return ix, nil
	}
	return ix, err
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("git: index: %w", err)
	}
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err == nil {
		err = os.Chtimes(to, time.Time{}, info.ModTime())
	}
	if err != nil {
		return fmt.Errorf("git: index: %w", err)
	}
	return nil
}

// change compares HEAD with what the index holds.
func (ix *index) change(ctx context.Context) (*change, error) {
	out, err := ix.git.run(ctx, "", ix.command("write-tree", "--missing-ok"))
	if err != nil {
		return nil, err
	}
	tree, err := parseOID(strings.TrimSpace(string(out)))
	if err != nil {
		return nil, err
	}

	base := Commit{Tree: emptyTree}
	oid, err := ix.local.resolve(ctx, "HEAD")
	var unborn *RefError
	switch {
	case err == nil:
		if base, err = ix.repo.Commit(ctx, oid); err != nil {
			return nil, err
		}
	case !errors.As(err, &unborn) || !unborn.Unborn:
		return nil, err
	}
	c := &change{repo: ix.repo, head: Commit{Tree: tree}, base: base, mergeBase: base}
	return c, c.compare(ctx)
}

// command is one that looks at files, without filters.
func (ix *index) command(verb word, options ...word) *command {
	c := ix.local.command(verb, options...)
	c.config = append(c.config, ix.filters...)
	return c
}

// disarm finds the filters that the configuration names.
func (ix *index) disarm(ctx context.Context) error {
	out, err := ix.git.run(ctx, "", ix.local.command("config", "--name-only", "-z",
		"--get-regexp", `^filter\..*\.(clean|process|required)$`))
	var failed *gitError
	if err != nil && (!errors.As(err, &failed) || failed.code != 1) { // 1 is for none
		return err
	}

	for _, key := range paths(out) {
		value := ""
		if strings.HasSuffix(key, ".required") {
			value = "false"
		}
		ix.filters = append(ix.filters, setting{key, value})
		if driver, ok := strings.CutSuffix(key, ".clean"); ok { // an empty process goes before any clean
			ix.filters = append(ix.filters, setting{driver + ".process", ""})
		}
	}
	return nil
}

// paths are what NULs end.
func paths(list []byte) []string {
	var all []string
	for part := range bytes.SplitSeq(list, []byte{0}) {
		if len(part) > 0 {
			all = append(all, string(part))
		}
	}
	return all
}

// largeFile is the size, in bytes, from which on a file is not added as it is:
// it is not going to be looked at, and may take long. Line endings can make up
// half of a text.
const largeFile = 4 * scan.MaxFileSize

// addAll brings the index to what the files are now, but new ones to omit.
func (ix *index) addAll(ctx context.Context, omit []string) error {
	changed, err := ix.git.run(ctx, "", ix.command("diff-files", "--name-only", "-z",
		"--ignore-submodules=dirty", "--no-ext-diff"))
	if err != nil {
		return err
	}
	others, err := ix.git.run(ctx, "", ix.local.command("ls-files", "--others", "--exclude-standard", "-z"))
	if err != nil {
		return err
	}

	fresh := slices.DeleteFunc(paths(others), func(path string) bool { return slices.Contains(omit, path) })
	var add, info bytes.Buffer // the input of the two commands below
	seen := map[string]bool{}
	for _, path := range append(paths(changed), fresh...) {
		if seen[path] { // one with conflicts
			continue
		}
		seen[path] = true
		if err := ix.sort(path, &add, &info); err != nil {
			ix.local.skipped(path, err)
		}
	}

	for _, step := range []struct {
		c     *command
		input *bytes.Buffer
	}{
		{ix.command("update-index", "--add", "--remove", "--replace", "-z", "--stdin"), &add},
		{ix.command("update-index", "--replace", "-z", "--index-info"), &info},
	} {
		if step.input.Len() == 0 {
			continue
		}
		step.c.stdin = step.input
		if _, err := ix.git.run(ctx, "", step.c); err != nil {
			return err
		}
	}
	return nil
}

// full is where the file of a path is.
func (ix *index) full(path string) string {
	return filepath.Join(filepath.FromSlash(ix.local.top), filepath.FromSlash(path))
}

// behindLink tells whether a folder on the way to a path was replaced by a
// symbolic link.
func (ix *index) behindLink(path string) bool {
	for i, c := range path {
		if c != '/' {
			continue
		}
		if st, err := os.Lstat(ix.full(path[:i])); err == nil && st.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// sort says how a path comes into the index: git reads it, which is written to
// add, or what stands for it is written to info.
func (ix *index) sort(path string, add, info *bytes.Buffer) error {
	if repo, ok := strings.CutSuffix(path, "/"); ok { // a repository in this one, that nobody added
		fmt.Fprintf(info, "%o %s\t%s\x00", typeGitlink, emptyTree, repo)
		return nil
	}
	if ix.behindLink(path) { // then it is gone; git itself refuses to look there
		fmt.Fprintf(info, "0 %s\t%s\x00", noOID, path)
		return nil
	}

	full := ix.full(path)
	st, err := os.Lstat(full)
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	if err != nil || st.IsDir() || st.Mode()&os.ModeSymlink != 0 {
		add.WriteString(path + "\x00")
		return nil
	}
	if !st.Mode().IsRegular() {
		return errors.New("it is neither a file nor a symbolic link")
	}
	f, err := os.Open(full)
	if err != nil {
		return err
	}
	defer closeFile(f)
	if st.Size() < largeFile {
		add.WriteString(path + "\x00")
		return nil
	}

	start := make([]byte, scan.MaxFileSize+1)
	if _, err := io.ReadFull(f, start); err != nil {
		return err
	}
	oid, err := ix.repo.writeObject("blob", start)
	if err == nil {
		fmt.Fprintf(info, "%o %s\t%s\x00", typeFile|0o644, oid, path)
	}
	return err
}
