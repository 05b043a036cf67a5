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

// notes tell on stderr what a scan of files did not look at, and in the end how
// much there was.
type notes struct {
	st       Streams
	verbose  bool
	most     int // findings that are given of a file
	progress *progress
}

// add tells what was not looked at.
func (n notes) add(notice folder.Notice) {
	n.progress.end()
	place := terminal.Safe(notice.Path)
	if notice.Line > 0 {
		place += fmt.Sprintf(":%d", notice.Line)
	}

	skipped := terminal.Safe(finding.Skip{Reason: notice.Reason, RuleID: notice.RuleID}.Text())
	switch notice.Reason {
	case folder.Unreadable:
		n.st.note("%s: can't be read: %s", place, terminal.Safe(notice.Err.Error()))
	case folder.SkipTooManyHits:
		n.st.note("%s: has more than %d findings; the others are only counted", place, n.most)
	case finding.SkipRuleTimeout:
		n.st.note("%s: %s", place, skipped)
	default:
		if n.verbose {
			n.st.note("%s: not looked at: %s", place, skipped)
		}
	}
}

// end tells what the scan did in all.
func (n notes) end(sum folder.Summary, took time.Duration) {
	fmt.Fprintf(n.st.Err, "%s.\n", report.Findings(sum.Findings, scanned(sum, took)))

	if skipped := n.skipped(sum); skipped != "" {
		fmt.Fprintf(n.st.Err, "Not looked at: %s.\n", skipped)
	}
	n.st.noteEmpty(sum)
	if stopped := sum.Skipped[finding.SkipRuleTimeout].Count; stopped > 0 {
		fmt.Fprintf(n.st.Err, "Rules were stopped %s in a file, as named above; they may have missed findings there.\n",
			terminal.Count(stopped, "time"))
	}
}

// skipped counts what was not looked at, by reason.
func (n notes) skipped(sum folder.Summary) string {
	var parts []string
	unnamed := false // until --verbose
	for _, p := range []struct{ reason, one, many string }{
		{folder.Unreadable, "can't be read", "can't be read"},
		{finding.SkipBinary, "binary file", "binary files"},
		{finding.SkipFileTooLarge, "file over 1 MiB", "files over 1 MiB"},
		{finding.SkipLineTooLong, "line over 16 KiB", "lines over 16 KiB"},
		{folder.SkipSpecial, "special file", "special files"},
		{folder.SkipGone, "removed meanwhile", "removed meanwhile"},
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
		unnamed = unnamed || p.reason != folder.Unreadable
	}

	text := strings.Join(parts, ", ")
	if unnamed && !n.verbose {
		text += "; --verbose names each"
	}
	return text
}

// noteEmpty says that a scan had no file to look at.
func (s Streams) noteEmpty(sum folder.Summary) {
	if sum.Scanned.Count == 0 && len(sum.Skipped) == 0 {
		s.note("There was no file to look at: the folder has none, or `exclude` of the rules file leaves out all.")
	}
}

// scanned says what a scan of files looked at, and how long it took.
func scanned(sum folder.Summary, took time.Duration) string {
	return fmt.Sprintf("%s (%s) in %s", terminal.Count(sum.Scanned.Count, "file"), size(sum.Scanned.Bytes), seconds(took))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

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
