package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// maxShort is how many things are named of which only some matter.
const maxShort = 20

// table writes a report for people, file by file.
type table struct {
	b     strings.Builder
	r     Report
	width int
	paint terminal.Painter
}

// writeTable writes the findings, what there is beside them, and how it ended,
// as wide as the style says. Everything that came from the repository is made
// safe to print.
func writeTable(w io.Writer, r Report, style Style) error {
	t := &table{r: r, width: style.Width, paint: terminal.Painter(style.Color)}
	if r.complete() {
		t.findings()
		t.suppressed()
		t.fixed()
		t.skipped()
	}

	for _, line := range terminal.Wrap(r.Summary(), t.width) {
		t.line("", line)
	}
	if v := r.Verdict(); v != "" {
		color := terminal.Good
		if r.Fails() {
			color = terminal.Bad
		}
		t.line("", t.paint.Text(color, v))
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

// line writes a line that begins with an indent.
func (t *table) line(indent, text string) {
	t.b.WriteString(terminal.GuardLine(strings.TrimRight(indent+text, " ")) + "\n")
}

func (t *table) findings() {
	list := t.r.Review.Findings
	for start := 0; start < len(list); {
		end := start
		for end < len(list) && list[end].File == list[start].File {
			end++
		}
		t.file(list[start:end])
		start = end
	}
}

// file writes the findings in one file, in the order of places. What a rule says
// is there once.
func (t *table) file(list []finding.Finding) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	t.line("", t.paint.Text(terminal.Strong, terminal.Safe(list[0].File)))
	column := 0
	for _, f := range list {
		column = max(column, len(place(f)))
	}

	indent := strings.Repeat(" ", column+4)
	said := map[string]bool{}
	for _, f := range list {
		t.head(f, column)
		if text := safeText(f.Message); !said[f.RuleID+text] {
			said[f.RuleID+text] = true
			for _, line := range terminal.Wrap(text, t.width-len(indent)) {
				t.line(indent, line)
			}
		}
		t.snippet(f, indent)
	}
	t.line("", "")
}

func place(f finding.Finding) string { return fmt.Sprintf("%d:%d", f.Line, f.Column) }

// head writes where, how bad, by which rule, and whether that is new.
func (t *table) head(f finding.Finding, column int) {
	const severities = len("critical")
	severity := t.paint.Text(severityColor(f.Severity), terminal.Pad(f.Severity.String(), severities))
	name := terminal.Safe(f.RuleID)
	mark := ""
	switch {
	case !t.r.compared():
	case f.State == finding.StateExisting:
		mark = "  " + t.paint.Text(terminal.Faint, "existing")
	default:
		mark = "  " + t.paint.Text(terminal.Strong, "new")
	}

	before := "  " + strings.Repeat(" ", column-len(place(f))) + place(f) + "  "
	if used := column + 4 + severities + 2; used+terminal.Columns(name) > t.width {
		t.line(before, severity+mark)
		t.line(strings.Repeat(" ", column+4), name)
		return
	}
	t.line(before, severity+"  "+name+mark)
}

// snippet writes the line that a finding is on, as much of it as fits.
func (t *table) snippet(f finding.Finding, indent string) {
	text := terminal.Safe(strings.TrimSpace(strings.ReplaceAll(f.Snippet, "\t", " ")))
	if text == "" {
		return
	}
	t.line(indent, t.paint.Text(terminal.Faint, "│ "+terminal.Cut(text, t.width-len(indent)-2)))
}

func severityColor(s rule.Severity) terminal.Color {
	switch s {
	case rule.Critical:
		return terminal.Bad
	case rule.High:
		return terminal.Red
	case rule.Medium, rule.Warning:
		return terminal.Yellow
	}
	return terminal.Cyan
}

func (t *table) suppressed() {
	t.short("Suppressed by comments:", t.r.Review.Suppressed, func(f finding.Finding) string {
		text := location(f) + "  " + terminal.Safe(f.RuleID)
		if s := f.Suppression; s != nil {
			if s.Reason != "" {
				text += ": " + safeText(s.Reason)
			}
			if s.Until != "" {
				text += " (until " + terminal.Safe(s.Until) + ")"
			}
		}
		return text
	})
}

func (t *table) fixed() {
	t.short("Fixed since the review before:", t.r.Review.Fixed, func(f finding.Finding) string {
		return location(f) + "  " + terminal.Safe(f.RuleID)
	})
}

func (t *table) short(title string, list []finding.Finding, text func(finding.Finding) string) {
	if len(list) == 0 {
		return
	}
	t.line("", title)
	for _, f := range list[:min(len(list), maxShort)] {
		t.line("  ", text(f))
	}
	t.more(len(list))
}

// more ends a list of which only the first are named.
func (t *table) more(total int) {
	if n := total - maxShort; n > 0 {
		t.line("  ", "and "+t.r.counted(n)+" more")
	}
	t.line("", "")
}

func location(f finding.Finding) string { return fmt.Sprintf("%s:%s", terminal.Safe(f.File), place(f)) }

func (t *table) skipped() {
	list := t.r.Review.Skips
	if len(list) == 0 {
		return
	}
	t.line("", "Not looked at:")
	for _, s := range list[:min(len(list), maxShort)] {
		where := terminal.Safe(s.File)
		if s.Line > 0 {
			where += fmt.Sprintf(":%d", s.Line)
		}
		t.line("  ", where+": "+SkipText(s.Reason, s.RuleID))
	}
	t.more(len(list))
}
