package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// ScanInput is what the scan command was asked for. Of All, Staged and Base at
// most one is set; without any it is the changes of the work tree.
type ScanInput struct {
	Path       string // a file or folder; "" for the repository here, as a whole
	All        bool   // every file, whether changed or not
	Staged     bool   // what is going to be committed
	Base       string // the change from where Head left Base to Head
	Head       string
	PolicyFile string // "" for the organization's, if it is known, and else the default policy
	RulesFile  string // "" for the one that belongs to what is scanned
	// LowConfidence is what becomes of findings of low confidence, in the words of a
	// policy; "" for what the policy says.
	LowConfidence string

	Fix        bool   // make the fixes of what is found in the files, and scan again
	NoDefaults bool   // without the default ruleset
	Ruleset    string // RulesetDefault or RulesetRepository
	Server     ServerRules
	Output     Output
	Jobs       int // files at the same time; 0 for the number of processors

	MaxFileSize int64 // bytes of the largest file that is scanned; 0 for scan.MaxFileSize

	organization organizationRules // once they are loaded
}

// The rulesets that a local scan knows.
const (
	RulesetDefault    = rule.RulesetDefault // what of the default ruleset is on
	RulesetRepository = "repository"        // that, and the rules of the rules file
)

// HeadDefault is what is scanned when only the base is given.
const HeadDefault = "HEAD"

// FormatLines is a format beside those of package report: an object of JSON for
// each finding, as they are found.
const FormatLines = "jsonl"

const (
	// maxJobs bounds the goroutines.
	maxJobs = 1024
	// maxFindings is how many findings are shown, and how many skips: as many as
	// of a review.
	maxFindings = 10_000
	// stuck is for how long an interrupted scan may take to end. One whose rules
	// file nobody writes, or whose output nobody reads, would not end at all.
	stuck = time.Second
)

var errInterrupted = errors.New("interrupted; not everything was looked at")

// Scan scans changes or files on this machine, without a server. It fails with
// ErrFound when findings reach the threshold, and with ErrSilent when
// everything was scanned but what could not be read, which was told by then.
// When ctx ends, so does Scan, within a second.
func Scan(ctx context.Context, st Streams, in ScanInput) error {
	out, err := in.outputs(st)
	if err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return out.withdraw(err)
	}

	ended := make(chan error, 1)
	go func() { ended <- in.scan(ctx, st, out) }()

	select {
	case err = <-ended:
		return out.withdraw(err)
	case <-ctx.Done():
	}
	select {
	case err = <-ended:
	case <-time.After(stuck):
		err = errInterrupted
	}
	return out.withdraw(err)
}

// scan loads what the organization decides, and scans.
func (in ScanInput) scan(ctx context.Context, st Streams, out *outputs) (err error) {
	if in.organization, err = in.Server.load(ctx, st); err != nil {
		return err
	}
	if in.PolicyFile != "" {
		p, err := readPolicy(in.PolicyFile)
		if err != nil {
			return err
		}
		in.organization.policy = &p
	}
	if in.LowConfidence != "" {
		p := in.policy()
		p.LowConfidence = in.LowConfidence
		in.organization.policy = &p
	}
	if out.failOn != 0 {
		out.failOn = in.policy().Threshold(out.failOn)
	}

	look := in.scanChanges
	if in.All {
		look = in.scanAll
	}
	found, err := look(ctx, st, out)
	if err == nil && in.Fix {
		found, err = found.fixed(ctx, st, out, look)
	}
	if err != nil {
		return err
	}

	return unread(found.unread, out.show(found.report))
}

// policy is the organization's, if it is known.
func (in ScanInput) policy() policy.Policy {
	if p := in.organization.policy; p != nil {
		return *p
	}
	return policy.Default()
}

// lines says whether findings are written as they are found.
func (in ScanInput) lines() bool {
	return len(in.Output.Formats) == 1 && strings.TrimSuffix(in.Output.Formats[0], "=-") == FormatLines
}

// outputs reads what the flags say about the output.
func (in ScanInput) outputs(st Streams) (*outputs, error) {
	flags := in.Output
	if !in.lines() {
		return flags.parse(st)
	}
	if !in.All {
		return nil, Usagef("--output %s needs --all; use json", FormatLines)
	}

	flags.Formats = nil
	out, err := flags.parse(st)
	if err == nil {
		out.list = nil // the scan writes them itself
	}
	return out, err
}

// check says what is wrong with the command line.
func (in ScanInput) check() error {
	switch {
	case in.All && in.Staged, in.All && in.Base != "", in.Staged && in.Base != "":
		return Usagef("--all, --staged and --base exclude each other: " +
			"every file, what is going to be committed, or the change to --head")
	case in.Fix && (in.Staged || in.Base != ""):
		return Usagef("--fix changes files, so it is not for --staged and --base, which scan what git has")
	case in.Fix && in.lines():
		return Usagef("--fix needs another format than %s; use json", FormatLines)
	case in.Head != HeadDefault && in.Base == "":
		return Usagef("--head needs --base, which says what to compare it with")
	case in.Ruleset != RulesetDefault && in.Ruleset != RulesetRepository:
		return Usagef("--ruleset: %q is neither %s nor %s; rules of an organization are on a server",
			in.Ruleset, RulesetDefault, RulesetRepository)
	case in.Ruleset == RulesetDefault && in.NoDefaults:
		return Usagef("--ruleset %s and --no-default-rules leave no rule", RulesetDefault)
	case !slices.Contains([]string{"", policy.LowHidden, policy.LowCounted}, in.LowConfidence):
		return Usagef("--low-confidence: %q is neither %s nor %s", in.LowConfidence, policy.LowHidden, policy.LowCounted)
	case in.Jobs < 0 || in.Jobs > maxJobs:
		return Usagef("--jobs must be from 1 to %d, or 0 for the number of processors", maxJobs)
	}

	info, err := os.Stat(in.place())
	switch {
	case err != nil:
		return Usagef("there is nothing to scan: %w", err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return Usagef("%s is neither a file nor a folder", terminal.Safe(in.Path))
	}
	return nil
}

// place is where the repository is searched.
func (in ScanInput) place() string {
	if in.Path == "" {
		return "."
	}
	return in.Path
}

// loadRules puts the rules together and says which are not the usual ones.
func (in ScanInput) loadRules(ctx context.Context, st Streams, from folder.Sources) (*folder.Loaded, error) {
	from.File, from.NoDefaults = in.RulesFile, in.NoDefaults
	from.Organization = in.organization.rules
	loaded, err := folder.Load(ctx, from)
	var mistakes *folder.RulesError
	switch {
	case ctx.Err() != nil:
		return nil, errInterrupted
	case errors.Is(err, folder.ErrNoRules):
		return nil, errNoRules()
	case errors.As(err, &mistakes):
		text := terminal.Safe(mistakes.Path) + " is not valid:"
		for _, m := range mistakes.Err.Mistakes {
			text += fmt.Sprintf("\n  line %d: %s", m.Line, terminal.Safe(m.Message))
		}
		return nil, Usagef("%s", text)
	case err != nil:
		return nil, &UsageError{Err: err}
	}

	if in.RulesFile == "" && loaded.Path != "" {
		st.note("applying %s", terminal.Safe(loaded.Path))
	}
	if loaded.Irregular {
		st.note("not applying %s: it is no regular file, or behind a symbolic link", rule.FilePath)
	}
	return loaded, nil
}

func errNoRules() error {
	return Usagef("there are no rules to apply: give --rules, or leave out --no-default-rules")
}

const (
	// maxScanTime bounds a local scan; a review has scan.MaxTime.
	maxScanTime = time.Hour
	// localRepo stands for the repository in rules, where nobody sees it.
	localRepo = "local/local"
)

// scanChanges scans changes in a git repository, as a review does.
func (in ScanInput) scanChanges(ctx context.Context, st Streams, out *outputs) (all scanned, err error) {
	began := time.Now()
	progress := newProgress(st)
	skipped := 0
	local, err := git.FindLocal(ctx, git.LocalOptions{
		Path: in.place(), Only: in.Path != "", Env: st.Env, MaxFileSize: in.MaxFileSize,
		Skipped: func(path string, err error) {
			skipped++
			progress.say("%s: can't be read: %s", terminal.Safe(path), terminal.Safe(err.Error()))
		},
	})
	if err != nil {
		return all, in.changesError(ctx, nil, err)
	}

	source, given, err := in.source(ctx, local, out)
	if err != nil {
		return all, in.changesError(ctx, local, err)
	}
	rules, file, err := in.rulesOfChanges(ctx, st, given)
	if err != nil {
		return all, err
	}
	scanner := scan.NewScanner(source, scan.Options{Timeout: maxScanTime, Workers: in.Jobs})
	set, err := scanner.AddRules(ctx, "", rule.Digest(rules), rules)
	if err != nil {
		return all, err
	}

	result, err := scanner.Scan(ctx, scan.Request{
		Target: scan.Target{Repo: localRepo}, Ruleset: in.Ruleset, Rules: set, File: file, MaxFindings: maxFindings,
		OtherRules: true, // an organization's may be the server's to know
		Policy:     in.organization.policy,
	}, func(n scan.Progress) {
		progress.local(fmt.Sprintf("%d of %s", n.Done, terminal.Count(n.Total, "file")))
	})
	progress.end()

	switch {
	case err != nil:
		return all, in.changesError(ctx, local, err)
	case len(rules) == 0 && len(result.RulesFile) == 0 && result.RulesFileValid:
		return all, errNoRules()
	case result.FilesTotal == 0 && in.Base == "" && !in.Staged:
		st.note("There was no changed file to look at; --base REF scans what a branch changes, --all every file.")
	}

	return scanned{
		report: report.Report{
			Review: in.localReview(result.Result, out.failOn),
			Of:     looked(result.FilesTotal, "changed file", began),
		},
		unread: skipped, root: local.Top(), rules: in.RulesFile, began: began,
	}, nil
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
		return slices.Concat(rules, in.organization.rules), nil, err
	}

	if given == nil {
		given = &folder.Sources{}
	}
	loaded, err := in.loadRules(ctx, st, *given)
	if err != nil {
		return nil, nil, err
	}
	return slices.Concat(loaded.Defaults, loaded.Organization), loaded.File, nil
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
