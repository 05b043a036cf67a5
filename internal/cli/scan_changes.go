package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// maxScanTime bounds a local scan; a review has scan.MaxTime.
const maxScanTime = time.Hour

// scanChanges scans changes in a git repository, as a review does.
func (in ScanInput) scanChanges(ctx context.Context, st Streams, out *outputs) error {
	began := time.Now()
	skipped := 0
	local, err := git.FindLocal(ctx, git.LocalOptions{
		Path: in.place(), Only: in.Path != "", Env: st.Env, Limits: git.DefaultLimits(),
		Skipped: func(path string, err error) {
			skipped++
			st.note("%s: can't be read: %s", terminal.Safe(path), terminal.Safe(err.Error()))
		},
	})

	if err != nil {
		return in.changesError(ctx, nil, err)
	}
	source, given, err := in.source(ctx, local, out)
	if err != nil {
		return in.changesError(ctx, local, err)
	}

	rules, file, err := in.rulesOfChanges(ctx, st, given)
	if err != nil {
		return err
	}
	scanner := scan.NewScanner(source, scan.Options{Timeout: maxScanTime, Workers: in.Jobs})
	set, err := scanner.AddRules(rule.Digest(rules), rules)
	if err != nil {
		return err
	}

	progress := newProgress(st)
	result, err := scanner.Scan(ctx, scan.Request{
		Target: scan.Target{Repo: localRepo}, Selection: in.selection(), Rules: set, File: file, MaxFindings: maxFindings,
		OtherRules: true, // an organization's are the server's to know
	}, func(n scan.Progress) {
		progress.local(fmt.Sprintf("%d of %s", n.Done, terminal.Count(n.Total, "file")))
	})

	progress.end()
	if err != nil {
		return in.changesError(ctx, local, err)
	}
	if in.NoDefaults && len(result.RulesFile) == 0 && result.RulesFileValid {
		return errNoRules()
	}

	if result.FilesTotal == 0 && in.Base == "" && !in.Staged {
		st.note("There was no changed file to look at; --base REF scans what a branch changes, --all every file.")
	}
	err = out.show(report.Report{
		Review: localReview(result.Result),
		Of:     fmt.Sprintf("%s in %s", in.looked(result.FilesTotal), seconds(time.Since(began))),
	})
	return unread(skipped, err)
}

// localRepo stands for the repository in rules, where nobody sees it.
const localRepo = "local/local"

// maxFindings is how many findings are shown, and how many skips: as many as of
// a review.
const maxFindings = 10_000

// place is where the repository is searched.
func (in ScanInput) place() string {
	if in.Path == "" {
		return "."
	}
	return in.Path
}

// source is what is scanned, and the rules file that belongs to it; nil for the
// one of the base commit.
func (in ScanInput) source(ctx context.Context, local *git.Local, out *outputs) (scan.Source, *folder.Sources, error) {
	switch {
	case in.Base != "":
		return local.Commits(in.Base, in.Head), nil, nil
	case in.Staged:
		data, err := local.StagedFile(ctx, rule.FilePath, rule.MaxFileSize)
		given := &folder.Given{Name: rule.FilePath + " as it is staged", Data: data}
		return local.Staged(), &folder.Sources{Given: given}, err
	}
	if local.Top() == "" {
		return nil, nil, git.ErrBare
	}
	return local.Worktree(out.below(local.Top())...), &folder.Sources{Root: local.Top()}, nil
}

// rulesOfChanges are the default rules, and the rules file where it isn't the
// base's.
func (in ScanInput) rulesOfChanges(
	ctx context.Context,
	st Streams,
	given *folder.Sources,
) ([]rule.Rule, *rule.File, error) {
	if given == nil && in.RulesFile == "" {
		rules, err := in.defaultRules()
		return rules, nil, err
	}
	if given == nil {
		given = &folder.Sources{}
	}
	loaded, err := in.loadRules(ctx, st, *given)
	if err != nil {
		return nil, nil, err
	}
	return loaded.Defaults, loaded.File, nil
}

// selection is which rules apply.
func (in ScanInput) selection() scan.Selection {
	if in.Ruleset == RulesetDefault {
		return scan.SelectDefault
	}
	return scan.SelectRepository
}

// looked says what was looked at.
func (in ScanInput) looked(files int) string {
	what := terminal.Count(files, "changed file")
	switch {
	case in.Base != "":
		return fmt.Sprintf("%s between %s and %s", what, terminal.Safe(in.Base), terminal.Safe(in.Head))
	case in.Staged:
		return terminal.Count(files, "staged file")
	}
	return what
}

// fetchMore is what helps where a clone is shallow.
const fetchMore = "fetch more history (`git fetch --unshallow`, " +
	"`fetch-depth: 0` in a checkout of GitHub Actions, `GIT_DEPTH: 0` in GitLab CI)"

// changesError says what an error means for the person who runs the command.
func (in ScanInput) changesError(ctx context.Context, local *git.Local, err error) error {
	var ref *git.RefError
	var failure *scan.Failure
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, git.ErrNoGit):
		return fmt.Errorf("changes are what git says they are, and it can't be started: %w; "+
			"with --all every file of a folder is scanned without it", err)
	case errors.Is(err, git.ErrNoRepository):
		return Usagef("%s is in no git repository, so there are no changes to scan; --all scans every file of a folder",
			terminal.Safe(in.place()))
	case errors.Is(err, git.ErrBare):
		return Usagef("%w; --base REF scans what a commit changes", err)
	case errors.Is(err, git.ErrOutside):
		return Usagef("%s", terminal.Safe(err.Error()))
	case errors.Is(err, git.ErrUnmerged):
		return fmt.Errorf("%w yet; resolve and add them, or leave out --staged to scan the files as they are",
			git.ErrUnmerged)
	case errors.As(err, &ref) && ref.Unborn:
		return Usagef("there is no commit yet; leave out --base and --head to scan the files that were added")
	case errors.As(err, &ref):
		text := fmt.Sprintf("%q names no commit of this repository", ref.Ref)
		if local != nil && local.Shallow() {
			text += ": the clone is shallow, so it may just not be here; " + fetchMore
		}
		return Usagef("%s", text)
	case !errors.As(err, &failure):
		return fmt.Errorf("the scan failed: %s", terminal.Safe(err.Error()))
	case failure.Code == scan.CodeNoMergeBase && local != nil && local.Shallow():
		return fmt.Errorf("%s and %s have no commit in common here: the clone is shallow; %s",
			terminal.Safe(in.Base), terminal.Safe(in.Head), fetchMore)
	case failure.Code == scan.CodeNoMergeBase:
		return fmt.Errorf("%s and %s have no commit in common, so what changed between them can't be told",
			terminal.Safe(in.Base), terminal.Safe(in.Head))
	case failure.Err != nil && failure.Code == scan.CodeScanFailed: // whose message sends to a server's log
		return fmt.Errorf("the scan failed: %s", terminal.Safe(strings.TrimSpace(failure.Err.Error())))
	case failure.Err != nil:
		return fmt.Errorf("the scan failed: %s (%s)", failure.Message, terminal.Safe(strings.TrimSpace(failure.Err.Error())))
	}
	return fmt.Errorf("the scan failed: %s", failure.Message)
}

// localReview is what a scan found, in the form of a review.
func localReview(r finding.Result) review.Review {
	return review.Review{
		Status: review.Complete, HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, RulesDigest: r.RulesDigest,
		Findings: r.Findings, Suppressed: r.Suppressed, Skips: r.Skips,
		Summary: r.Summary, Truncated: r.Truncated,
	}
}
