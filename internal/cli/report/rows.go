package report

import (
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/match"
)

// Rows writes findings of a local scan as rows for people, file by file, before
// all are known: it looks like Table with messages under their rows, but only
// the rows of one file have columns in common. A rule's message is there once
// for a run of findings. It is safe for concurrent use.
type Rows struct {
	rules []row // without places
	width int
}

// NewRows prepares for hits that refer to rules by their indexes, and for lines
// of width columns.
func NewRows(rules []rule.Rule, width int) *Rows {
	t := &Rows{rules: make([]row, len(rules)), width: width}
	for i, r := range rules {
		t.rules[i] = row{severity: r.Severity.String(), rule: terminal.Safe(r.FullID()), message: safeText(r.Message)}
	}
	return t
}

// Append appends a run of findings in one file.
func (t *Rows) Append(dst []byte, file string, hits []match.Hit) []byte {
	severity := len(rule.Critical.String()) // the longest word, for all files alike
	file = terminal.Safe(file)
	rows := make([]row, len(hits))
	told := map[int]bool{}
	place, name := 0, 0
	for i, h := range hits {
		rows[i] = t.rules[h.Rule]
		rows[i].place = fmt.Sprintf("%s:%d:%d", file, h.Line, h.Column)
		if told[h.Rule] {
			rows[i].message = ""
		}
		told[h.Rule] = true
		place = max(place, terminal.Columns(rows[i].place))
		name = max(name, len(rows[i].rule))
	}
	var b strings.Builder
	if severity+place+name+2*len(gap) <= t.width {
		below(&b, rows, []int{severity, place}, t.width)
	} else {
		stacked(&b, rows, severity, t.width)
	}
	return append(dst, b.String()...)
}

type row struct{ severity, place, rule, message string }

const gap = "  "

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
