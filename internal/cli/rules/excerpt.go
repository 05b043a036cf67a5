package rules

import (
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// excerpt is a part of a line that fits on a page, safe to print, with a place
// in it.
type excerpt struct{ before, marked, after string }

// margin is how many bytes of a long line are shown before the place.
const margin = 30

// newExcerpt cuts a line around the bytes from column to end, both from 1, end
// excluded, so that it takes about width columns at most.
func newExcerpt(line string, column, end, width int) excerpt {
	from := min(max(column-1, 0), len(line))
	to := min(max(end-1, from), len(line))
	before, marked, after := line[:from], line[from:to], line[to:]
	if trimmed := strings.TrimLeft(before, " \t"); len(before)-len(trimmed) > 8 {
		before = trimmed
	}

	if len(line) > width && len(before) > margin {
		before = "…" + strings.ToValidUTF8(before[len(before)-margin:], "")
	}
	visible := func(text string) string { return terminal.Safe(strings.ReplaceAll(text, "\t", "    ")) }
	e := excerpt{before: visible(before)}
	left := max(width-terminal.Columns(e.before), 1)
	e.marked = terminal.Cut(visible(marked), left)
	e.after = terminal.Cut(visible(after), max(left-terminal.Columns(e.marked), 1))
	return e
}

// excerpt prints a line, behind a lead and cut around a column, and returns what
// it printed.
func (p page) excerpt(lead, line string, column int) excerpt {
	e := newExcerpt(strings.TrimSuffix(line, "\r"), column, column, p.width-len(lead))
	p.printf("%s%s\n", p.paint.Text(terminal.Faint, lead), e.plain())
	return e
}

// plain is the text of the excerpt.
func (e excerpt) plain() string { return strings.TrimRight(e.before+e.marked+e.after, " ") }

// carets point at the place from the line below.
func (e excerpt) carets() string {
	return strings.Repeat(" ", terminal.Columns(e.before)) + strings.Repeat("^", max(terminal.Columns(e.marked), 1))
}
