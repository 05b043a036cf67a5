package web

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

const (
	// smallFile is up to how many lines of a diff are all shown. Of larger ones only
	// those are that are near a finding.
	smallFile, nearLines = 120, 6
)

// tableRow is a line of a diff with its numbers on both sides; 0 for none.
type tableRow struct {
	*prwardenv1.DiffLine
	before, after int32
	tokens        []token
}

// table writes the rows of a diff. It is not a template, because it writes most of a
// page, and a template for each part of a line takes ten times as long.
type table struct {
	out    bytes.Buffer
	file   *fileView
	hunks  []*prwardenv1.Hunk
	byLine map[int32][]*prwardenv1.Finding
	card   func(*prwardenv1.Finding) error
	unfold func(query string) string // the address of more lines

	full  bool  // whether hunks have lines of a diff, and not snippets
	whole bool  // whether all of them are shown, however many
	start int32 // the first line that can be unfolded
	tail  bool  // whether lines behind the last hunk can be unfolded
}

// newTable is a table of the changes of a file, and of snippets where there are none.
func newTable(f *fileView, fixed bool) *table {
	t := &table{file: f, byLine: map[int32][]*prwardenv1.Finding{}, start: 1}
	if d := f.Diff; d != nil && len(d.GetHunks()) > 0 && !fixed {
		t.hunks, t.full = d.GetHunks(), true
		t.tail = d.GetTruncated() || d.GetChange() != prwardenv1.FileChange_added && !f.Whole
	} else {
		t.hunks = snippets(f.Findings)
	}
	for _, x := range f.Findings {
		t.byLine[x.GetLine()] = append(t.byLine[x.GetLine()], x)
	}

	return t
}

// writeNote writes a row that says something, which the script puts where lines were
// asked for.
func (t *table) writeNote(text string) {
	t.out.WriteString(`<tr><td class="note" colspan="3">` + template.HTMLEscapeString(text) + `</td></tr>`)
}

// write writes all rows. Findings whose line the diff doesn't have are behind it.
func (t *table) write() error {
	if t.file.Gone != "" {
		t.writeNote(string(t.file.Gone))
	}
	total, reached := 0, t.start
	for _, k := range t.hunks {
		total += len(k.GetLines())
	}
	for _, k := range t.hunks {
		lines := numbered(k)
		for _, run := range t.runs(lines, total) {
			t.writeGap(reached, lines[run.from:run.to], k)
			if err := t.writeRun(lines[run.from:run.to]); err != nil {
				return err
			}
			reached = max(reached, lastAfter(lines[:run.to])+1)
			t.tail = t.tail || run.to < len(lines)
		}
	}
	if t.full && t.tail {
		t.writeUnfold("↓", reached, reached, reached+unfoldLines-1, "")
	}

	var left []*prwardenv1.Finding
	for _, x := range t.file.Findings {
		if _, waits := t.byLine[x.GetLine()]; waits {
			left = append(left, x)
		}
	}
	for _, k := range snippets(left) {
		t.full = false
		t.writeGap(0, nil, k)
		if err := t.writeRun(numbered(k)); err != nil {
			return err
		}
	}

	return nil
}

// numbered gives the lines of a hunk their numbers.
func numbered(k *prwardenv1.Hunk) []tableRow {
	rows := make([]tableRow, len(k.GetLines()))
	before, after := k.GetOldStart(), k.GetNewStart()
	for i, l := range k.GetLines() {
		rows[i].DiffLine = l
		if l.GetKind() != prwardenv1.DiffLine_added && k.GetOldStart() > 0 {
			rows[i].before = before
			before++
		}
		if l.GetKind() != prwardenv1.DiffLine_removed {
			rows[i].after = after
			after++
		}
	}

	return rows
}

// lastAfter is the number of the last line at head; 0 for none.
func lastAfter(rows []tableRow) int32 {
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].after > 0 {
			return rows[i].after
		}
	}

	return 0
}

// run is a part of the lines of a hunk.
type run struct{ from, to int }

// runs are the parts of a hunk that are shown.
func (t *table) runs(lines []tableRow, total int) (out []run) {
	if total <= smallFile || t.whole || !t.full {
		return []run{{0, len(lines)}}
	}
	for i, l := range lines {
		if l.after == 0 || len(t.byLine[l.after]) == 0 {
			continue
		}
		from, to := max(i-nearLines, 0), min(i+nearLines+1, len(lines))
		if n := len(out); n > 0 && from <= out[n-1].to {
			out[n-1].to = to
		} else {
			out = append(out, run{from, to})
		}
	}

	return out
}

// writeGap writes what stands before a part: where it is, and what unfolds the lines
// before it.
func (t *table) writeGap(reached int32, rows []tableRow, k *prwardenv1.Hunk) {
	if !t.full {
		if t.out.Len() > 0 {
			t.out.WriteString(`<tr class="hunk"><td colspan="3"></td></tr>`)
		}
		return
	}
	next := int32(0)
	for _, row := range rows {
		if next = row.after; next > 0 {
			break
		}
	}
	if next > reached {
		t.writeUnfold("↑", reached, max(reached, next-unfoldLines), next-1, k.GetSection())
	}
}

// writeUnfold writes the link to lines that are left out. Those from the first one on
// can be unfolded further.
func (t *table) writeUnfold(arrow string, first, from, to int32, section string) {
	query := fmt.Sprintf("&from=%d&to=%d&first=%d", from, to, first)
	if arrow == "↓" {
		query += "&down=1"
	}
	t.out.WriteString(`<tr class="hunk"><td colspan="2"><a data-rows href="`)
	template.HTMLEscape(&t.out, []byte(t.unfold(query)))
	fmt.Fprintf(&t.out, `"><span aria-hidden="true">%s %d</span><span class="vh">Show lines %d to %d</span></a></td><td>`,
		arrow, to-from+1, from, to)
	template.HTMLEscape(&t.out, []byte(section))
	t.out.WriteString("</td></tr>\n")
}

// writeRun writes lines that follow each other, and the findings beneath them.
func (t *table) writeRun(rows []tableRow) error {
	highlight(t.file.Path, rows)
	for _, row := range rows {
		t.out.WriteString(`<tr class="`)
		t.out.WriteString(kindClass(row.GetKind()))
		t.out.WriteString(`"><td class="ln">`)
		t.writeNumber(row.before)
		t.out.WriteString(`</td><td class="ln">`)
		t.writeNumber(row.after)
		t.out.WriteString(`</td><td class="code">`)
		findings := t.byLine[row.after]
		if row.after == 0 {
			findings = nil
		}
		t.writeText(row, marksOf(row.DiffLine, findings))
		if row.GetCut() {
			t.out.WriteString(`<span class="tag">The end of the line is left out</span>`)
		}
		t.out.WriteString("</td></tr>\n")

		for _, x := range findings {
			t.out.WriteString(`<tr class="fr"><td colspan="3">`)
			if err := t.card(x); err != nil {
				return err
			}
			t.out.WriteString("</td></tr>\n")
		}
		if row.after > 0 {
			delete(t.byLine, row.after)
		}
	}

	return nil
}

func (t *table) writeNumber(n int32) {
	if n > 0 {
		t.out.WriteString(strconv.Itoa(int(n)))
	}
}

func kindClass(k prwardenv1.DiffLine_Kind) string {
	switch k {
	case prwardenv1.DiffLine_added:
		return "add"
	case prwardenv1.DiffLine_removed:
		return "del"
	}

	return "ctx"
}

// mark is a part of a line that is set off.
type mark struct {
	from, to int    // bytes from 0
	severity string // of the finding; "" for none
	masked   bool
}

// marksOf are what is masked in a line and what findings match there. Behind a masked
// part columns of findings don't fit, so that part itself is marked then.
func marksOf(l *prwardenv1.DiffLine, findings []*prwardenv1.Finding) (marks []mark) {
	severity, fits := "", len(l.GetText())
	for i, s := range l.GetMasked() {
		if i == 0 {
			fits = int(s.GetColumn()) - 1
			if len(findings) > 0 {
				severity = findings[0].GetSeverity().String()
			}
		}
		marks = append(marks, mark{int(s.GetColumn()) - 1, int(s.GetEndColumn()) - 1, severity, true})
	}
	for _, x := range findings {
		from, to := int(x.GetColumn())-1, int(x.GetEndColumn())-1
		if x.GetEndLine() > x.GetLine() {
			to = len(l.GetText())
		}
		for from >= 0 && from < min(to, len(l.GetText())) && (l.GetText()[from] == ' ' || l.GetText()[from] == '\t') {
			from++ // white space before what matched is not underlined
		}
		if from >= 0 && from < to && to <= fits {
			marks = append(marks, mark{from, to, x.GetSeverity().String(), false})
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.from, b.from) })

	return marks
}

// writeText writes the text of a line: its tokens, divided where marks begin and end.
func (t *table) writeText(row tableRow, marks []mark) {
	tokens := row.tokens
	if tokens == nil {
		tokens = []token{{"", row.GetText()}}
	}
	at, open := 0, -1
	for _, k := range tokens {
		for text := k.text; text != ""; {
			in, n := markAt(marks, at, len(text))
			if in != open {
				t.closeMark(marks, open)
				t.openMark(marks, in)
				open = in
			}
			if in < 0 || !marks[in].masked {
				t.writeToken(k.class, text[:n])
			}
			at, text = at+n, text[n:]
		}
	}
	t.closeMark(marks, open)
	if row.GetText() == "" {
		t.out.WriteByte('\n')
	}
}

// markAt returns which mark a place is in, -1 for none, and up to how many bytes
// behind it that stays so.
func markAt(marks []mark, at, most int) (in, n int) {
	for i, m := range marks {
		if at >= m.from && at < m.to {
			return i, min(most, m.to-at)
		}
		if m.from > at {
			most = min(most, m.from-at)
		}
	}

	return -1, most
}

// openMark begins a mark. What stands for a masked part is all that is in one.
func (t *table) openMark(marks []mark, i int) {
	if i < 0 {
		return
	}
	if marks[i].severity != "" {
		t.out.WriteString(`<mark class="m-` + marks[i].severity + `">`)
	}
	if marks[i].masked {
		t.out.WriteString(`<span class="masked" title="Masked: the rule says so">••••••••</span>`)
	}
}

func (t *table) closeMark(marks []mark, i int) {
	if i >= 0 && marks[i].severity != "" {
		t.out.WriteString("</mark>")
	}
}

func (t *table) writeToken(class, text string) {
	if class == "" {
		template.HTMLEscape(&t.out, []byte(text))
		return
	}
	t.out.WriteString(`<i class="` + class + `">`)
	template.HTMLEscape(&t.out, []byte(text))
	t.out.WriteString("</i>")
}
