package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// change is an opened pull request.
type change struct {
	repo                  *repo
	head, base, mergeBase Commit
	files                 []changedFile // by path
}

var _ scan.Change = (*change)(nil)

// HeadSHA implements scan.Change.
func (c *change) HeadSHA() string { return string(c.head.OID) }

// BaseSHA implements scan.Change.
func (c *change) BaseSHA() string { return string(c.base.OID) }

// FileCount implements scan.Change.
func (c *change) FileCount() int { return len(c.files) }

// Close implements scan.Change. It can be called again.
func (c *change) Close() error { return c.repo.close() }

// ReadFile implements scan.Change. Files that were not among the paths to
// prefetch may be missing.
func (c *change) ReadFile(ctx context.Context, side scan.Side, path string, limit int) ([]byte, bool, error) {
	commit := c.head
	switch side {
	case scan.Base:
		commit = c.base
	case scan.MergeBase:
		commit = c.mergeBase
	}

	oid, err := c.repo.objects.file(ctx, commit.Tree, path)
	if err == nil && oid == "" {
		return nil, false, nil
	}
	var data []byte
	if err == nil {
		data, err = c.repo.objects.read(ctx, oid, "blob", int64(limit))
	}
	if err != nil {
		return nil, false, c.repo.fail(ctx, err)
	}

	return data, true, nil
}

// Files implements scan.Change.
func (c *change) Files(ctx context.Context) iter.Seq2[*scan.File, error] {
	return func(yield func(*scan.File, error) bool) {
		if err := c.eachFile(ctx, yield); err != nil {
			yield(nil, c.repo.fail(ctx, err))
		}
	}
}

// eachFile has one process of git compare the files and another one read them.
// Both work ahead of what is read here.
func (c *change) eachFile(ctx context.Context, yield func(*scan.File, error) bool) error {
	patches, err := c.startPatches(ctx)
	if err != nil {
		return err
	}
	defer patches.kill()
	var blobs []OID
	for i := range c.files {
		if f := &c.files[i]; f.compared() {
			blobs = append(blobs, f.now)
		}
	}

	contents, err := c.repo.objects.batch(ctx, queryContents, names(blobs))
	if err != nil {
		return err
	}
	defer contents.end()

	for i := range c.files {
		file, err := c.file(ctx, i, patches, contents)
		if err != nil {
			return err
		}
		if !yield(file, nil) {
			return nil
		}
	}

	return patches.end(ctx)
}

func (c *change) file(ctx context.Context, i int, patches *patches, contents *batch) (*scan.File, error) {
	f := &c.files[i]
	file := &scan.File{Path: f.path, Size: f.size, Submodule: f.newMode.kind() == typeGitlink}
	if !f.compared() {
		return file, nil
	}

	hasOld := c.hasOld(f)
	if hasOld {
		var err error
		if file.Added, err = patches.next(ctx, i); err != nil {
			return nil, err
		}
	}
	defer scan.Begin(ctx, scan.PhaseRead)()
	err := contents.next(ctx, func(obj object, content io.Reader) (err error) {
		if !hasOld || len(file.Added) > 0 {
			file.Content, err = obj.read("blob", content, scan.MaxFileSize)
		}
		return err
	})

	if !hasOld && err == nil {
		file.Added = []scan.LineRange{{First: 1, Last: countLines(file.Content)}}
	}
	return file, err
}

// countLines counts the lines of a file that is not empty, as git does.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// changedFile is a file that differs between two trees, as git pairs it with
// what it was before, which may have had another name.
type changedFile struct {
	path             string // at head
	status           byte   // of `git diff-tree`: A, D, M, R, T
	oldMode, newMode mode
	old, now         OID // noOID when there was none
	oldSize, size    int64
}

// compared tells whether the lines of f are looked at: whether it may have added
// some, and is small enough to be scanned.
func (f *changedFile) compared() bool {
	return f.newMode.blob() && (f.old != f.now || f.replaced()) && f.size > 0 && f.size <= scan.MaxFileSize
}

// replaced tells whether a file became a symlink or the like. git shows that
// as deleted and added, even when the content stays.
func (f *changedFile) replaced() bool { return f.oldMode.kind() != f.newMode.kind() }

// hasOld tells whether f, which is compared, has an old side to compare with.
// Of a file without one all lines were added, and git need not say so.
func (c *change) hasOld(f *changedFile) bool {
	return f.old != noOID && !f.replaced() && f.oldSize <= c.repo.git.limits.OldFileSize
}

// compare finds the files that differ between the merge base and head, and
// fetches their contents and the files to prefetch where the cache lacks them.
func (c *change) compare(ctx context.Context) error {
	r := c.repo
	compared := scan.Begin(ctx, scan.PhaseCompare)
	files, err := c.differing(ctx, r.comparing)
	if err != nil {
		return err
	}
	var blobs []OID
	for _, f := range files {
		if f.oldMode.blob() {
			blobs = append(blobs, f.old)
		}
		if f.newMode.blob() {
			blobs = append(blobs, f.now)
		}
	}

	for _, path := range r.prefetch {
		for _, side := range []Commit{c.head, c.base, c.mergeBase} {
			oid, err := r.objects.file(ctx, side.Tree, path)
			if err != nil {
				return err
			}
			if oid != "" {
				blobs = append(blobs, oid)
			}
		}
	}

	compared()

	sizes, err := r.ensure(ctx, blobs)
	if err != nil {
		return err
	}
	defer scan.Begin(ctx, scan.PhaseCompare)()
	if slices.ContainsFunc(files, statusIs('A')) && slices.ContainsFunc(files, statusIs('D')) {
		p, err := r.git.start(ctx, r.dir, listFiles("--find-renames"))
		if err != nil {
			return err
		}
		if files, err = c.differing(ctx, p); err != nil {
			return err
		}
	}

	c.files = slices.DeleteFunc(files, statusIs('D'))
	slices.SortFunc(c.files, func(a, b changedFile) int { return strings.Compare(a.path, b.path) })
	for i := range c.files {
		f := &c.files[i]
		f.size, f.oldSize = sizes[f.now], sizes[f.old]
		if i > 0 && f.path == c.files[i-1].path {
			return fmt.Errorf("%w: a tree has a name twice", errDamaged)
		}
	}

	return nil
}

func statusIs(status byte) func(changedFile) bool {
	return func(f changedFile) bool { return f.status == status }
}

// listFiles is a command that lists the files that differ between trees, which it
// is told later. Without renames it needs no contents, and has tight limits, because
// trees can be made so that comparing them has no end.
func listFiles(renames word) *command {
	c := newCommand("diff-tree",
		renames, "--stdin", "-r", "--raw", "-z", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none")
	c.trees = renames == "--no-renames"
	return c
}

// differing has a process list the files that differ between the merge base and
// head, and waits for its end.
func (c *change) differing(ctx context.Context, p *process) ([]changedFile, error) {
	defer p.kill()
	// What the process does not take it reports by its end.
	_, _ = fmt.Fprintf(p.stdin, "%s %s\n", c.mergeBase.Tree, c.head.Tree)
	_ = p.stdin.Close()

	bounded := &io.LimitedReader{R: p.stdout, N: maxOutput}
	out := bufio.NewReaderSize(bounded, 64<<10)
	_, _ = out.ReadSlice('\n') // it repeats the trees
	files, err := readRaw(out, c.repo.git.limits.ChangedFiles)
	if bounded.N == 0 {
		return nil, tooLarge("The list of the files that the pull request changes takes more than %d bytes.", maxOutput)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}

	ended := p.wait(ctx) // it says why the list is cut off
	var failed *gitError
	if errors.As(ended, &failed) {
		if f := failed.judge(); f != nil && f.Code == scan.CodeRepositoryTooLarge {
			f = tooLarge("The pull request changes more files and directories than git can compare within its limits.")
			f.Err = ended
			return nil, f
		}
	}

	if ended != nil {
		return nil, ended
	}
	return files, err
}

// readRaw reads the output of `git diff-tree --raw -z`, of most files at most.
func readRaw(r *bufio.Reader, most int) ([]changedFile, error) {
	var files []changedFile
	for {
		meta, err := readNUL(r)
		if errors.Is(err, io.EOF) && meta == "" {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("git: raw diff: %w", err)
		}
		f, err := parseMeta(meta)
		if err != nil {
			return nil, err
		}

		paths := 1
		if f.status == 'R' {
			paths = 2 // what it was, what it is
		}
		for range paths {
			if f.path, err = readNUL(r); err != nil {
				return nil, fmt.Errorf("git: raw diff: %w", err)
			}
		}
		if err := checkPath(f.path); err != nil {
			return nil, err
		}
		if files = append(files, f); len(files) > most {
			return nil, tooLarge("The pull request changes more than %d files.", most)
		}
	}
}

// parseMeta reads such as `:100644 100644 <oid> <oid> R086`.
func parseMeta(meta string) (f changedFile, err error) {
	fields := strings.Split(meta, " ")
	if len(fields) != 5 || len(fields[0]) < 2 || fields[0][0] != ':' || fields[4] == "" {
		return f, fmt.Errorf("git: raw diff has the line %q", meta)
	}

	oldMode, err1 := strconv.ParseUint(fields[0][1:], 8, 32)
	newMode, err2 := strconv.ParseUint(fields[1], 8, 32)
	var err3, err4 error
	f.old, err3 = parseOID(fields[2])
	f.now, err4 = parseOID(fields[3])
	f.oldMode, f.newMode, f.status = mode(oldMode), mode(newMode), fields[4][0]
	return f, errors.Join(err1, err2, err3, err4)
}

func readNUL(r *bufio.Reader) (string, error) {
	data, err := r.ReadBytes(0)
	return string(bytes.TrimSuffix(data, []byte{0})), err
}

// maxPath is the longest path of a changed file, in bytes.
const maxPath = 4096

// checkPath refuses paths that git itself would never make: they lead out of
// the repository, or into its own directory.
func checkPath(path string) error {
	if len(path) > maxPath {
		return tooLarge("The pull request changes a file whose path is longer than %d bytes.", maxPath)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return fmt.Errorf("%w: a tree has the path %q", errDamaged, path)
		}
	}

	return nil
}
