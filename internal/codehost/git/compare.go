package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// changedFile is a file that differs between two trees, as git pairs it with
// what it was before, which may have had another name.
type changedFile struct {
	path             string // at head
	status           byte   // of `git diff-tree`: A, D, M, R, T
	oldMode, newMode mode
	old, now         OID // noOID when there was none
	oldSize, size    int64
}

// maxPath is the longest path of a changed file, in bytes.
const maxPath = 4096

// choose chooses the endpoints and compares head with where it left base.
func (r *Repo) choose(ctx context.Context) (*change, error) {
	chosen := scan.Begin(ctx, scan.PhaseEnds)
	head, base, err := r.request.Endpoints(ctx, r)
	chosen()
	if err != nil {
		return nil, err
	}
	return r.change(ctx, head, base)
}

// change compares head with where it left base.
func (r *Repo) change(ctx context.Context, head, base Commit) (*change, error) {
	chosen := scan.Begin(ctx, scan.PhaseEnds)
	oid, found, err := r.MergeBase(ctx, base.OID, head.OID)
	chosen()
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, &scan.Failure{
			Code: scan.CodeNoMergeBase, Lasting: true,
			Message: "The pull request's head has no history in common with what it is to be merged into.",
		}
	}

	mergeBase, err := r.Commit(ctx, oid)
	if err != nil {
		return nil, err
	}
	c := &change{repo: r, head: head, base: base, mergeBase: mergeBase}
	return c, c.compare(ctx)
}

// compare finds the files that differ between the merge base and head, and
// fetches their contents and the files to prefetch where the cache lacks them.
func (c *change) compare(ctx context.Context) error {
	r := c.repo
	compared := scan.Begin(ctx, scan.PhaseCompare)
	files, renames, err := r.compareTrees(ctx, c.mergeBase.Tree, c.head.Tree)
	if err != nil {
		return err
	}
	blobs := contents(files)
	for _, path := range r.store.prefetch {
		for _, side := range []Commit{c.head, c.base, c.mergeBase} {
			oid, err := r.file(ctx, side.Tree, path)
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
	if !renames && slices.ContainsFunc(files, statusIs('A')) && slices.ContainsFunc(files, statusIs('D')) {
		if files, err = r.findRenames(ctx, c.mergeBase.Tree, c.head.Tree); err != nil {
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

// contents are the contents of files that git needs to compare them.
func contents(files []changedFile) []OID {
	var blobs []OID
	for _, f := range files {
		if f.old == f.now && !f.replaced() {
			continue
		}
		if f.oldMode.blob() {
			blobs = append(blobs, f.old)
		}
		if f.newMode.blob() {
			blobs = append(blobs, f.now)
		}
	}
	return blobs
}

// The options under which git lists changed files.
func rawOptions(more ...word) []word {
	return append([]word{"-r", "--raw", "-z", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none"}, more...)
}

// comparison is a process that compares two trees as soon as it is told which.
type comparison struct {
	proc    *process
	renames bool // it also finds renames, for which it needs contents
}

// startComparing starts the process that compares the trees, which are not
// known yet. It has tight limits, because trees can be made so that comparing
// them has no end.
func (r *Repo) startComparing(ctx context.Context, renames bool) error {
	option := word("--no-renames")
	if renames {
		option = "--find-renames"
	}
	c := newCommand("diff-tree", rawOptions(option, "--stdin")...)
	c.trees = true
	proc, err := r.store.git.start(ctx, r.gen.dir, c)
	r.comparison = comparison{proc, renames}
	return err
}

// compareTrees lists the files that differ between two trees. Mostly the cache
// has all contents or none: when it is not new, renames are tried at once.
func (r *Repo) compareTrees(ctx context.Context, old, now OID) (files []changedFile, renames bool, err error) {
	var failed *gitError
	if r.comparison.renames {
		files, err = r.finishComparing(ctx, old, now)
		if !errors.As(err, &failed) {
			return files, true, err
		}
	}

	if r.comparison.proc == nil {
		if err := r.startComparing(ctx, false); err != nil {
			return nil, false, err
		}
	}
	files, err = r.finishComparing(ctx, old, now)
	if errors.As(err, &failed) && failed.limited() {
		failure := tooLarge("The pull request changes more files and directories than git can compare within its limits.")
		failure.Err = err
		return nil, false, failure
	}
	return files, false, err
}

// finishComparing tells the process that was started which trees to compare.
func (r *Repo) finishComparing(ctx context.Context, old, now OID) ([]changedFile, error) {
	p := r.comparison.proc
	r.comparison = comparison{}
	// What the process does not take it reports by its end.
	_, _ = fmt.Fprintf(p.stdin, "%s %s\n", old, now)
	_ = p.stdin.Close()

	out := bufio.NewReaderSize(p.stdout, 64<<10)
	_, _ = out.ReadSlice('\n') // it repeats the trees
	return r.readFiles(ctx, p, out)
}

// findRenames lists the files that differ between two trees, which
// compareTrees has bounded. It needs their contents.
func (r *Repo) findRenames(ctx context.Context, old, now OID) ([]changedFile, error) {
	p, err := r.store.git.start(ctx, r.gen.dir, newCommand("diff-tree", rawOptions("--find-renames")...).oids(old, now))
	if err != nil {
		return nil, err
	}
	return r.readFiles(ctx, p, p.stdout)
}

// readFiles reads the list that a process writes, and waits for its end.
func (r *Repo) readFiles(ctx context.Context, p *process, out io.Reader) ([]changedFile, error) {
	defer p.kill()
	bounded := &io.LimitedReader{R: out, N: maxOutput}
	files, err := readRaw(bufio.NewReaderSize(bounded, 64<<10), r.store.git.limits.ChangedFiles)
	if bounded.N == 0 {
		return nil, tooLarge("The list of the files that the pull request changes takes more than %d bytes.", maxOutput)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if ended := p.wait(ctx); ended != nil { // it says why the list is cut off
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
		if f.status == 'R' || f.status == 'C' {
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

func tooLarge(format string, args ...any) *scan.Failure {
	return &scan.Failure{Code: scan.CodePullRequestTooLarge, Message: fmt.Sprintf(format, args...), Lasting: true}
}
