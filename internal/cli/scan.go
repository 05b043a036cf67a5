package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
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
	RulesFile  string // "" for the one that belongs to what is scanned
	NoDefaults bool   // without the default ruleset
	Ruleset    string // RulesetDefault or RulesetRepository
	Output     Output
	Jobs       int // files at the same time; 0 for the number of processors
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
	// maxJobs bounds the buffers: each job has one of 1 MiB.
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
	go func() {
		if in.All {
			ended <- in.scanAll(ctx, st, out)
		} else {
			ended <- in.scanChanges(ctx, st, out)
		}
	}()

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

// lines says whether findings are written as they are found.
func (in ScanInput) lines() bool { return slices.Equal(in.Output.formats(), []string{FormatLines}) }

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

// below are the paths, relative to a folder, of the files there that reports
// are written to. A scan leaves them out, or it would find its own findings.
func (o *outputs) below(root string) (paths []string) {
	root = resolved(root)
	for _, output := range o.list {
		if output.File == "" {
			continue
		}
		file := filepath.Join(resolved(filepath.Dir(output.File)), filepath.Base(output.File))
		if path, err := filepath.Rel(root, file); err == nil {
			paths = append(paths, filepath.ToSlash(path))
		}
	}
	return paths
}

// resolved is a path from the root on, without symbolic links. What is not there
// stays as it is: then the scan says so.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return path
}

// check says what is wrong with the command line.
func (in ScanInput) check() error {
	switch {
	case in.All && in.Staged, in.All && in.Base != "", in.Staged && in.Base != "":
		return Usagef("--all, --staged and --base exclude each other: " +
			"every file, what is going to be committed, or the change to --head")
	case in.Head != HeadDefault && in.Base == "":
		return Usagef("--head needs --base, which says what to compare it with")
	case in.Ruleset != RulesetDefault && in.Ruleset != RulesetRepository:
		return Usagef("--ruleset: %q is neither %s nor %s; rules of an organization are on a server",
			in.Ruleset, RulesetDefault, RulesetRepository)
	case in.Ruleset == RulesetDefault && in.NoDefaults:
		return Usagef("--ruleset %s and --no-default-rules leave no rule", RulesetDefault)
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
	loaded, err := folder.Load(ctx, from)
	var mistakes *folder.RulesError
	switch {
	case ctx.Err() != nil:
		return nil, errInterrupted
	case errors.Is(err, folder.ErrNoRules):
		return nil, errNoRules()
	case errors.As(err, &mistakes):
		return nil, Usagef("%s is not valid:%s", terminal.Safe(mistakes.Path), mistakesText(mistakes.Err))
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

// mistakesText lists the mistakes in a rules file, each in a line of its own.
func mistakesText(err *rule.FileError) string {
	var text strings.Builder
	for _, m := range err.Mistakes {
		fmt.Fprintf(&text, "\n  line %d: %s", m.Line, terminal.Safe(m.Message))
	}
	return text.String()
}

// unread returns how a scan ended that could not read so many files: that goes
// before a threshold, as not everything was looked at.
func unread(files int, err error) error {
	if files > 0 && (err == nil || errors.Is(err, ErrFound)) {
		return ErrSilent
	}
	return err
}

// looked says what was looked at, and how long it took.
func looked(files int, kind string, began time.Time) string {
	return fmt.Sprintf("%s in %.2f s", terminal.Count(files, kind), time.Since(began).Seconds())
}

// localReview is what a scan found, in the form of a review.
func localReview(r finding.Result) review.Review {
	return review.Review{
		Status: review.Complete, HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, RulesDigest: r.RulesDigest,
		Findings: r.Findings, Suppressed: r.Suppressed, Skips: r.Skips,
		Summary: r.Summary, Truncated: r.Truncated,
	}
}
