package rule_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// FuzzFix makes fixes in texts of all kinds: an edit replaces no more than it says, and is one
// that people see.
func FuzzFix(f *testing.F) {
	f.Add("go", true, "f($$$A)", "g($$$A, 1)", "x := f(a,\n\tb)\r\ny()")
	f.Add("python", true, "debug($X)", "", "if a:\n  debug(1)\n  b()")
	f.Add("python", false, `(\w+)\.load`, "${1}.safe\n$1", "yaml.load(\"x\")")
	f.Add("javascript", false, "`", "'", "`a${b}`")
	f.Fuzz(func(t *testing.T, language string, isStructure bool, pattern, fix, text string) {
		r := rule.Rule{
			ID: "r", Type: rule.TypeRegex, Languages: []string{language}, Pattern: pattern, Message: "m", Severity: rule.Low, Fix: &fix,
		}
		if isStructure {
			r.Type = rule.TypeStructure
		}
		if !utf8.ValidString(pattern) || rule.Validate(t.Context(), r) != nil { // documents are UTF-8
			return
		}
		lines := match.SplitLines([]byte(text))
		reader, hits := hitsOf(t, r, lines)

		var edits []rule.Edit
		for _, hit := range hits {
			e, ok := reader.Edit(lines, 0, hit)
			if !ok {
				continue
			}
			assert.True(t, 1 <= e.StartLine && e.StartLine <= hit.Line && hit.Line <= e.EndLine && e.EndLine <= lines.Count())
			assert.True(t, utf8.ValidString(e.Text) && len(e.Text) <= rule.MaxEdit && !strings.ContainsAny(e.Text, "\r\x00"))
			now, _ := rule.Apply(lines, []rule.Edit{e})
			before := string(lines.Text()[:lines.Start(e.StartLine)])
			assert.True(t, strings.HasPrefix(string(now), before))
			if e.EndLine < lines.Count() {
				assert.True(t, strings.HasSuffix(string(now), string(lines.Text()[lines.Start(e.EndLine+1):])))
			}
			if len(edits) == 0 || edits[len(edits)-1].StartLine <= e.StartLine {
				edits = append(edits, e)
			}
		}
		_, made := rule.Apply(lines, edits)
		assert.LessOrEqual(t, made, len(edits))
	})
}
