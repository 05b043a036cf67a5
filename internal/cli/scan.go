package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/report"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
	"github.com/prwarden/prwarden/internal/scan/match"
)

// ScanInput is what the scan command was asked for.
type ScanInput struct {
	Path       string // file or folder
	All        bool   // every file, whether changed or not
	RulesFile  string // "" for the one in the folder
	NoDefaults bool   // without the default ruleset
	Format     string // FormatTable or FormatJSON
	Jobs       int    // files at the same time; 0 for the number of processors
	Verbose    bool   // name everything that is skipped
}

// The formats of findings.
const (
	FormatTable = "table"
	FormatJSON  = "json"
)

// maxJobs bounds the buffers: each job has one of 1 MiB.
const maxJobs = 1024

// Scan scans the files of a folder, without a server, and writes findings as it
// goes. It fails with ErrSilent when everything was scanned but what could not
// be read, which was told by then. When ctx ends, so does Scan, within a second.
func Scan(ctx context.Context, st Streams, in ScanInput) error {
	if err := in.check(); err != nil {
		return err
	}
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = in.scan(ctx, st)
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

// scan loads the rules, scans, and tells what the scan did.
func (in ScanInput) scan(ctx context.Context, st Streams) error {
	began := time.Now()
	rules, err := loadRules(ctx, st, in)
	if err != nil {
		return err
	}
	o := folder.Options{Jobs: in.Jobs, Out: st.Out}
	if in.Format == FormatJSON {
		o.Format = report.NewJSONLines(rules.List()).Append
	} else {
		o.Format = report.NewRows(rules.List(), terminal.Width(st.Out, st.Lookup("COLUMNS"))).Append
	}
	flush := func() error { return nil }
	if !terminal.Is(st.Out) {
		out := bufio.NewWriterSize(st.Out, 64<<10)
		o.Out, flush = out, out.Flush
	}
	teller := teller{st: st, verbose: in.Verbose}
	o.Notice = teller.tell
	sum, err := folder.Scan(ctx, in.Path, rules, o)
	err = errors.Join(err, flush())
	if err != nil && ctx.Err() != nil {
		return errInterrupted
	}
	teller.end(sum, time.Since(began))
	switch {
	case err != nil:
		return fmt.Errorf("the scan failed: %w", err)
	case sum.Skipped[folder.Unreadable].Count > 0:
		return ErrSilent
	}
	return nil
}

// check says what is wrong with the command line.
func (in ScanInput) check() error {
	switch {
	case !in.All:
		return Usagef("--all is needed: so far a scan looks at every file, not at changes")
	case in.Format != FormatTable && in.Format != FormatJSON:
		return Usagef("%q is not a format; use %s or %s", in.Format, FormatTable, FormatJSON)
	case in.Jobs < 0 || in.Jobs > maxJobs:
		return Usagef("--jobs must be from 1 to %d, or 0 for the number of processors", maxJobs)
	}
	info, err := os.Stat(in.Path)
	switch {
	case err != nil:
		return Usagef("there is nothing to scan: %w", err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return Usagef("%s is neither a file nor a folder", terminal.Safe(in.Path))
	}
	return nil
}

// loadRules puts the rules together and says which are not the usual ones.
func loadRules(ctx context.Context, st Streams, in ScanInput) (*folder.Rules, error) {
	loaded, err := folder.Load(ctx, folder.Sources{Root: in.Path, File: in.RulesFile, NoDefaults: in.NoDefaults})
	var mistakes *folder.RulesError
	switch {
	case ctx.Err() != nil:
		return nil, errInterrupted
	case errors.Is(err, folder.ErrNoRules):
		return nil, Usagef("there are no rules to apply: give --rules, or leave out --no-default-rules")
	case errors.As(err, &mistakes):
		var text strings.Builder
		fmt.Fprintf(&text, "%s is not valid:", terminal.Safe(mistakes.Path))
		for _, m := range mistakes.Err.Mistakes {
			fmt.Fprintf(&text, "\n  line %d: %s", m.Line, terminal.Safe(m.Message))
		}
		if n := len(mistakes.Err.Mistakes); mistakes.Err.Cut {
			fmt.Fprintf(&text, "\n  and perhaps more; the first %d that were found are shown", n)
		}
		return nil, Usagef("%s", text.String())
	case err != nil:
		return nil, &UsageError{Err: err}
	}
	if in.RulesFile == "" && loaded.File != "" {
		fmt.Fprintf(st.Err, "applying %s\n", terminal.Safe(loaded.File))
	}
	if loaded.Irregular {
		fmt.Fprintf(st.Err, "not applying %s: it is no regular file, or behind a symbolic link\n", rule.FilePath)
	}
	for _, d := range loaded.Unknown {
		fmt.Fprintf(st.Err, "%s:%d: %s is not a rule of the default ruleset, so it can't be disabled\n", terminal.Safe(loaded.File), d.Line, d.ID)
	}
	if in.RulesFile != "" {
		tellCostly(st, loaded)
	}
	return loaded.Rules, nil
}

// maxCostly is how many costly rules are named.
const maxCostly = 10

// tellCostly names the rules of the rules file that make a scan slow, the
// dearest first.
func tellCostly(st Streams, loaded *folder.Loaded) {
	type priced struct {
		id   string
		cost match.Cost
	}
	var list []priced
	for i, r := range loaded.Rules.List() {
		if c := loaded.Rules.Cost(i); r.Origin == rule.OriginRulesFile && c.Time() > rule.Costly {
			list = append(list, priced{r.FullID(), c})
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b priced) int { return cmp.Compare(b.cost.Time(), a.cost.Time()) })
	each := "each takes"
	if len(list) == 1 {
		each = "it takes"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %s with little to be looked for by; %s more than %v for a MiB:", count(len(list), "costly rule"), terminal.Safe(loaded.File), each, rule.Costly)
	for _, p := range list[:min(len(list), maxCostly)] {
		fmt.Fprintf(&text, "\n  %s: %v", p.id, p.cost.Time().Round(time.Microsecond))
		if p.cost.Weak {
			text.WriteString(", weak: tried everywhere")
		}
	}
	if n := len(list) - maxCostly; n > 0 {
		fmt.Fprintf(&text, "\n  and %d more", n)
	}
	fmt.Fprintln(st.Err, text.String())
}

// teller tells what was not looked at, and in the end how much there was.
type teller struct {
	st      Streams
	verbose bool
}

func (t teller) tell(n folder.Notice) {
	place := terminal.Safe(n.Path)
	if n.Line > 0 {
		place += fmt.Sprintf(":%d", n.Line)
	}
	switch n.Reason {
	case folder.Unreadable:
		fmt.Fprintf(t.st.Err, "%s: can't be read: %s\n", place, terminal.Safe(n.Err.Error()))
	case folder.SkipTooManyHits:
		fmt.Fprintf(t.st.Err, "%s: has more than %d findings; the others are only counted\n", place, folder.MaxFindings)
	case scan.SkipRuleTimeout:
		fmt.Fprintf(t.st.Err, "%s: %s\n", place, report.SkipText(n.Reason, n.RuleID))
	default:
		if t.verbose {
			fmt.Fprintf(t.st.Err, "%s: not looked at: %s\n", place, report.SkipText(n.Reason, n.RuleID))
		}
	}
}

// end tells what the scan did in all.
func (t teller) end(sum folder.Summary, took time.Duration) {
	bySeverity := map[string]int{}
	for s, n := range sum.Findings {
		bySeverity[s.String()] = n
	}
	of := fmt.Sprintf("%s (%s) in %.2f s", count(sum.Scanned.Count, "file"), size(sum.Scanned.Bytes), took.Seconds())
	fmt.Fprintf(t.st.Err, "%s.\n", report.Findings(bySeverity, of))

	var parts []string
	hidden := false // until --verbose
	for _, p := range []struct {
		reason, one, many string
		told              bool // without --verbose
	}{
		{folder.Unreadable, "can't be read", "can't be read", true},
		{scan.SkipBinary, "binary file", "binary files", false},
		{scan.SkipFileTooLarge, "file over 1 MiB", "files over 1 MiB", false},
		{scan.SkipLineTooLong, "line over 16 KiB", "lines over 16 KiB", false},
		{folder.SkipSpecial, "special file", "special files", false},
		{folder.SkipGone, "removed meanwhile", "removed meanwhile", false},
	} {
		total, ok := sum.Skipped[p.reason]
		if !ok {
			continue
		}
		text := p.many
		if total.Count == 1 {
			text = p.one
		}
		text = fmt.Sprintf("%d %s", total.Count, text)
		if total.Bytes > 0 {
			text += " (" + size(total.Bytes) + ")"
		}
		parts = append(parts, text)
		hidden = hidden || !p.told
	}
	if len(parts) > 0 {
		text := "Not looked at: " + strings.Join(parts, ", ")
		if hidden && !t.verbose {
			text += "; --verbose names each"
		}
		fmt.Fprintf(t.st.Err, "%s.\n", text)
	}
	if sum.Scanned.Count == 0 && len(parts) == 0 {
		fmt.Fprintln(t.st.Err, "There was no file to look at: the folder has none, or `exclude` of the rules file leaves out all.")
	}
	if n := sum.Skipped[scan.SkipRuleTimeout].Count; n > 0 {
		fmt.Fprintf(t.st.Err, "Rules were stopped %s in a file, as named above; they may have missed findings there.\n", count(n, "time"))
	}
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// size is a number of bytes as people read it.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x := float64(n)
	for _, unit := range []string{"kB", "MB", "GB"} {
		if x /= 1000; x < 999.95 {
			return fmt.Sprintf("%.1f %s", x, unit)
		}
	}
	return fmt.Sprintf("%.1f TB", x/1000)
}
