package scan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// A rule with places finds the first match on a line that stands in one of them.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const text = "package a // bad\n" +
		"var x = \"bad\" // bad\n" +
		"var y = `\nbad\n` + bad\n" +
		"/* bad */ var bad = \"bad\"\n"
	for _, tt := range []struct {
		in        []rule.Place
		multiline bool
		want      []int // line and column
	}{
		{want: []int{1, 14, 2, 10, 4, 1, 5, 5, 6, 4}},
		{in: []rule.Place{rule.InCode}, want: []int{5, 5, 6, 15}},
		{in: []rule.Place{rule.InComment}, want: []int{1, 14, 2, 18, 6, 4}},
		{in: []rule.Place{rule.InString}, want: []int{2, 10, 4, 1, 6, 22}},
		{in: []rule.Place{rule.InCode, rule.InString}, multiline: true, want: []int{2, 10, 4, 1, 5, 5, 6, 15}},
	} {
		r := regex("a/b", "bad", func(r *rule.Rule) { r.In, r.Multiline = tt.in, tt.multiline })
		var got []int
		for _, f := range run(t, &pull{files: []scan.File{file("a.go", text)}}, r).Findings {
			got = append(got, f.Line, f.Column)
		}
		assert.Equal(t, tt.want, got, "%v", tt.in)
	}

	code := regex("a/b", " bad|^bad", func(r *rule.Rule) { r.In = []rule.Place{rule.InCode} })
	for name, text := range map[string]string{"a.py": "bad # bad\n# bad\n", "noname": "x bad // bad\n  // bad\n"} {
		assert.Len(t, run(t, &pull{files: []scan.File{file(name, text)}}, code).Findings, 1, name)
	}
}

// A match counts when it stands in a place of the rule and meets its conditions.
func TestPlacesWithConditions(t *testing.T) {
	t.Parallel()
	const text = "package a\n" +
		"var x = \"key1\" // key2\n" +
		"var y = \"key0\" + \"key3\" // key4\n" +
		"var z = \"key0\" // key5\n"
	for _, multiline := range []bool{false, true} {
		r := regex("a/b", `key\d`, func(r *rule.Rule) {
			r.In, r.Multiline = []rule.Place{rule.InString}, multiline
			r.Conditions = match.Conditions{Stopwords: []string{"key0"}}
		})
		var got []int
		for _, f := range run(t, &pull{files: []scan.File{file("a.go", text)}}, r).Findings {
			got = append(got, f.Line, f.Column)
		}
		assert.Equal(t, []int{2, 10, 3, 19}, got, multiline)
	}

	// What supersedes on a line is a hit as well.
	better := regex("a/better", "key", func(r *rule.Rule) {
		r.In, r.Supersedes = []rule.Place{rule.InString}, []string{"a/other"}
	})
	other := regex("a/other", "key")
	result := run(t, &pull{files: []scan.File{file("a.go", "var x = \"key\"\nvar y = 1 // key\n")}}, better, other)
	assert.Equal(t, []string{"a.go:1 a/better", "a.go:2 a/other"}, places(result))
}
