package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseSample(t *testing.T) {
	t.Parallel()
	ids := []string{"custom/a", "custom/b", "x/c"}
	tests := map[string]struct {
		text     string
		want     []annotation
		mistakes []string
	}{
		"none":   {"x\ny\n", nil, nil},
		"expect": {"# prwarden: expect a\nx", []annotation{{"custom/a", 1, 2, true}}, nil},
		"ok": {
			"// prwarden: ok a,x/c\r\nx\r\n",
			[]annotation{{"custom/a", 1, 2, false}, {"x/c", 1, 2, false}},
			nil,
		},
		"stacked": {
			"# prwarden: expect a\n# prwarden: ok b\nx",
			[]annotation{{"custom/a", 1, 3, true}, {"custom/b", 2, 3, false}},
			nil,
		},
		"ends": {
			"<!-- prwarden: expect a-->\n/* prwarden: expect b*/\nx",
			[]annotation{{"custom/a", 1, 3, true}, {"custom/b", 2, 3, true}},
			nil,
		},
		"words after": {
			"# prwarden: expect a, b and more\nx",
			[]annotation{{"custom/a", 1, 2, true}, {"custom/b", 1, 2, true}},
			nil,
		},
		"empty line":    {"# prwarden: expect a\n\n", []annotation{{"custom/a", 1, 2, true}}, nil},
		"nothing after": {"# prwarden: expect a\n", []annotation{{"custom/a", 1, 0, true}}, []string{"no line follows"}},
		"no id":         {"# prwarden: expect\nx", nil, []string{"an id of a rule is missing"}},
		"a comma":       {"# prwarden: expect a,\nx", nil, []string{"an id of a rule is missing"}},
		"no such rule":  {"# prwarden: expect aa\nx", nil, []string{"there is no rule aa"}},
		"no such word":  {"# prwarden: expects a\nx", nil, []string{`"expects" is neither`}},
		"other words":   {"# prwarden: see a\nx", nil, nil},
		"a suppression": {"# prwarden: expect a\nx # prwarden:ignore a", []annotation{{"custom/a", 1, 2, true}}, nil},
		"another name":  {"# xprwarden: expect a\nx", nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := parseSample("f", []byte(tt.text), ids)
			assert.Equal(t, tt.want, s.annotations)
			require.Len(t, s.mistakes, len(tt.mistakes))
			for i, m := range s.mistakes {
				assert.Contains(t, m.Message, tt.mistakes[i])
			}
		})
	}
}

func FuzzParseSample(f *testing.F) {
	for _, seed := range []string{
		"# prwarden: expect a\nx", "<!-- prwarden: ok a, b-->\n", "prwarden: expect a,\n", "prwarden:expect\ta\r\n\xff",
		"prwarden: expct a", "prwarden: ok ../x\n", "\n\n",
	} {
		f.Add(seed)
	}
	ids := []string{"custom/a", "custom/b", "x/c"}
	f.Fuzz(func(t *testing.T, text string) {
		s := parseSample("f", []byte(text), ids)
		for _, a := range s.annotations {
			require.Contains(t, ids, a.id)
			require.True(t, a.at >= 1 && a.at <= len(s.lines))
			require.True(t, a.target == 0 || a.target > a.at && a.target <= len(s.lines))
			require.NotContains(t, s.on, a.target)
			require.Contains(t, s.on, a.at)
		}
		for _, m := range s.mistakes {
			require.True(t, m.Line >= 1 && m.Line <= len(s.lines), "%+v", m)
		}
		require.True(t, slices.IsSorted(s.rules()))
	})
}

func TestOutline(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string][]string{
		`a(?i)b`:              {`"a"`, `"B" in either case`},
		`fmt\.Print(ln|f)?\(`: {`"fmt.Print"`, `perhaps "ln" or "f"`, `"("`},
		`^\s*#$`:              {"the start of the line", "any number of blanks", `"#"`, "the end of the line"},
		`[^/]{3}x{2,}`:        {"3 characters that are none of /", `2 or more of "x"`},
		`[+/0-9A-Za-z]`:       {"one of + / 0-9 A-Z a-z"},
		`\bx\d{1,4}.+`:        {"the edge of a word", `"x"`, "1 to 4 digits", "one or more characters"},
		`(?s)(a.)+`:           {"one or more of this:", `  "a"`, `  any character, \n too`},
		`(`:                   nil,
	} {
		var lines []string
		for _, line := range outline(pattern, false) {
			lines = append(lines, strings.TrimPrefix(line, "  "))
		}
		assert.Equal(t, want, lines, pattern)
	}
	assert.Equal(t, []string{"  the start of the file", `  "a"`}, outline("^a", true))
	assert.Len(t, outline(strings.Repeat("a.", 100), false), 41)
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	e := newExcerpt("\t\tfoo(日本\x1b) // x", 3, 7, 60)
	assert.Equal(t, "        foo(日本\\x1b) // x", e.plain())
	assert.Equal(t, "        ^^^^", e.carets())
	e = newExcerpt(strings.Repeat("a", 500)+"here"+strings.Repeat("b", 500), 501, 505, 60)
	assert.Equal(t, "…"+strings.Repeat("a", 30)+"here"+strings.Repeat("b", 24)+"…", e.plain())
	assert.Equal(t, strings.Repeat(" ", 31)+"^^^^", e.carets())
	for _, x := range []struct{ column, end int }{{0, 0}, {4, 4}, {10, 20}, {2, 1}} {
		assert.Equal(t, "abc", newExcerpt("abc", x.column, x.end, 60).plain())
	}
}
