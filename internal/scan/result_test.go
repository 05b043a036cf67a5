package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, pattern string
		multiline     bool
		want          [6]int // line, end line, column, end column, and the columns in UTF-16
	}{
		"ASCII":                       {"a todo b\n", "todo", false, [6]int{1, 1, 3, 7, 3, 7}},
		"two bytes":                   {"é tödo", "t.do", false, [6]int{1, 1, 4, 9, 3, 7}},
		"three bytes":                 {"\t世界todo", "todo", false, [6]int{1, 1, 8, 12, 4, 8}},
		"beyond the first 64K":        {"😀 todo😀", "todo.", false, [6]int{1, 1, 6, 14, 4, 10}},
		"invalid, a unit each":        {"\xff\xe2\x82todo\xf0\x9f", "todo..", false, [6]int{1, 1, 4, 10, 4, 10}},
		"an encoded surrogate":        {"\xed\xa0\x80todo", "todo", false, [6]int{1, 1, 4, 8, 4, 8}},
		"a byte order mark":           {"\ufefftodo", "todo", false, [6]int{1, 1, 4, 8, 2, 6}},
		"CRLF":                        {"x\r\n é todo\r\n", "todo$", false, [6]int{2, 2, 5, 9, 4, 8}},
		"several lines":               {"é {\n\n😀}\n", `(?s)\{.*\}`, true, [6]int{1, 3, 4, 6, 3, 4}},
		"up to the end of a line":     {"é\n\n", `é\n`, true, [6]int{1, 1, 1, 4, 1, 3}},
		"a part of a character at it": {"é\xc3", "é", false, [6]int{1, 1, 1, 3, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := regex("x", tt.pattern, func(r *rule.Rule) { r.Multiline = tt.multiline })
			got := run(t, &pull{files: []scan.File{file("a", tt.text)}}, r).Findings
			require.Len(t, got, 1)
			f := got[0]

			assert.Equal(t, tt.want, [6]int{f.Line, f.EndLine, f.Column, f.EndColumn, f.UTF16Column, f.UTF16EndColumn})
		})
	}
}

// Line hashes are of the head's text, and there are none that tell of a text that
// is masked.
func TestLineHash(t *testing.T) {
	t.Parallel()
	todo, token := regex("todo", "todo"), regex("token", `tok_\w+`, redact)
	key := regex("key", `(?s)BEGIN.*?END`, redact, multiline)
	hashes := func(text string, rules ...rule.Rule) (list []string) {
		for _, f := range run(t, &pull{files: []scan.File{marked("a", text)}}, rules...).Findings {
			list = append(list, f.LineHash)
		}

		return list
	}
	// As the uploader computes them for these three lines.
	assert.Equal(t, []string{"2b0678f47bd55a:1", "56a0fb737784999b:1"}, hashes(" first\n+todo;\n+ \ttodo();\n", todo))
	same := strings.Repeat("+todo "+strings.Repeat("x", 100)+"\n", 3)
	got := hashes(same, todo)
	require.Len(t, got, 3)
	for i, h := range got {
		assert.Equal(t, got[0][:16]+fmt.Sprintf(":%d", i+1), h)
	}

	near := "+todo\n token_and\n" + strings.Repeat(" \n", 30)
	for name, text := range map[string]string{
		"on the line":                  "+todo tok_a\n",
		"on the next line":             "+todo\n tok_a\n",
		"some lines below":             near + " tok_a\n",
		"a part of a key below":        "+todo\n BEGIN\n a\n END\n",
		"on a line before, with CR in": " tok_a\rb\n+todo\n",
	} {
		here := regex("token", `tok_\w+`, redact, func(r *rule.Rule) { r.Paths.Include = []string{"a"} })
		for _, h := range hashes(text, todo, here, key) {
			assert.Empty(t, h, name)
		}
	}

	far := "+todo\n " + strings.Repeat("x", 100) + "\n tok_a\n"
	assert.NotEmpty(t, hashes(far, todo, token)[0], "what the hash is not made of does not matter")
	assert.NotEmpty(t, hashes(" tok_a\n+todo\n", todo, token)[0])
	assert.Equal(t, []string{""}, hashes("+tok_a\n", token), "the rule's own")
}

// sizes are what the lists of a result take.
func sizes(r *scan.Result) (findings, suppressed, skips int) {
	for _, f := range r.Findings {
		findings += f.Size()
	}

	for _, f := range r.Suppressed {
		suppressed += f.Size()
	}

	for _, s := range r.Skips {
		skips += s.Size()
	}

	return findings, suppressed, skips
}

// Of findings that take too much the most severe are kept, and all are counted.
func TestSizeOfAllFindings(t *testing.T) {
	t.Parallel()
	const lines, size = 100, 1 << 20
	hostile := strings.Repeat("\x01", 3000)
	p := func() *pull {
		p := &pull{files: []scan.File{file("z", "fix\n")}}
		for i := range 3 {
			p.files = append(p.files, file(fmt.Sprintf("%s%d", hostile, i), strings.Repeat("todo\n", lines)))
		}

		return p
	}

	rules := []rule.Rule{regex("fix", "fix", severity(rule.High)), regex("todo", "todo")}
	all := run(t, p(), rules...)
	require.Len(t, all.Findings, 3*lines+1)
	require.False(t, all.Truncated)

	got, err := try(t, p(), rules, setup{request: scan.Request{MaxSize: size}})
	require.NoError(t, err)
	assert.True(t, got.Truncated)
	assert.Equal(t, all.Summary, got.Summary, "the summary counts all")
	kept := len(got.Findings) - 1

	assert.Equal(t, all.Findings[:kept], got.Findings[:kept], "the first of those that are as severe as others")
	assert.Equal(t, "z", got.Findings[kept].File, "the most severe one")
	used, _, _ := sizes(got)

	assert.LessOrEqual(t, used, size)
	assert.Greater(t, used+got.Findings[0].Size(), size, "no more than necessary is left out")
}

// Many of one kind do not hide another: findings have at least half of the size,
// suppressed ones and skips a quarter each.
func TestSizeIsShared(t *testing.T) {
	t.Parallel()
	const size, each = 1 << 20, 300
	path := strings.Repeat("\x02", 400)
	p := &pull{files: []scan.File{
		file(path+"1", strings.Repeat("todo\n", each)),
		file(path+"2", strings.Repeat("todo // prwarden:ignore custom/x -- a reason\n", each)),
	}}

	for i := range each {
		p.files = append(p.files, scan.File{Path: fmt.Sprintf("%s3/%d", path, i), Submodule: true})
	}

	got, err := try(t, p, []rule.Rule{regex("x", "todo")}, setup{request: scan.Request{MaxSize: size}})
	require.NoError(t, err)
	assert.True(t, got.Truncated)
	findings, suppressed, skips := sizes(got)
	assert.InDelta(t, size/2, findings, size/100)
	assert.InDelta(t, size/4, suppressed, size/100)
	assert.InDelta(t, size/4, skips, size/100)
	assert.LessOrEqual(t, findings+suppressed+skips, size)
}
