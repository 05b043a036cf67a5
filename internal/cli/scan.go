package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
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
	Jobs       int  // files at the same time; 0 for the number of processors
	Verbose    bool // with All, name everything that is skipped
}

// The rulesets that a local scan knows.
const (
	RulesetDefault    = "default"    // what of the default ruleset is on
	RulesetRepository = "repository" // that, and the rules of the rules file
)

// HeadDefault is what is scanned when only the base is given.
const HeadDefault = "HEAD"

// FormatLines is a format beside those of package report: an object of JSON for
// each finding, as they are found.
const FormatLines = "jsonl"

// maxJobs bounds the buffers: each job has one of 1 MiB.
const maxJobs = 1024

// Scan scans changes or files on this machine, without a server. It fails with
// ErrFound when findings reach the threshold, and with ErrSilent when
// everything was scanned but what could not be read, which was told by then.
// When ctx ends, so does Scan, within a second.
func Scan(ctx context.Context, st Streams, in ScanInput) error {
	out, err := in.outputs(st)
	if err != nil {
		return err
	}
	return out.withdraw(in.scan(ctx, st, out))
}

func (in ScanInput) scan(ctx context.Context, st Streams, out *outputs) error {
	err := in.check()
	if err != nil {
		return err
	}
	scan := in.scanChanges
	if in.All {
		scan = in.scanAll
	}

	done := make(chan struct{})
	go func() {
		defer close(done)
		err = scan(ctx, st, out)
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
	}

	select {
	case <-done:
		return err
	case <-time.After(stuck):
		return errInterrupted
	}
}

// stuck is for how long an interrupted scan may take to end. One whose rules
// file nobody writes, or whose output nobody reads, would not end at all.
const stuck = time.Second

var errInterrupted = errors.New("interrupted; not everything was looked at")

// lines says whether findings are written as they are found.
func (in ScanInput) lines() bool {
	formats := in.Output.formats()
	return len(formats) == 1 && formats[0] == FormatLines
}

// outputs reads what the flags say about the output.
func (in ScanInput) outputs(st Streams) (*outputs, error) {
	flags := in.Output
	for _, f := range flags.Formats {
		switch {
		case !strings.HasPrefix(f, FormatLines):
		case !in.lines():
			return nil, Usagef("--output %s stands alone and writes to standard output", FormatLines)
		case !in.All:
			return nil, Usagef("--output %s needs --all; use json", FormatLines)
		}
	}

	if in.lines() {
		flags.Formats = nil
	}
	return flags.parse(st)
}

// below are the paths, relative to a folder, of the files there that reports
// are written to. A scan leaves them out, or it would find its own findings.
func (o *outputs) below(root string) []string {
	var paths []string
	root, err := filepath.EvalSymlinks(root)
	if err == nil {
		root, err = filepath.Abs(root)
	}

	if err != nil { // then the scan says so
		return nil
	}
	for _, output := range o.list {
		there, err := filepath.EvalSymlinks(filepath.Dir(output.File))
		if err == nil {
			there, err = filepath.Abs(there)
		}
		if err != nil || output.File == "" { // there is no such file
			continue
		}
		if path, err := filepath.Rel(root, filepath.Join(there, filepath.Base(output.File))); err == nil {
			paths = append(paths, filepath.ToSlash(path))
		}
	}
	return paths
}

// check says what is wrong with the command line.
func (in ScanInput) check() error {
	modes := 0
	for _, on := range []bool{in.All, in.Staged, in.Base != ""} {
		if on {
			modes++
		}
	}

	switch {
	case modes > 1:
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

// defaultRules is the default ruleset, unless it is left out.
func (in ScanInput) defaultRules() ([]rule.Rule, error) {
	if in.NoDefaults {
		return nil, nil
	}
	return defaults.Load()
}
