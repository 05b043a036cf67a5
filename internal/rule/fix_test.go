package rule_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/structure"
)

// hitsOf are the first hits of a rule in a text, and what read it.
func hitsOf(t *testing.T, r rule.Rule, lines match.Lines) (rule.PlaceReader, []match.Hit) {
	t.Helper()
	places := rule.NewPlaces([]rule.Rule{r})
	m, err := match.Compile([]match.Rule{places.ToMatch([]rule.Rule{r}, 0)})
	require.NoError(t, err)
	reader := places.Reader(r.Languages)
	found, err := m.NewSession(match.Limit{File: 1 << 22}, nil).File("").ReadBy(reader).
		Match(t.Context(), lines, []match.LineRange{{First: 1, Last: lines.Count()}}, 20)
	require.NoError(t, err)

	return reader, found.Hits
}

// edited is what the first hit of a rule in a text becomes by its fix; ok is false when
// nothing is offered.
func edited(t *testing.T, r rule.Rule, text string) (now string, e rule.Edit, ok bool) {
	t.Helper()
	lines := match.SplitLines([]byte(text))
	reader, hits := hitsOf(t, r, lines)
	require.NotEmpty(t, hits, "the rule matches")

	if e, ok = reader.Edit(lines, 0, hits[0]); !ok {
		return "", e, false
	}

	fixed, made := rule.Apply(lines, []rule.Edit{e})
	assert.Equal(t, 1, made)

	return string(fixed), e, true
}

func TestFixes(t *testing.T) {
	t.Parallel()

	structured := func(language, pattern, fix string) rule.Rule {
		return rule.Rule{ID: "r", Type: rule.TypeStructure, Languages: []string{language}, Pattern: pattern, Fix: &fix}
	}
	regex := func(pattern, fix string) rule.Rule {
		return rule.Rule{ID: "r", Type: rule.TypeRegex, Languages: []string{"go"}, Pattern: pattern, Fix: &fix}
	}
	timeout := structured("python", "requests.get($$$ARGS)", "requests.get($$$ARGS, timeout=10)")
	timeout.Structure.Where = map[string]structure.Test{
		"ARGS": {Not: &structure.Test{Has: &structure.Condition{Pattern: "timeout=$_"}}},
	}
	for name, tt := range map[string]struct {
		rule       rule.Rule
		text, want string // "" for no fix
	}{
		"a group":                {regex(`foo\((\w+)\)`, "bar($1, 2)"), "x := foo(y) + 1\n", "x := bar(y, 2) + 1\n"},
		"a group with letters":   {regex(`foo(\w)`, "${1}oof"), "foox\n", "xoof\n"},
		"a group by name":        {regex(`foo(?P<n>\w)`, "$n"), "foox\n", "x\n"},
		"the whole match":        {regex(`a foo`, "(${0})x"), "a foo\n", ""},
		"the whole match, once":  {regex(`^foo`, "($0)"), "foo\n", "(foo)\n"},
		"a match moves down":     {regex(`foo`, "a\nfoo"), "foo\n", ""},
		"another on the line":    {regex(`foo`, "bar"), "foo foo\n", "bar foo\n"},
		"a comma of a group":     {regex(`x;(\w*);(\w*)`, "$1,$2"), "x;;b\n", ",b\n"},
		"a comment would go":     {timeout, "requests.get(\n  # why\n  url)\n", ""},
		"a comment that is kept": {timeout, "requests.get(a,\n  # why\n  url)\n", "requests.get(a,\n  # why\n  url, timeout=10)\n"},
		"structure that stays":   {structured("go", "f($X)", "f(g($X))"), "f(1)\n", ""},
		"a group without part":   {regex(`foo(x)?(y)?`, "[$1$2]"), "fooy\n", "[y]\n"},
		"a dollar sign":          {regex(`foo`, `\$1$`), "foo\n", "$1$\n"},
		"the second match": {
			rule.Rule{
				Type: rule.TypeRegex, Pattern: `v(\w+)`, Fix: new("w$1"), Conditions: match.Conditions{Stopwords: []string{"one"}},
			}, "vone vtwo\n", "vone wtwo\n",
		},
		"a line that is removed":          {regex(`^\s*debug\(\)$`, ""), "a()\n  debug()\nb()\n", "a()\nb()\n"},
		"the last line, removed":          {regex(`debug\(\)`, ""), "a()\ndebug()", "a()\n"},
		"endings of Windows":              {regex(`foo`, "a\nb"), "x\r\nfoo\r\ny\r\n", "x\r\na\r\nb\r\ny\r\n"},
		"lines are indented":              {regex(`foo\(\)`, "a()\nb()"), "\t\tfoo()\n", "\t\ta()\n\t\tb()\n"},
		"no language":                     {rule.Rule{Type: rule.TypeRegex, Pattern: "foo", Fix: new("(")}, "foo\n", "(\n"},
		"nothing changes":                 {regex(`foo`, "foo"), "foo\n", ""},
		"a bracket stays open":            {regex(`foo`, "foo("), "foo\nbar()\n", ""},
		"a bracket of others is closed":   {regex(`foo`, ")foo("), "x(foo)\n", ""},
		"a bracket takes another's place": {regex(`foo\)`, "bar)"), "x(foo)\ny()\n", "x(bar)\ny()\n"},
		"a string goes on":                {regex(`foo`, "`foo"), "foo\n", ""},
		"a comment begins":                {regex(`foo`, "bar //"), "foo; bar()\n", ""},
		"a comment begins and ends":       {regex(`foo`, "bar /* x */"), "foo; bar()\n", "bar /* x */; bar()\n"},
		"a comment at the end":            {regex(`foo$`, "bar // x"), "foo\nbar()\n", "bar // x\nbar()\n"},
		"in a string":                     {regex(`http:`, "https:"), "x(\"http://a\", y)\n", "x(\"https://a\", y)\n"},
		"a string ends sooner":            {regex(`http:`, `"`), "x(\"http://a\", y)\n", ""},
		"not UTF-8":                       {regex(`foo`, "bar"), "foo \xff\n", ""},
		"a character to hide others":      {regex(`foo`, "bar"), "foo \u202e\n", ""},
		"a long line":                     {regex(`foo`, "bar"), "foo" + strings.Repeat(" x", rule.MaxEdit) + "\n", ""},
		"it becomes long":                 {regex(`(.*)foo`, "${1}${1}foo"), strings.Repeat("x", rule.MaxEdit*2/3) + "foo\n", ""},

		"arguments":                   {timeout, "x = requests.get(url, a=1)\n", "x = requests.get(url, a=1, timeout=10)\n"},
		"no arguments":                {timeout, "requests.get()\n", "requests.get(timeout=10)\n"},
		"a comma of their own":        {timeout, "requests.get(url,)\n", "requests.get(url, timeout=10)\n"},
		"over lines":                  {timeout, "requests.get(\n  url,\n  a)\nx\n", "requests.get(url,\n  a, timeout=10)\nx\n"},
		"nothing behind a comma":      {structured("go", "foo($$$A)", "bar(1, $$$A)"), "foo()\n", "bar(1)\n"},
		"the same argument twice":     {structured("go", "$X == $X", "true"), "a.b(c) == a.b(c)\n", "true\n"},
		"a dollar of another meaning": {structured("php", "foo($X)", `bar($X, \$Y, $z)`), "<?php\nfoo($a);\n", "<?php\nbar($a, $Y, $z);\n"},
		"more lines than are edited":  {timeout, "requests.get(" + strings.Repeat("\n", rule.MaxEditLine) + "url)\n", ""},
		"a block that becomes empty":  {structured("python", "debug($$$)", ""), "if x:\n    debug()\ny()\n", ""},
		"a statement of a block":      {structured("python", "debug($$$)", ""), "if x:\n    debug()\n    y()\n", "if x:\n    y()\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, edit, ok := edited(t, tt.rule, tt.text)
			assert.Equal(t, tt.want, now)
			assert.Equal(t, tt.want != "", ok)
			if ok {
				assert.NotContains(t, edit.Text, "\r")
				assert.False(t, strings.HasSuffix(edit.Text, "\n"))
			}
		})
	}
}

// What a fix of a match makes may have a focus elsewhere.
func TestFixOfTheWholeMatch(t *testing.T) {
	t.Parallel()
	r := rule.Rule{
		ID: "r", Type: rule.TypeStructure, Languages: []string{"python"}, Pattern: "requests.$M($$$A)",
		Fix: new("session.$M($$$A)"),
	}
	r.Structure.Focus = "M"
	now, _, ok := edited(t, r, "x = requests.post(a)\n")
	assert.True(t, ok)
	assert.Equal(t, "x = session.post(a)\n", now)
}

func patterns(all ...string) (conditions []structure.Condition) {
	for _, p := range all {
		conditions = append(conditions, structure.Condition{Pattern: p})
	}
	return conditions
}

func TestFixesThatAreRefused(t *testing.T) {
	t.Parallel()

	valid := rule.Rule{
		ID: "r", Type: rule.TypeRegex, Pattern: `foo(\w)(?P<n>x)?`, Message: "Don't.", Severity: rule.High, Fix: new("bar$1${n}"),
	}
	require.NoError(t, rule.Validate(t.Context(), valid))
	structured := func(r *rule.Rule) {
		r.Type, r.Languages, r.Pattern, r.Fix = rule.TypeStructure, []string{"go"}, "foo($X, $$$A)", new("bar($X, $$$A)")
	}
	for name, tt := range map[string]struct {
		change      func(*rule.Rule)
		field, text string
	}{
		"multiline":     {func(r *rule.Rule) { r.Multiline = true }, "fix", "not allowed with `multiline`"},
		"redact":        {func(r *rule.Rule) { r.Redact = true }, "fix", "not allowed with `redact`"},
		"too long":      {func(r *rule.Rule) { *r.Fix = strings.Repeat("x", rule.MaxFix+1) }, "fix", "1025 bytes"},
		"not UTF-8":     {func(r *rule.Rule) { *r.Fix = "\xff" }, "fix", "must be UTF-8"},
		"a hidden word": {func(r *rule.Rule) { *r.Fix = "a\u200bb" }, "fix", "nobody sees"},
		"no such group": {func(r *rule.Rule) { *r.Fix = "$3" }, "fix", "has $3, which is no group"},
		"letters behind a number": {
			func(r *rule.Rule) { *r.Fix = "$1a" }, "fix", "has $1a, which is no group of the pattern",
		},
		"no such metavariable": {
			func(r *rule.Rule) { structured(r); *r.Fix = "bar($Y)" }, "fix", "has $Y, which is no metavariable",
		},
		"a metavariable of an alternative": {func(r *rule.Rule) {
			structured(r)
			r.Pattern, r.Fix = "", new("$Y")
			r.Structure = structure.Condition{Any: patterns("foo($X)", "bar($Y)")}
		}, "fix", "has $Y, which is no metavariable that every match has"},
		"of a taint rule": {func(r *rule.Rule) {
			r.Type, r.Languages, r.Pattern = rule.TypeTaint, []string{"go"}, ""
			r.Taint.Sources, r.Taint.Sinks = patterns("src()"), patterns("sink($X)")
		}, "fix", "not allowed with type"},
		"a case that stays": {func(r *rule.Rule) {
			*r.Fix, r.Cases.Match = "foo$1!", []string{"fooa"}
		}, "cases.match[0]", "the rule matches it, too"},
		"a case without a fix": {func(r *rule.Rule) {
			r.Languages, *r.Fix, r.Cases.Match = []string{"go"}, "(", []string{"fooa\nx()"}
		}, "cases.match[0]", "makes nothing of this text that can be offered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := valid
			r.Fix = new(*valid.Fix)
			tt.change(&r)
			err := rule.Validate(t.Context(), r)
			assert.ErrorContains(t, err, tt.field)
			assert.ErrorContains(t, err, tt.text)
		})
	}
}
