package scan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/syntax"
)

// readFrom are the lines of a file on which there are comments that count.
func readFrom(file, text string) (numbers []int) {
	lines := match.SplitLines([]byte(text))
	tokens := func() *syntax.Text { return syntax.Scan(syntax.Of(languagesOf(file, lines.Text())), lines.Text()) }
	for _, c := range readComments(lines, tokens, &plan{today: "2026-06-15"}) {
		if c.mistake == "" {
			numbers = append(numbers, c.line)
		}
	}

	return numbers
}

func TestOnlyCommentsCount(t *testing.T) {
	t.Parallel()
	const m = "prwarden:ignore a/b -- why"
	for _, tt := range []struct {
		file, text string
		want       bool
	}{
		{"a.go", "f() // " + m, true},
		{"a.go", `s := "// ` + m + `"`, false},
		{"a.go", "s := `\n// " + m + "\n`\nf()", false},
		{"a.go", "s := `\n`\n// " + m + "\n", true},
		{"a.go", `s := "a\"b // ` + m + `"`, false},
		{"a.go", `s := "a\\" // ` + m, true},
		{"a.go", "r := '\"' // " + m, true},
		{"a.go", "/*\n" + m + "\n*/", true},
		{"a.go", m, false},
		{"a.js", "x = y.replace(/\"/g, '') // " + m, true},
		{"a.js", "x = `${1}\n// " + m + "`", false},
		{"a.jsx", "{/* " + m + " */}", true},
		{"a.JS", "f() // " + m, true},
		{"a.rs", "fn f<'a>(x: &'a str) {} // " + m, true},
		{"a.py", "x = 1 # " + m, true},
		{"a.py", "x = 1# " + m, true},
		{"a.py", "\"\"\"\n# " + m + "\n\"\"\"", false},
		{"a.py", "'''# " + m + "'''", false},
		{"a.py", "x = '# " + m + "'", false},
		{"a.py", "# don't\ny() # " + m, true},
		{"a.sh", "echo don\\'t # " + m, true},
		{"a.sh", "echo $# " + m, false},
		{"a.yaml", "a: b # " + m, true},
		{"a.yml", "a: \"b # " + m + "\"", false},
		{"a.yml", "a: http://x#" + m, false},
		{"Dockerfile", "# " + m, true},
		{"Dockerfile.test", "# " + m, true},
		{"Makefile", "# " + m, true},
		{"a.sql", "SELECT 1 -- " + m, true},
		{"a.sql", "SELECT '-- " + m + "'", false},
		{"a.lua", "--[[ " + m + " ]]", true},
		{"a.html", "<!-- " + m + " -->", true},
		{"a.html", "<p>" + m + "</p>", false},
		{"a.json", `{"a": "// ` + m + `"}`, false},
		{"a.jsonc", "// " + m, true},
		{"a.clj", ";; " + m, true},
		{"a.tex", "% " + m, true},
		{"a.md", "<!-- " + m + " -->", false},
		{"README.MD", "// " + m, false},
		{"a.rst", ".. " + m, false},
		{"a.adoc", "// " + m, false},
		{"unknown", "x # " + m, true},
		{"unknown", "x // " + m, true},
		{"unknown", "x \"// " + m + "\"", false},
		{"unknown", "`// " + m + "`", false},
		{"unknown", "Write " + m, false},
		{"unknown", "see http://" + m, false},
		{"unknown.", "# " + m, true},
		{"", "# " + m, true},
		// The one in a text does not keep another from counting.
		{"a.go", `say("// ` + m + `") // ` + m, true},
		{"a.go", `say("// prwarden:ignore") // ` + m, true},
	} {
		assert.Equal(t, tt.want, len(readFrom(tt.file, tt.text)) == 1, "%s: %s", tt.file, tt.text)
	}
}

// A reader must see the comment without looking far to the right.
func TestFarComments(t *testing.T) {
	t.Parallel()
	const m = "// prwarden:ignore a/b -- why"
	for name, tt := range map[string]struct {
		before string
		far    bool
	}{
		"beside":                   {before: "x() "},
		"forty blanks":             {before: "x()" + strings.Repeat(" ", 40)},
		"more":                     {before: "x()" + strings.Repeat(" ", 41), far: true},
		"tabs":                     {before: "x()" + strings.Repeat("\t", 41), far: true},
		"other blanks":             {before: "x()" + strings.Repeat("\u3000", 41), far: true},
		"blanks of braille":        {before: "x()" + strings.Repeat("\u2800", 41), far: true},
		"fillers":                  {before: "x()" + strings.Repeat("\u3164", 41), far: true},
		"blanks between others":    {before: "x()" + strings.Repeat(strings.Repeat(" ", 39)+".", 6), far: true},
		"indented":                 {before: strings.Repeat(" ", 100)},
		"indented by tabs":         {before: strings.Repeat("\t", 12)},
		"indented far":             {before: strings.Repeat(" ", 250), far: true},
		"indented by tabs far":     {before: strings.Repeat("\t", 30), far: true},
		"behind code of a length":  {before: strings.Repeat("x", 180) + " "},
		"behind code of no end":    {before: strings.Repeat("x", 900) + " ", far: true},
		"behind a run of slashes":  {before: strings.Repeat("/", 900) + " ", far: true},
		"behind letters in Greek":  {before: strings.Repeat("λ", 150) + " "},
		"behind a wall of accents": {before: "x" + strings.Repeat("\u0301", 900), far: true},
	} {
		d, ok := parseDirective([]byte(tt.before + m))
		assert.True(t, ok, name)
		if tt.far {
			assert.Contains(t, d.mistake, "put it on a line of its own before", name)
		} else {
			assert.Empty(t, d.mistake, name)
		}
	}
}
