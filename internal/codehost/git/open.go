package git

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// The refs of the cache. Those of the last scan that named commits are kept,
// because the next fetch tells the server what is here; more would add up.
const (
	refsName   = "refs/prwarden/"
	defaultRef = refsName + "default/ref"
	headRef    = refsName + "head/ref"
	mergeRef   = refsName + "merge/ref"
	namedHead  = refsName + "commits/head"
	namedBase  = refsName + "commits/base"
)

var _ scan.Source = (*Store)(nil)

// Open fetches what the target names from its host and opens the change. It fails
// with a *scan.Failure. A copy in the cache that turns out damaged is fetched
// anew, once. Canceling ctx ends what it started.
func (s *Store) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	t.Host = t.Host.WithDefaults()
	remote, err := s.remote(t)
	if err != nil {
		return nil, err
	}

	c, again, err := s.open(ctx, t, remote)
	for again {
		c, again, err = s.open(ctx, t, remote)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// remote is where the repository of a target is. It checks what comes from others.
func (s *Store) remote(t scan.Target) (Remote, error) {
	misconfigured := func(why string) error {
		return lasting(scan.CodeHostMisconfigured, "The organization %s can't be scanned here: %s.", t.Organization, why)
	}
	if problems := t.Host.Validate([]string{t.Repo}); len(problems) > 0 {
		return Remote{}, misconfigured(problems[0].Field + ": " + problems[0].Description)
	}
	if rule.CheckRepository(t.Repo) != nil { // what it lets through is safe in a URL
		return Remote{}, lasting(scan.CodeRepositoryNotFound, "%q is no repository: it must be `owner/name`.", t.Repo)
	}
	if t.Number < 1 {
		return Remote{}, lasting(scan.CodePullRequestNotFound, "%s has no pull request %d.", t.Repo, t.Number)
	}

	return Remote{
		URL: t.Host.RepositoryURL(t.Repo), Token: t.Credential.Token,
		Username: cmp.Or(t.Credential.Username, organization.DefaultUsername), Guarded: t.Guarded,
	}, nil
}

// open fetches the target and opens the change. While the remote is waited
// for, the processes that are needed afterwards start.
func (r *repo) open(ctx context.Context) (*change, error) {
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	if err := r.fetchTarget(ctx); err != nil {
		return nil, err
	}

	chosen := scan.Begin(ctx, scan.PhaseEnds)
	c, err := r.endpoints(ctx)
	chosen()
	if err != nil {
		return nil, err
	}
	return c, c.compare(ctx)
}

// fetchTarget fetches the commits and trees of a pull request, or of the commits
// that the target names, with their history.
func (r *repo) fetchTarget(ctx context.Context) error {
	t := r.target
	if t.Commits != (finding.Commits{}) {
		return r.fetchCommits(ctx, t.Commits)
	}

	number := strconv.Itoa(int(t.Number))
	return r.fetch(ctx, newFetch(r.remote, "--prune").
		refspec("HEAD", defaultRef, anyEnd).
		refspec(strings.ReplaceAll(t.Host.HeadRef, "{number}", number), headRef, anyEnd).
		refspec(strings.ReplaceAll(t.Host.MergeRef, "{number}", number), mergeRef, anyEnd))
}

// endpoints finds what is to be merged into what, and where head left base.
func (r *repo) endpoints(ctx context.Context) (*change, error) {
	if r.target.Commits != (finding.Commits{}) {
		return r.namedEndpoints(ctx, r.target.Commits)
	}

	head, found, err := r.ref(ctx, headRef)
	if err == nil && !found {
		err = lasting(scan.CodePullRequestNotFound, "%s has no pull request %d.", r.target.Repo, r.target.Number)
	}
	if err != nil {
		return nil, err
	}
	merge, found, err := r.ref(ctx, mergeRef)
	if err != nil {
		return nil, err
	}

	// The server's trial merge is of an older head when it is not up to date.
	if found && len(merge.Parents) == 2 && merge.Parents[1] == head.OID {
		return r.between(ctx, merge.Parents[0], head, finding.BaseMergeRef)
	}
	if r.target.RequireBase {
		return nil, r.baseRequired(found)
	}

	branch, found, err := r.ref(ctx, defaultRef)
	if err == nil && !found {
		err = baseUnknown("The repository's HEAD leads to no branch, so its default branch can't be told.")
	}
	if err != nil {
		return nil, err
	}
	c, err := r.beforeMerge(ctx, branch.OID, head, "The pull request was fast-forwarded into the default branch "+
		"or is equal to it, so what it was to be merged into can't be told.")
	if err != nil {
		return nil, err
	}
	if c.baseFoundBy = finding.BaseMergeCommit; c.base.OID == branch.OID {
		c.baseFoundBy = finding.BaseDefaultBranch
	}

	return c, nil
}

// between is the change from where head left base to head. Of several merge bases
// it takes the first, as `git diff base...head` does.
func (r *repo) between(ctx context.Context, baseOID OID, head Commit, by finding.BaseFoundBy) (*change, error) {
	out, err := r.git.run(ctx, newCommand("merge-base").oids(baseOID, head.OID))
	var failed *gitError
	if errors.As(err, &failed) && failed.code == 1 && failed.signal == 0 && len(out) == 0 {
		return nil, lasting(scan.CodeNoMergeBase,
			"The pull request's head has no history in common with what it is to be merged into.")
	}
	if err != nil {
		return nil, err
	}

	base, err := r.commit(ctx, baseOID)
	if err != nil {
		return nil, err
	}
	mergeBase, err := r.commit(ctx, OID(strings.TrimSpace(string(out))))
	return &change{repo: r, head: head, base: base, mergeBase: mergeBase, baseFoundBy: by}, err
}

// changedFile is a file that differs between two trees, as git pairs it with
// what it was before, which may have had another name.
type changedFile struct {
	path             string // at head
	oldPath          string // at the merge base, also when it is the same
	status           byte   // of `git diff-tree`: A, D, M, R, T
	oldMode, newMode mode
	old, now         OID  // noOID when there was none
	isFollowed       bool // a link that leads to oldPath, see follow
	oldSize, size    int64
}

// compared tells whether the lines of f are looked at: whether it may have added
// some, or is where other rules look, and is small enough to be scanned.
func (c *change) compared(f *changedFile) bool {
	return f.differs() && f.size > 0 && f.size <= c.repo.git.limits.ScannedSize
}

// differs tells whether f is a file of which more than the mode changed.
func (f *changedFile) differs() bool {
	return f.newMode.blob() && (f.old != f.now || f.replaced() || f.moved())
}

// moved tells whether f had another path.
func (f *changedFile) moved() bool { return f.oldPath != f.path }

// replaced tells whether a file became a symlink or the like. git shows that
// as deleted and added, even when the content stays.
func (f *changedFile) replaced() bool { return f.oldMode.kind() != f.newMode.kind() }

// hasOld tells whether f, which is compared, has an old side to compare with.
// Of a file without one all lines were added, and git need not say so. One that was
// too large to be scanned has none, because no rule has seen its lines.
func (c *change) hasOld(f *changedFile) bool {
	return f.old != noOID && !f.replaced() && f.oldSize <= c.repo.git.limits.ScannedSize
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

	for _, side := range []Commit{c.head, c.base, c.mergeBase} {
		oid, err := r.file(ctx, side.Tree, rule.FilePath)
		if err != nil {
			return err
		}
		if oid != "" {
			blobs = append(blobs, oid)
		}
	}

	compared()

	sizes, err := r.ensure(ctx, blobs)
	if err != nil {
		return err
	}
	defer scan.Begin(ctx, scan.PhaseCompare)()
	if slices.ContainsFunc(files, statusIs('A')) && slices.ContainsFunc(files, statusIs('D')) {
		p, err := r.git.start(ctx, listFiles("--find-renames"))
		if err != nil {
			return err
		}
		if files, err = c.differing(ctx, p); err != nil {
			return err
		}
	}

	if c.files = files; !r.target.ForDiff {
		if err := c.follow(ctx, files, sizes); err != nil {
			return err
		}
		c.files = slices.DeleteFunc(files, statusIs('D'))
	}
	slices.SortFunc(c.files, byPath)
	for i := range c.files {
		f := &c.files[i]
		f.size, f.oldSize = sizes[f.now], sizes[f.old]
		if i > 0 && f.path == c.files[i-1].path {
			return fmt.Errorf("%w: a tree has a name twice", errDamaged)
		}
	}

	return nil
}

func byPath(a, b changedFile) int { return strings.Compare(a.path, b.path) }

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
