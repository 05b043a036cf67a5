package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
		t.short("Observed, which fails nothing:", texts(r.onlyObserved(), observed))
		t.short("Fixed since the review before:", texts(r.Review.Fixed, located))
		t.short("Not looked at:", texts(r.skips(false), skipped))
		t.short("Not looked at, which is tolerated:", texts(r.skips(true), skipped))
	}

	for _, text := range append(r.SwitchedOff(), r.Summary()) {
		for _, line := range terminal.Wrap(text, t.width) {
			t.line("", line)
		}
	}
	t.end()

	return t.String()
}

// end writes what was compared with, and the verdict.
func (t *table) end() {
	if base := t.r.Base(); base != "" {
		color := terminal.Faint
		if t.r.Review.BaseFoundBy.Guessed() {
			color = terminal.Yellow
		}
		for _, line := range terminal.Wrap(base, t.width) {
			t.line("", t.paint.Text(color, line))
		}
	}

	if v := t.r.Verdict(); v != "" {
		color := terminal.Good
		if !t.r.Passes() {
			color = terminal.Bad
		}
		t.line("", t.paint.Text(color, v))
	}
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

	column := 0
	for _, f := range list {
		column = max(column, terminal.Columns(location(f)))
	}

	said := map[string]bool{}
	for _, f := range list {
		t.head(f, column)
		text := safeText(f.Message)
		if !said[f.RuleID+text] {
			said[f.RuleID+text] = true
			for _, line := range terminal.Wrap(text, t.width-len(indent)) {
				t.line(indent, line)
			}
		}
		if f.Triage != nil {
			for _, line := range terminal.Wrap("Set aside, "+decided(*f.Triage), t.width-len(indent)) {
				t.line(indent, line)
			}
		}
		t.steps(f)
		if code := t.code(f, t.width-len(indent)); code != "" {
			t.line(indent, code)
		}
	}
	t.line("", "")
}

// steps writes the way of a value to a finding, without its end, which stands behind it.
func (t *table) steps(f finding.Finding) {
	number := 0
	for _, s := range f.Steps {
		number = max(number, len(strconv.Itoa(s.Line)))
	}
	for _, s := range f.Steps[:max(0, len(f.Steps)-1)] {
		text := fmt.Sprintf("%*d │ %s", number, s.Line, strings.TrimSpace(strings.ReplaceAll(s.Snippet, "\t", " ")))
		t.line(indent, t.paint.Text(terminal.Faint, terminal.Cut(terminal.Safe(text), t.width-len(indent))))
	}
}

// indent is before what is said about a place.
const indent = "    "

// head writes where, how bad, by which rule, and whether that is new. Terminals
// open the place when it is clicked, so it is whole and has nothing inserted.
func (t *table) head(f finding.Finding, column int) {
	severity := t.paint.Text(severityColors[f.Severity], fmt.Sprintf("%-8s", f.Severity))
	mark := ""
	switch {
	case f.Triage != nil:
		mark = "  " + t.paint.Text(terminal.Faint, "set aside")
	case !t.r.compared():
	case f.State == finding.StateExisting:
		mark = "  " + t.paint.Text(terminal.Faint, "existing")
	default:
		mark = "  " + t.paint.Text(terminal.Strong, "new")
	}

	where := location(f)
	padding := strings.Repeat(" ", column-terminal.Columns(where))
	t.line("", t.paint.Text(terminal.Strong, where)+padding+"  "+severity+"  "+terminal.Safe(f.RuleID)+mark)
}

// code is the line of a finding, in which the match stands out.
func (t *table) code(f finding.Finding, width int) string {
	before, match, after := matched(f)
	if before = strings.TrimLeft(before, " \t"); before == "" {
		match = strings.TrimLeft(match, " \t")
	}
	if match == "" {
		before = strings.TrimSpace(before)
	}
	plain := func(text string) string { return terminal.Safe(strings.ReplaceAll(text, "\t", " ")) }
	start := len("│ " + plain(before))
	whole := "│ " + plain(before) + plain(match) + strings.TrimRight(plain(after), " ")
	if whole == "│ " {
		return ""
	}

	line, end := terminal.Cut(whole, width), start+len(plain(match))
	if match == "" {
		return t.paint.Text(terminal.Faint, line)
	}
	if cut := len(line) - len("…"); line != whole && end > cut {
		end = len(line)
		start = min(start, cut)
	}

	return t.paint.Text(terminal.Faint, line[:start]) + t.paint.Text(severityColors[f.Severity], line[start:end]) +
		t.paint.Text(terminal.Faint, line[end:])
}

const (
	// wholeLead is the column up to which snippets begin where their lines do.
	wholeLead = 100
	// mask stands in snippets for what is not shown.
	mask = "****"
)

// matched parts the snippet of a finding at its match. Where it can't be told what
// of it is the match, that is empty.
func matched(f finding.Finding) (before, match, after string) {
	text, start, end := f.Snippet, f.Column-1, f.EndColumn-1
	if f.EndLine > f.Line {
		end = len(text)
	}
	if start < 0 || start > min(wholeLead, len(text)) || strings.Contains(text[:start], mask) ||
		strings.ContainsRune(text[:start], utf8.RuneError) {
		return text, "", ""
	}

	if strings.HasPrefix(text[start:], mask) {
		end = start + len(mask)
	}
	end = min(end, len(text))
	if end <= start || !utf8.ValidString(text[:start]) || !utf8.ValidString(text[start:end]) {
		return text, "", ""
	}

	return text[:start], text[start:end], text[end:]
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

func observed(f finding.Finding) string {
	return located(f) + " (" + f.Severity.String() + "): " + safeText(f.Message)
}

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
