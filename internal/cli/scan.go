package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/report"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
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
// be read, which was told by then.
func Scan(ctx context.Context, st Streams, in ScanInput) error {
	if err := in.check(); err != nil {
		return err
	}
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

	var sum folder.Summary
	done := make(chan struct{})
	go func() {
		defer close(done)
		sum, err = folder.Scan(ctx, in.Path, rules, o)
		err = errors.Join(err, flush())
	}()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(stuck):
		}
		return errors.New("interrupted; not everything was looked at")
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

// stuck is for how long an interrupted scan may take to end. One whose output
// nobody reads would not end at all.
const stuck = time.Second

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
		return nil, errors.New("interrupted")
	case errors.Is(err, folder.ErrNoRules):
		return nil, Usagef("there are no rules to apply: give --rules, or leave out --no-default-rules")
	case errors.As(err, &mistakes):
		var text strings.Builder
		fmt.Fprintf(&text, "%s is not valid:", terminal.Safe(mistakes.Path))
		for _, m := range mistakes.Err.Mistakes {
			fmt.Fprintf(&text, "\n  line %d: %s", m.Line, terminal.Safe(m.Message))
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
		tellWeak(st, loaded)
	}
	return loaded.Rules, nil
}

// maxWeak is how many weak rules are named.
const maxWeak = 10

// tellWeak names the rules of the rules file that make a scan slow.
func tellWeak(st Streams, loaded *folder.Loaded) {
	var ids []string
	var each rule.Cost
	for _, r := range loaded.Rules.Weak() {
		if r.Origin != rule.OriginRulesFile {
			continue
		}
		if c, err := r.Cost(); err == nil && c.PerMiB > each.PerMiB {
			each = c
		}
		ids = append(ids, r.FullID())
	}
	if len(ids) == 0 {
		return
	}
	are, names := "are", strings.Join(ids[:min(len(ids), maxWeak)], ", ")
	if len(ids) == 1 {
		are = "is"
	}
	if n := len(ids) - maxWeak; n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(st.Err, "%s of %s %s weak, tried everywhere as no text can be looked for; each takes about %v for a MiB, as much as %d ordinary rules: %s\n",
		count(len(ids), "rule"), terminal.Safe(loaded.File), are, each.PerMiB.Round(10*time.Microsecond), each.Ordinary, names)
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
	for _, p := range []struct{ reason, one, many string }{
		{folder.Unreadable, "can't be read", "can't be read"},
		{scan.SkipBinary, "binary file", "binary files"},
		{scan.SkipFileTooLarge, "file over 1 MiB", "files over 1 MiB"},
		{scan.SkipLineTooLong, "line over 16 KiB", "lines over 16 KiB"},
		{folder.SkipSpecial, "special file", "special files"},
		{folder.SkipGone, "removed meanwhile", "removed meanwhile"},
		{scan.SkipRuleTimeout, "rule stopped in a file", "times a rule stopped in a file"},
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
	}
	if len(parts) == 0 {
		return
	}
	text := "Not looked at: " + strings.Join(parts, ", ")
	if !t.verbose {
		text += "; --verbose names each"
	}
	fmt.Fprintf(t.st.Err, "%s.\n", text)
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
