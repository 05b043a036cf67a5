package rules

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// writeJSON writes what was tested, for programs.
func (s *suite) writeJSON(w io.Writer) error {
	failed := 0
	for _, t := range s.results {
		if len(t.Failures) > 0 {
			failed++
		}
	}
	untested := s.untested
	if untested == nil {
		untested = []string{}
	}
	return writeJSON(w, map[string]any{"passed": failed == 0, "failed": failed, "tested": s.results, "untested": untested})
}

// print shows what was tested to people: what failed, with verbose also what
// passed, and a table of all.
func (s *suite) print(p page, verbose bool) {
	for _, t := range s.results {
		if len(t.Failures) > 0 || verbose {
			t.print(p)
		}
	}

	rows := [][]string{{"WHAT", "TESTED", "CHECKS", "FAILED"}}
	for _, src := range s.sources {
		name := "the default ruleset"
		if src.file != "" {
			name = terminal.Safe(src.file)
		}
		rows = append(rows, s.row(name, terminal.Count(len(src.list), "rule"), "case",
			func(t tested) bool { return t.Kind == kindRule && t.File == src.file }))
	}

	if n := len(s.samples); n > 0 {
		rows = append(rows, s.row("samples", terminal.Count(n, "file"), "annotation",
			func(t tested) bool { return t.Kind == kindSample }))
	}
	table(p, rows)

	if n := len(s.untested); n > 0 {
		p.printf("\n")
		shown := s.untested[:min(n, 10)]
		text := strings.Join(shown, ", ")
		if n > len(shown) {
			text += fmt.Sprintf(" and %d more", n-len(shown))
		}
		p.wrapped("", fmt.Sprintf("Nothing was tried on %s: %s. Add `cases`, or a sample.", terminal.Count(n, "rule"), text))
	}

	failed := 0
	for _, t := range s.results {
		failed += len(t.Failures)
	}
	verdict := p.paint.Text(terminal.Good, "PASS")
	if failed > 0 {
		verdict = p.paint.Text(terminal.Bad, "FAIL")
	}
	p.printf("\n%s in %.2f s\n", verdict, time.Since(s.began).Seconds())
}

// row sums up those of the results that belong together.
func (s *suite) row(name, what, checks string, belongs func(tested) bool) []string {
	n, failed := 0, 0
	for _, t := range s.results {
		if belongs(t) {
			n += t.Checks
			failed += len(t.Failures)
		}
	}
	return []string{name, what, terminal.Count(n, checks), fmt.Sprint(failed)}
}

// print shows one result.
func (t tested) print(p page) {
	word, color := "PASS", terminal.Good
	if len(t.Failures) > 0 {
		word, color = "FAIL", terminal.Bad
	}
	what := terminal.Count(t.Checks, "case")
	if t.Kind == kindSample {
		what = terminal.Count(t.Checks, "annotation") + " of " + terminal.Count(t.Rules, "rule")
	}
	p.printf("%s  %s  %s\n", p.paint.Text(color, word),
		p.paint.Text(terminal.Strong, terminal.Safe(t.Name)), p.paint.Text(terminal.Faint, what))

	for _, f := range t.Failures {
		place := ""
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d: ", terminal.Safe(t.File), f.Line)
		}
		p.printf("      %s%s\n", place, terminal.Safe(f.Message))
		if f.Line > 0 && f.Line <= len(t.lines) {
			p.excerpt(fmt.Sprintf("%9d | ", f.Line), t.lines[f.Line-1], 1)
		}
		if f.Hint != "" {
			p.hint("          = ", f.Hint)
		}
	}
	if len(t.Failures) > 0 {
		p.printf("\n")
	}
}

// table prints rows of cells in columns, the first row as its head.
func table(p page, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], terminal.Columns(cell))
		}
	}

	for n, row := range rows {
		line := ""
		for i, cell := range row {
			line += terminal.Pad(cell, widths[i]) + "  "
		}
		line = strings.TrimRight(line, " ")
		if n == 0 {
			line = p.paint.Text(terminal.Faint, line)
		}
		p.printf("%s\n", line)
	}
}
