// Package report shows a finished review to people.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// Findings says how many there are, in all and by severity, in something.
func Findings(bySeverity map[string]int, of string) string {
	total := 0
	var counts []string
	for _, s := range severities() {
		if n := bySeverity[s]; n > 0 {
			total += n
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	switch total {
	case 0:
		return "No findings in " + of
	case 1:
		return "1 finding in " + of + ": " + counts[0]
	}
	return fmt.Sprintf("%d findings in %s: %s", total, of, strings.Join(counts, ", "))
}

// severities are the words of all severities, most severe first.
func severities() []string { return []string{"critical", "high", "medium", "warning", "low", "info"} }

// Table writes the findings, what was skipped, and a summary, at most width
// columns wide. Everything that came from the repository is made safe to
// print.
func Table(w io.Writer, r restclient.Review, width int) error {
	var b strings.Builder
	if len(r.Findings) > 0 {
		findings(&b, r.Findings, width)
		b.WriteString("\n")
	}
	if len(r.Skipped) > 0 {
		skipped(&b, r.Skipped)
		b.WriteString("\n")
	}
	b.WriteString(Summary(r))
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

type row struct{ severity, place, rule, message string }

const (
	gap        = "  "
	minMessage = 40 // columns; with less, messages go under their rows
)

func findings(b *strings.Builder, list []restclient.Finding, width int) {
	rows := []row{{"SEVERITY", "PLACE", "RULE", "MESSAGE"}}
	for _, f := range list {
		rows = append(rows, row{
			severity: terminal.Safe(f.Severity),
			place:    fmt.Sprintf("%s:%d:%d", terminal.Safe(f.File), f.Line, f.Column),
			rule:     terminal.Safe(f.RuleID),
			message:  safeText(f.Message),
		})
	}
	var severity, place, rule int
	for _, r := range rows {
		severity = max(severity, terminal.Columns(r.severity))
		place = max(place, terminal.Columns(r.place))
		rule = max(rule, terminal.Columns(r.rule))
	}
	places := severity + place + rule + 2*len(gap)
	switch {
	case width-places-len(gap) >= minMessage:
		beside(b, rows, []int{severity, place, rule}, width)
	case places <= width:
		rows[0].message = "" // it has no column
		below(b, rows, []int{severity, place}, width)
	default:
		stacked(b, rows[1:], severity, width)
	}
}

// beside writes a table of four columns.
func beside(b *strings.Builder, rows []row, columns []int, width int) {
	before := columns[0] + columns[1] + columns[2] + 3*len(gap)
	indent := strings.Repeat(" ", before)
	for _, r := range rows {
		lead := terminal.Pad(r.severity, columns[0]) + gap + terminal.Pad(r.place, columns[1]) + gap + terminal.Pad(r.rule, columns[2]) + gap
		for _, line := range terminal.Wrap(r.message, width-before) {
			b.WriteString(strings.TrimRight(lead+line, " ") + "\n")
			lead = indent
		}
	}
}

// below writes a table of three columns, and each message under its row.
func below(b *strings.Builder, rows []row, columns []int, width int) {
	for _, r := range rows {
		b.WriteString(terminal.Pad(r.severity, columns[0]) + gap + terminal.Pad(r.place, columns[1]) + gap + r.rule + "\n")
		message(b, r, columns[0], width)
	}
}

// stacked writes each finding on lines of its own, where columns don't fit.
func stacked(b *strings.Builder, rows []row, severity, width int) {
	for _, r := range rows {
		b.WriteString(terminal.Pad(r.severity, severity) + gap + r.place + "\n")
		b.WriteString(strings.Repeat(" ", severity) + gap + r.rule + "\n")
		message(b, r, severity, width)
	}
}

func message(b *strings.Builder, r row, severity, width int) {
	if r.message == "" {
		return
	}
	indent := strings.Repeat(" ", severity) + gap
	for _, line := range terminal.Wrap(r.message, width-len(indent)) {
		b.WriteString(indent + line + "\n")
	}
}

// safeText is Safe for text of more than one line.
func safeText(text string) string {
	return terminal.Safe(strings.Join(strings.Fields(text), " "))
}

func skipped(b *strings.Builder, list []restclient.Skip) {
	b.WriteString("Not looked at:\n")
	for _, s := range list {
		place := terminal.Safe(s.File)
		if s.Line > 0 {
			place += fmt.Sprintf(":%d", s.Line)
		}
		b.WriteString("  " + place + ": " + SkipText(s.Reason, s.RuleID) + "\n")
	}
}

// SkipText says why something was not looked at. ruleID is of a rule that was
// stopped.
func SkipText(reason, ruleID string) string {
	switch reason {
	case "binary":
		return "a binary file"
	case "file_too_large":
		return "the file is over 1 MiB"
	case "line_too_long":
		return "the line is over 16 KiB"
	case "submodule":
		return "a submodule"
	case "special":
		return "a FIFO, a device or a socket"
	case "gone":
		return "removed meanwhile"
	case "rule_timeout":
		return "rule " + terminal.Safe(ruleID) + " took too long and was stopped here"
	}
	return terminal.Safe(reason)
}

// Summary says in a line how the review ended: what was found, or why it
// failed.
func Summary(r restclient.Review) string {
	of := fmt.Sprintf("%s#%d", terminal.Safe(r.Repo), r.PRNumber)
	switch {
	case r.Status == restclient.StatusFailed && r.Error != nil:
		return fmt.Sprintf("The review of %s failed: %s (%s)", of, safeText(r.Error.Message), terminal.Safe(r.Error.Code))
	case r.Status != restclient.StatusComplete:
		return fmt.Sprintf("The review of %s is %s.", of, terminal.Safe(r.Status))
	}
	text := Findings(r.Summary, of)
	if n := len(r.Skipped); n > 0 {
		text += fmt.Sprintf("; %d not looked at", n)
	}
	if r.Truncated {
		text += "; too many to list all"
	}
	return text + "."
}
