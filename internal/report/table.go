package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// maxShort is how many things are named of which only some matter.
const maxShort = 20

var severityColors = [...]terminal.Color{
	0: terminal.Cyan, rule.Critical: terminal.Bad, rule.High: terminal.Red, rule.Medium: terminal.Yellow,
	rule.Warning: terminal.Yellow, rule.Low: terminal.Cyan, rule.Info: terminal.Cyan,
}

// table writes a report for people, file by file.
type table struct {
	strings.Builder
	r     Report
	width int
	paint terminal.Painter
}

// table is the findings, what there is beside them, and how it ended, as wide as
// the style says. Everything that came from the repository is made safe to print.
func (r Report) table(style Style) string {
	t := &table{r: r, width: style.Width, paint: terminal.Painter(style.Color)}
	if r.complete() {
		for list := r.Review.Findings; len(list) > 0; {
			end := slices.IndexFunc(list, func(f finding.Finding) bool { return f.File != list[0].File })
			if end < 0 {
				end = len(list)
			}
			t.file(list[:end])
			list = list[end:]
		}
		t.short("Suppressed by comments:", texts(r.Review.Suppressed, suppressed))
		t.short("Fixed since the review before:", texts(r.Review.Fixed, located))
		t.short("Not looked at:", texts(r.Review.Skips, skipped))
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
	return t.String()
}

// line writes a line that begins with an indent.
func (t *table) line(indent, text string) {
	t.WriteString(terminal.GuardLine(strings.TrimRight(indent+text, " ")) + "\n")
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
	width := t.width - len(indent)
	said := map[string]bool{}
	for _, f := range list {
		t.head(f, column)
		text := safeText(f.Message)
		if !said[f.RuleID+text] {
			said[f.RuleID+text] = true
			for _, line := range terminal.Wrap(text, width) {
				t.line(indent, line)
			}
		}

		code := terminal.Safe(strings.TrimSpace(strings.ReplaceAll(f.Snippet, "\t", " ")))
		if code != "" {
			t.line(indent, t.paint.Text(terminal.Faint, "│ "+terminal.Cut(code, width-2)))
		}
	}
	t.line("", "")
}

// head writes where, how bad, by which rule, and whether that is new.
func (t *table) head(f finding.Finding, column int) {
	severity := t.paint.Text(severityColors[f.Severity], fmt.Sprintf("%-8s", f.Severity))
	mark := ""
	switch {
	case !t.r.compared():
	case f.State == finding.StateExisting:
		mark = "  " + t.paint.Text(terminal.Faint, "existing")
	default:
		mark = "  " + t.paint.Text(terminal.Strong, "new")
	}

	before := fmt.Sprintf("  %*s  ", column, place(f))
	t.line(before, severity+"  "+terminal.Safe(f.RuleID)+mark)
}

// short writes a list of which only the first are named.
func (t *table) short(title string, list []string) {
	if len(list) == 0 {
		return
	}

	t.line("", title)
	for _, text := range list[:min(len(list), maxShort)] {
		t.line("  ", text)
	}
	if n := len(list) - maxShort; n > 0 {
		t.line("  ", "and "+t.r.counted(n)+" more")
	}
	t.line("", "")
}

func texts[T any](list []T, text func(T) string) []string {
	all := make([]string, len(list))
	for i, item := range list {
		all[i] = text(item)
	}
	return all
}

func located(f finding.Finding) string { return location(f) + "  " + terminal.Safe(f.RuleID) }

func suppressed(f finding.Finding) string {
	text := located(f)
	if s := f.Suppression; s != nil && s.Reason != "" {
		text += ": " + safeText(s.Reason)
	}
	if s := f.Suppression; s != nil && s.Until != "" {
		text += " (until " + terminal.Safe(s.Until) + ")"
	}
	return text
}

func skipped(s finding.Skip) string {
	where := terminal.Safe(s.File)
	if s.Line > 0 {
		where += fmt.Sprintf(":%d", s.Line)
	}
	return where + ": " + terminal.Safe(s.Text())
}
