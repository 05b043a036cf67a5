package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// teller tells what was not looked at, and in the end how much there was.
type teller struct {
	st      Streams
	verbose bool
	most    int    // findings that are given of a file
	before  func() // each line, to take away what shows progress; nil for nothing
}

func (t teller) tell(n folder.Notice) {
	if t.before != nil {
		t.before()
	}
	place := terminal.Safe(n.Path)
	if n.Line > 0 {
		place += fmt.Sprintf(":%d", n.Line)
	}
	switch n.Reason {
	case folder.Unreadable:
		tellLine(t.st, "%s: can't be read: %s", place, terminal.Safe(n.Err.Error()))
	case folder.SkipTooManyHits:
		tellLine(t.st, "%s: has more than %d findings; the others are only counted", place, t.most)
	case finding.SkipRuleTimeout:
		tellLine(t.st, "%s: %s", place, report.SkipText(n.Reason, n.RuleID))
	default:
		if t.verbose {
			tellLine(t.st, "%s: not looked at: %s", place, report.SkipText(n.Reason, n.RuleID))
		}
	}
}

// tellLine writes a line of Safe parts to stderr, which CI services look for
// commands in, too.
func tellLine(st Streams, format string, args ...any) {
	fmt.Fprintln(st.Err, terminal.GuardLine(fmt.Sprintf(format, args...)))
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
		{finding.SkipBinary, "binary file", "binary files", false},
		{finding.SkipFileTooLarge, "file over 1 MiB", "files over 1 MiB", false},
		{finding.SkipLineTooLong, "line over 16 KiB", "lines over 16 KiB", false},
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
	tellEmpty(t.st, sum)
	if n := sum.Skipped[finding.SkipRuleTimeout].Count; n > 0 {
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
