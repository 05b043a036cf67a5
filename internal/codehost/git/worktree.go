package git

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/prwarden/prwarden/internal/scan"
)

// Staged is the change from HEAD to the index: what is going to be committed.
// Opening it fails with ErrUnmerged while there are conflicts.
func (l *Local) Staged() scan.Source {
	return localSource{l, func(ctx context.Context, r *repo) (*change, error) {
		index, err := l.inIndex(ctx, r)
		if err != nil {
			return nil, err
		}
		return l.indexed(ctx, r, index)
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
	entry := strings.Fields(info)
	if name != path || len(entry) != 3 || !strings.HasPrefix(entry[0], "100") || entry[2] != "0" {
		return nil, nil
	}
	data, err := l.git.run(ctx, newCommand("cat-file", "blob").oids(OID(entry[1])))
	return data[:min(len(data), limit+1)], err
}

// Worktree is the change from HEAD to the files of the work tree as they are,
// without those that are ignored and not tracked. Line endings are stored as
// `git add` would store them, but no filter is run. Paths to omit are left out
// too while they are not tracked: what is written about the scan belongs there.
func (l *Local) Worktree(omit ...string) scan.Source {
	return localSource{l, func(ctx context.Context, r *repo) (*change, error) {
		index, err := l.inIndex(ctx, r)
		if err != nil {
			return nil, err
		}
		apart, err := l.update(ctx, index, omit)
		if err != nil {
			return nil, err
		}

		c, err := l.indexed(ctx, r, index)
		if err == nil {
			c.files = apart
		}
		return c, err
	}}
}

// inIndex is git in the work tree, with a copy of the index in the temporary repository
// and with the settings that say which files there are and how they are stored.
func (l *Local) inIndex(ctx context.Context, r *repo) (*git, error) {
	if l.top == "" {
		return nil, ErrBare
	}
	out, err := l.run(ctx, newCommand("config", "--null", "--get-regexp",
		`^core\.(autocrlf|eol|excludesfile|filemode|symlinks|ignorecase|precomposeunicode)$`))
	var failed *gitError
	if err != nil && (!errors.As(err, &failed) || failed.code != 1) { // 1 is for none
		return nil, err
	}

	if err := copyFiles(l.index, r.git.dir); err != nil {
		return nil, err
	}
	g := *r.git
	g.dir, g.env = l.git.dir, append(g.env, "GIT_WORK_TREE="+l.git.dir)
	for _, pair := range fields(out) {
		key, value, _ := strings.Cut(pair, "\n")
		g.config = append(g.config, setting{key, value})
	}
	return &g, nil
}

// fields are what NULs end.
func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
}

// indexed is the change from HEAD to what the index holds.
func (l *Local) indexed(ctx context.Context, r *repo, index *git) (*change, error) {
	out, err := index.run(ctx, newCommand("write-tree", "--missing-ok"))
	var failed *gitError
	if errors.As(err, &failed) && failed.says(": unmerged (") {
		return nil, ErrUnmerged
	}
	if err != nil {
		return nil, err
	}
	tree, err := parseOID(strings.TrimSpace(string(out)))
	if err != nil {
		return nil, err
	}

	base, err := l.commit(ctx, r, "HEAD")
	var unborn *RefError
	if errors.As(err, &unborn) && unborn.Unborn {
		base, err = Commit{Tree: emptyTree}, nil
	}
	return &change{repo: r, head: Commit{Tree: tree}, base: base, mergeBase: base}, err
}

// update brings the index to what the files are now, but new ones to omit. It
// returns what is told of without its content: large files, and repositories in
// the work tree. No program of a submodule is run, as `git add` would.
func (l *Local) update(ctx context.Context, index *git, omit []string) (apart []changedFile, err error) {
	out, err := index.run(ctx, newCommand(
		"ls-files", "-z", "-t", "--modified", "--unmerged", "--others", "--exclude-standard"))
	if err != nil {
		return nil, err
	}

	found := fields(string(out)) // such as `? path` for a new file, and `C 100644 <oid> 0<tab>path`
	for i, line := range found {
		if _, name, _ := strings.Cut(line, "\t"); line[0] != '?' {
			found[i] = line[:2] + name
		}
	}
	// What was a file goes before what is now in a folder of that name. One with
	// conflicts is listed for each side, by M and C.
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(a[2:], b[2:]), cmp.Compare(b, a)) })
	found = slices.CompactFunc(found, func(a, b string) bool { return a[2:] == b[2:] })
	var gone, changed strings.Builder
	for _, line := range found {
		tag, name := line[0], line[2:]
		if tag == '?' && slices.Contains(omit, name) {
			continue
		}
		lost := tag != '?' && beyondLink(index.dir, name)
		if lost || tag == 'M' { // conflicts must leave the index, or there is no tree of it
			gone.WriteString(name + "\x00")
		}
		if inner, ok := strings.CutSuffix(name, "/"); ok {
			apart = append(apart, changedFile{path: inner, newMode: typeGitlink})
			continue
		}

		file := filepath.Join(index.dir, filepath.FromSlash(name))
		info, err := os.Lstat(file)
		switch {
		case lost || tag == 'M' && err == nil && info.IsDir():
			continue
		case err == nil && info.Mode().IsRegular() && info.Size() > l.git.limits.ScannedSize:
			apart = append(apart, changedFile{path: name, newMode: typeFile, size: info.Size()})
			continue
		case err == nil:
			err = readable(file, info)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			l.skipped(name, err)
			continue
		}
		changed.WriteString(name + "\x00")
	}

	remove := newCommand("update-index", "-z", "--force-remove", "--stdin")
	remove.stdin = strings.NewReader(gone.String())
	if _, err := index.run(ctx, remove); err != nil {
		return nil, err
	}
	add := newCommand("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
	add.stdin = strings.NewReader(changed.String())
	_, err = index.run(ctx, add)
	return apart, err
}

// beyondLink tells whether a folder above a file is a symlink now, so that what is
// there is none of the work tree's. The link need not be in the index, nor new.
func beyondLink(top, name string) bool {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) { // an index may have `/` first
		info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(dir)))
		if err == nil && info.Mode().Type() == fs.ModeSymlink {
			return true
		}
	}
	return false
}

// readable tells why git could not add a file.
func readable(file string, info fs.FileInfo) error {
	switch {
	case info.IsDir() || info.Mode().Type() == fs.ModeSymlink:
		return nil
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	}

	f, err := os.Open(file)
	if err == nil {
		err = f.Close()
	}
	return err
}
