package report

import (
	"fmt"
	"strings"
)

// Table is a Markdown table.
type Table struct {
	Header []string
	Rows   [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// String writes the table: the first column to the left, others to the right.
func (t *Table) String() string {
	var b strings.Builder
	row := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	row(t.Header)
	rule := make([]string, len(t.Header))
	for i := range rule {
		rule[i] = "---:"
	}
	rule[0] = ":---"
	b.WriteString("|" + strings.Join(rule, "|") + "|\n")
	for _, r := range t.Rows {
		cells := make([]string, len(t.Header))
		for i := range min(len(r), len(cells)) {
			cells[i] = strings.ReplaceAll(r[i], "|", `\|`)
		}
		row(cells)
	}
	return b.String()
}

// end is where a part of a document ends that a benchmark writes.
const end = "<!-- end of results -->"

// begin is where the part begins that a command writes.
func begin(command string) string { return "<!-- results: written by " + command + " -->" }

// Replace puts text between the markers of what the command writes into a
// document.
func Replace(document, command, text string) (string, error) {
	head, rest, ok := strings.Cut(document, begin(command))
	_, tail, found := strings.Cut(rest, end)
	if !ok || !found {
		return "", fmt.Errorf("the document lacks %q and, after it, %q", begin(command), end)
	}
	return head + begin(command) + "\n\n" + strings.TrimSpace(text) + "\n\n" + end + tail, nil
}

// Speed writes MB/s with as many digits as mean something.
func Speed(mb float64) string {
	switch {
	case mb >= 100:
		return Thousands(int64(mb + 0.5))
	case mb >= 10:
		return fmt.Sprintf("%.0f", mb)
	default:
		return fmt.Sprintf("%.2g", mb)
	}
}

// Ratio writes how many times one is the other.
func Ratio(r float64) string {
	if r >= 10 {
		return Thousands(int64(r+0.5)) + " ×"
	}
	return fmt.Sprintf("%.2f ×", r)
}
