package web

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

func line(kind prwardenv1.DiffLine_Kind, text string, masked ...*prwardenv1.Span) *prwardenv1.DiffLine {
	return &prwardenv1.DiffLine{Kind: &kind, Text: text, Masked: masked}
}

func findingAt(line, column, end int32) *prwardenv1.Finding {
	return &prwardenv1.Finding{
		Line: line, EndLine: line, Column: column, EndColumn: end, Severity: prwardenv1.Severity_high.Enum(), Snippet: "the line",
		Fingerprint: "ab",
	}
}

// rowsOf writes the table of a file with no more than a mark where a finding is.
func rowsOf(t *testing.T, f *fileView) string {
	t.Helper()
	table := newTable(f, false)
	table.card = func(x *prwardenv1.Finding) error {
		table.out.WriteString("[" + x.GetFingerprint() + "]")
		return nil
	}
	table.unfold = func(query string) string { return "?" + query }
	require.NoError(t, table.write())

	return table.out.String()
}

func TestWriteText(t *testing.T) {
	t.Parallel()
	span := &prwardenv1.Span{Column: 5, EndColumn: 9}
	for name, c := range map[string]struct {
		line     *prwardenv1.DiffLine
		findings []*prwardenv1.Finding
		want     string
	}{
		"nothing":                {line(1, "a < b"), nil, "a &lt; b"},
		"empty":                  {line(1, ""), nil, "\n"},
		"a match":                {line(1, "x eval(y)"), []*prwardenv1.Finding{findingAt(1, 3, 8)}, `x <mark class="m-high">eval(</mark>y)`},
		"white space before one": {line(1, "\t ab"), []*prwardenv1.Finding{findingAt(1, 1, 5)}, "\t " + `<mark class="m-high">ab</mark>`},
		"behind the line":        {line(1, "ab"), []*prwardenv1.Finding{findingAt(1, 1, 9)}, "ab"},
		"masked":                 {line(1, "k = **** x", span), nil, "k = " + mask + " x"},
		"masked with a finding": {
			line(1, "k = **** x", span), []*prwardenv1.Finding{findingAt(1, 5, 40)}, `k = <mark class="m-high">` + mask + "</mark> x",
		},
		"before what is masked": {
			line(1, "k = ****", span), []*prwardenv1.Finding{findingAt(1, 1, 2)},
			`<mark class="m-high">k</mark> = <mark class="m-high">` + mask + "</mark>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var table table
			table.writeText(tableRow{DiffLine: c.line}, marksOf(c.line, c.findings))
			assert.Equal(t, c.want, table.out.String())
		})
	}
}

const mask = `<span class="masked" title="Masked: the rule says so">••••••••</span>`

func TestTable(t *testing.T) {
	t.Parallel()
	hunk := &prwardenv1.Hunk{OldStart: 30, NewStart: 30, Section: "func <a>", Lines: []*prwardenv1.DiffLine{
		line(1, "before"), line(3, "gone"), line(2, "fresh"), line(1, "after"),
	}}
	f := &fileView{
		Path: "x.unknown", Findings: []*prwardenv1.Finding{findingAt(31, 1, 3), findingAt(99, 1, 3)},
		Diff: &prwardenv1.FileDiff{Change: prwardenv1.FileChange_modified.Enum(), Hunks: []*prwardenv1.Hunk{hunk}},
	}
	out := rowsOf(t, f)
	for _, want := range []string{
		`href="?&amp;from=10&amp;to=29&amp;first=1"><span aria-hidden="true">↑ 20</span><span class="vh">Show lines 10 to 29</span></a>` +
			`</td><td>func &lt;a&gt;</td>`,
		`<tr class="del"><td class="ln">31</td><td class="ln"></td><td class="code">gone</td></tr>`,
		`<tr class="add"><td class="ln"></td><td class="ln">31</td><td class="code"><mark class="m-high">fr</mark>esh</td></tr>` +
			"\n" + `<tr class="fr"><td colspan="3">[ab]</td></tr>`,
		`<tr class="ctx"><td class="ln">32</td><td class="ln">32</td><td class="code">after</td></tr>`,
		`href="?&amp;from=33&amp;to=52&amp;first=33&amp;down=1"`,
		`<td class="ln">99</td><td class="code"><mark class="m-high">th</mark>e line</td></tr>`,
	} {
		assert.Contains(t, out, want)
	}
	assert.Equal(t, 2, strings.Count(out, "[ab]"))
}

// Of a large file only what is near findings is shown.
func TestTableOfALargeFile(t *testing.T) {
	t.Parallel()
	hunk := &prwardenv1.Hunk{NewStart: 1}
	for range 500 {
		hunk.Lines = append(hunk.Lines, line(2, "x"))
	}
	f := &fileView{
		Path: "x.unknown", Findings: []*prwardenv1.Finding{findingAt(100, 1, 2), findingAt(110, 1, 2), findingAt(400, 1, 2)},
		Diff: &prwardenv1.FileDiff{Change: prwardenv1.FileChange_added.Enum(), Hunks: []*prwardenv1.Hunk{hunk}},
	}
	out := rowsOf(t, f)
	assert.Equal(t, 13+10+13, strings.Count(out, `<tr class="add">`))
	assert.Equal(t, 3, strings.Count(out, `<tr class="hunk">`))
	assert.Contains(t, out, "Show lines 374 to 393")
	f.Whole = true
	table := newTable(f, false)
	table.card, table.whole = func(*prwardenv1.Finding) error { return nil }, true
	require.NoError(t, table.write())
	assert.Equal(t, 500, strings.Count(table.out.String(), `<tr class="add">`))
	assert.NotContains(t, table.out.String(), "data-rows")
}

// Colours divide a text, and change none of it.
func TestHighlight(t *testing.T) {
	t.Parallel()
	text := []string{"package a", "", "/* one", "two */ func f() string { return `x", "y` }", "\t// <end> ö"}
	var rows []tableRow
	for i, s := range text {
		rows = append(rows, tableRow{DiffLine: line(prwardenv1.DiffLine_Kind(i%2+1), s)})
	}
	rows = append(rows, tableRow{DiffLine: line(3, "return `")})
	highlight("dir/a.go", rows)
	for i, row := range rows {
		joined := ""
		for _, k := range row.tokens {
			joined += k.text
		}
		assert.Equal(t, row.GetText(), joined, "%d", i)
	}
	assert.Equal(t, token{"k", "package"}, rows[0].tokens[0])
	assert.Equal(t, "c", rows[2].tokens[0].class)
	assert.Equal(t, "c", rows[3].tokens[0].class)
	assert.Nil(t, lexerOf("a.unknown"))
	assert.NotNil(t, lexerOf("sub/Dockerfile"))
}

func TestPageOf(t *testing.T) {
	t.Parallel()
	file := func(path string, n int) *fileView {
		f := &fileView{Path: path}
		for range n {
			f.add(findingAt(1, 1, 2), true)
		}

		return f
	}
	files := []*fileView{file("a", 3), file("b", 4), file("c", 1)}
	first, second := pageOf(files, 0, 5), pageOf(files, 5, 10)
	require.Len(t, first, 2)
	assert.Same(t, files[0], first[0])
	assert.Len(t, first[1].Findings, 2)
	assert.True(t, first[1].Split)
	require.Len(t, second, 2)
	assert.Equal(t, "b", second[0].Path)
	assert.Equal(t, 2, second[0].First)
	assert.Equal(t, 2, sumOf(second[0].Counts))
	assert.Empty(t, pageOf(files, 10, 15))
}

func TestFilter(t *testing.T) {
	t.Parallel()
	x := findingAt(1, 1, 2)
	x.State, x.RuleId, x.File = prwardenv1.Finding_new.Enum(), "a/b", "f.go"
	decided := findingAt(1, 1, 2)
	decided.State, decided.Triage = prwardenv1.Finding_existing.Enum(), &prwardenv1.Triage{}
	for _, c := range []struct {
		filter        filter
		open, decided bool
	}{
		{filter{State: "open"}, true, false},
		{filter{State: "decided"}, false, true},
		{filter{State: "new"}, true, false},
		{filter{State: "existing"}, false, true},
		{filter{State: "open", Severity: "critical"}, false, false},
		{filter{State: "open", Severity: "medium"}, true, false},
		{filter{State: "open", Rule: "a/c"}, false, false},
		{filter{State: "open", Rule: "a/b", File: "f.go"}, true, false},
		{filter{State: "new", File: "g.go", At: "ab"}, true, true},
	} {
		assert.Equal(t, c.open, c.filter.shows(x), "%+v", c.filter)
		assert.Equal(t, c.decided, c.filter.shows(decided), "%+v", c.filter)
	}
}

func TestIgnoreComment(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"a/b.go":      "// prwarden:ignore a/b -- reason",
		"x.PY":        "# prwarden:ignore a/b -- reason",
		"Dockerfile":  "# prwarden:ignore a/b -- reason",
		"Jenkinsfile": "// prwarden:ignore a/b -- reason",
		"q.sql":       "-- prwarden:ignore a/b -- reason",
		"README.md":   "<!-- prwarden:ignore a/b -- reason -->",
		"style.css":   "/* prwarden:ignore a/b -- reason */",
	} {
		assert.Equal(t, want, ignoreComment(file, "a/b"), file)
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "plain\ttext ö", shown("plain\ttext ö"))
	assert.Equal(t, "a\ufffdb␛c␡", shown("a\u202eb\x1bc\x7f"))
}
