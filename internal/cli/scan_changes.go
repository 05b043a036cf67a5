package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

const (
	// maxScanTime bounds a local scan; a review has scan.MaxTime.
	maxScanTime = time.Hour
	// localRepo stands for the repository in rules, where nobody sees it.
	localRepo = "local/local"
)

// scanChanges scans changes in a git repository, as a review does.
func (in ScanInput) scanChanges(ctx context.Context, st Streams, out *outputs) error {
	began := time.Now()
	progress := newProgress(st)
	skipped := 0
	local, err := git.FindLocal(ctx, git.LocalOptions{
		Path: in.place(), Only: in.Path != "", Env: st.Env,
		Skipped: func(path string, err error) {
			skipped++
			progress.say("%s: can't be read: %s", terminal.Safe(path), terminal.Safe(err.Error()))
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

	result, err := scanner.Scan(ctx, scan.Request{
		Target: scan.Target{Repo: localRepo}, Ruleset: in.Ruleset, Rules: set, File: file, MaxFindings: maxFindings,
		OtherRules: true, // an organization's are the server's to know
	}, func(n scan.Progress) {
		progress.local(fmt.Sprintf("%d of %s", n.Done, terminal.Count(n.Total, "file")))
	})
	progress.end()

	switch {
	case err != nil:
		return in.changesError(ctx, local, err)
	case in.NoDefaults && len(result.RulesFile) == 0 && result.RulesFileValid:
		return errNoRules()
	case result.FilesTotal == 0 && in.Base == "" && !in.Staged:
		st.note("There was no changed file to look at; --base REF scans what a branch changes, --all every file.")
	}
	err = out.show(report.Report{
		Review: localReview(result.Result),
		Of:     looked(result.FilesTotal, "changed file", began),
	})
	return unread(skipped, err)
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
	case local.Top() == "":
		return nil, nil, git.ErrBare
	}
	return local.Worktree(out.below(local.Top())...), &folder.Sources{Root: local.Top()}, nil
}

// rulesOfChanges are the default rules, and the rules file where it isn't the
// base's.
func (in ScanInput) rulesOfChanges(
	ctx context.Context, st Streams, given *folder.Sources,
) (rules []rule.Rule, file *rule.File, err error) {
	if given == nil && in.RulesFile == "" {
		if !in.NoDefaults {
			rules, err = defaults.Load()
		}
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

// changesError says what an error means for the person who runs the command.
func (in ScanInput) changesError(ctx context.Context, local *git.Local, err error) error {
	var ref *git.RefError
	var failure *scan.Failure
	hint := ""
	if local != nil && local.Shallow() {
		hint = ": the clone is shallow, so it may just not be here; fetch more history (`git fetch --unshallow`, " +
			"`fetch-depth: 0` in a checkout of GitHub Actions, `GIT_DEPTH: 0` in GitLab CI)"
	}

	switch {
	case ctx.Err() != nil:
		return errInterrupted
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
		return Usagef("%q names no commit of this repository%s", ref.Ref, hint)
	case errors.As(err, &failure) && failure.Code == scan.CodeNoMergeBase:
		return fmt.Errorf("%s and %s have no commit in common%s", terminal.Safe(in.Base), terminal.Safe(in.Head), hint)
	}

	text := err.Error()
	if failure != nil && failure.Err == nil {
		text = failure.Message
	} else if failure != nil && failure.Code == scan.CodeScanFailed { // whose message sends to a server's log
		text = failure.Err.Error()
	}
	return fmt.Errorf("the scan failed: %s", terminal.Safe(strings.TrimSpace(text)))
}
