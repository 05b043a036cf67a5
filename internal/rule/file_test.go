package rule_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/steady"
	"github.com/prwarden/prwarden/internal/rule"
)

const fullFile = `version: 1
disable: [secrets/generic-token]        # default rules off for this repository
exclude: ["vendor/**", "**/*.min.js"]   # paths that no rule looks at
override:
  security/no-eval: {severity: medium, exclude: ["tools/**", "**/*.spec.js"]}
  hygiene/todo: {exclude: [docs/**]}
rules:
  - id: no-print
    type: regex
    pattern: 'fmt\.Print(ln|f)?\('
    message: Use the logger.
    severity: warning
    paths: {include: ["**/*.go"], exclude: ["cmd/**"]}
    cases: {match: ['fmt.Println("x")'], no_match: ['log.Print("x")']}
  - id: secrets/block
    type: regex
    pattern: '(?s)BEGIN.*?END'
    message: "No: not here"
    severity: critical
    multiline: true
    redact: true
    references:
      - https://example.com/a
    cases:
      match:
        - |
          BEGIN
          END
`

func TestParseFile(t *testing.T) {
	t.Parallel()
	f, err := rule.ParseFile(t.Context(), []byte(fullFile))
	require.NoError(t, err)
	assert.Equal(t, []rule.Disabled{{ID: "secrets/generic-token", Line: 2}}, f.Disable)
	assert.Equal(t, []string{"vendor/**", "**/*.min.js"}, f.Exclude)
	assert.Equal(t, []rule.Override{
		{ID: "security/no-eval", Line: 5, Severity: rule.Medium, Exclude: []string{"tools/**", "**/*.spec.js"}},
		{ID: "hygiene/todo", Line: 6, Exclude: []string{"docs/**"}},
	}, f.Overrides)
	assert.Equal(t, []rule.Rule{
		{
			ID: "no-print", Type: "regex", Pattern: `fmt\.Print(ln|f)?\(`, Message: "Use the logger.", Severity: rule.Warning,
			Scope: rule.ScopeRepo, Origin: rule.OriginRulesFile,
			Paths: rule.Paths{Include: []string{"**/*.go"}, Exclude: []string{"cmd/**"}},
			Cases: rule.Cases{Match: []string{`fmt.Println("x")`}, NoMatch: []string{`log.Print("x")`}},
		},
		{
			ID: "secrets/block", Type: "regex", Pattern: `(?s)BEGIN.*?END`, Message: "No: not here", Severity: rule.Critical,
			Scope: rule.ScopeRepo, Origin: rule.OriginRulesFile, Multiline: true, Redact: true,
			References: []string{"https://example.com/a"}, Cases: rule.Cases{Match: []string{"BEGIN\nEND\n"}},
		},
	}, f.Rules)
	assert.Equal(t, 8, f.RuleLine(0))
	assert.Equal(t, 15, f.RuleLine(1))

	for _, empty := range []string{
		"version: 1", "version: 1\ndisable:\nexclude:\noverride:\nrules:\n", "version: 1\noverride: {}",
		"# c\n---\nversion: 1\n", "{version: 1, rules: []}", "\ufeffversion: 1",
	} {
		f, err := rule.ParseFile(t.Context(), []byte(empty))
		require.NoError(t, err, empty)
		assert.Empty(t, f.Disable)
		assert.Empty(t, f.Exclude)
		assert.Empty(t, f.Overrides)
		assert.Empty(t, f.Rules)
	}
}

func TestParseFileMistakes(t *testing.T) {
	t.Parallel()
	const good = "id: a, type: regex, pattern: a, message: m, severity: low"
	rules := func(list ...string) string { return "version: 1\nrules:\n- {" + strings.Join(list, "}\n- {") + "}\n" }
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	tests := map[string]struct {
		file string
		want []string // lines and messages
	}{
		"empty":             {"", []string{"line 1: the file is empty"}},
		"comment only":      {"# nothing\n", []string{"line 1: the file is empty"}},
		"null":              {"~", []string{"line 1: the file: must be a mapping", "line 1: version: is required"}},
		"a list":            {"- a", []string{"line 1: the file: must be a mapping", "line 1: version: is required"}},
		"no version":        {"rules: []", []string{"line 1: version: is required"}},
		"version 2":         {"\nversion: 2", []string{"line 2: version: must be 1"}},
		"version as a text": {`version: "1"`, []string{"line 1: version: must be 1"}},
		"version as a list": {"version: [1]", []string{"line 1: version: must be 1"}},
		"unknown key":       {"version: 1\n\nrule: []", []string{`line 3: the file: unknown key "rule"`}},
		"key twice": {
			"version: 1\nrules: []\nrules: []", []string{`line 3: the file: key "rules" is there twice`},
		},
		"a key that is a list": {"version: 1\n? [a]\n: b", []string{"line 2: the file: unknown key"}},
		"two documents": {"version: 1\n---\nversion: 1\n", []string{
			"line 2: the file has more than one YAML document",
		}},
		"broken second document": {"version: 1\n---\n{", []string{"not valid YAML"}},
		"not YAML":               {"version: 1\nrules: [\n", []string{"line 2: not valid YAML"}},
		"a tab":                  {"version: 1\nrules:\n\t- a", []string{"line 3: not valid YAML"}},
		"not UTF-8":              {"version: 1\n# \xff\n", []string{"line 2: the file must be UTF-8"}},
		"UTF-16":                 {"\xff\xfev\x00", []string{"line 1: the file must be UTF-8"}},
		"too large": {
			"version: 1\n#" + strings.Repeat("x", rule.MaxFileSize),
			[]string{"line 1: the file has 65548 bytes or more; at most 65536"},
		},
		"anchor": {"version: 1\ndisable: &a [x]\nexclude: *a\n", []string{
			"line 2: disable: anchors and aliases", "line 3: exclude: anchors and aliases",
		}},
		"alias bomb": {
			"version: 1\ndisable: &a [x,x,x,x,x,x,x,x,x]\nexclude: [*a,*a,*a]\n",
			[]string{
				"line 2: disable: anchors", "line 3: exclude[0]: anchors", "line 3: exclude[1]: anchors",
				"line 3: exclude[2]: anchors",
			},
		},
		"merge key":          {"version: 1\n<<: {rules: []}\n", []string{`line 2: the file: unknown key "<<"`}},
		"disable not a list": {"version: 1\ndisable: a", []string{"line 2: disable: must be a list"}},
		"disable of a number": {"version: 1\ndisable:\n- a\n- 5", []string{
			"line 4: disable[1]: must be a text; put it in quotes",
		}},
		"disable of no id":      {"version: 1\ndisable: [A]", []string{"line 2: disable[0]: must not have 'A' there"}},
		"exclude of a bad glob": {"version: 1\nexclude:\n- ok\n- a[\n", []string{"line 4: exclude[1]: is not a valid glob"}},
		"too many excludes": {
			"version: 1\nexclude:\n" + many(501, "- a%d\n"), []string{"line 503: exclude: has 501 globs; at most 500"},
		},
		"override not a mapping": {
			"version: 1\noverride: [a/b]", []string{"line 2: override: must be a mapping of rule ids"},
		},
		"override of no id": {
			"version: 1\noverride:\n  A: {severity: low}", []string{"line 3: override: an id must not have 'A' there"},
		},
		"override of meta": {
			"version: 1\noverride:\n  meta/a: {severity: low}",
			[]string{`line 3: override: an id must not have the category "meta"`},
		},
		"override twice": {
			"version: 1\noverride:\n  a: {severity: low}\n  custom/a: {severity: low}",
			[]string{"line 4: override: custom/a is there twice"},
		},
		"override of a list": {
			"version: 1\noverride:\n  ? [a]\n  : {severity: low}",
			[]string{"line 3: override: each key must be the id of a rule"},
		},
		"override by a word": {"version: 1\noverride:\n  a/b: low", []string{
			"line 3: override a/b: must be a mapping of keys to values",
		}},
		"override of nothing": {
			"version: 1\noverride:\n  a/b: {}\n  a/c: {exclude: []}",
			[]string{"line 3: override a/b: changes nothing", "line 4: override a/c: changes nothing"},
		},
		"override unknown key": {"version: 1\noverride:\n  a/b: {message: m}", []string{
			`line 3: override a/b: unknown key "message"; known keys: exclude, severity`,
		}},
		"override severity": {"version: 1\noverride:\n  a/b: {severity: bad}", []string{
			`line 3: override a/b: severity: "bad" is not a severity; one of critical`,
		}},
		"override bad glob": {
			"version: 1\noverride:\n  a/b:\n    exclude:\n    - /x",
			[]string{"line 5: override a/b: exclude[0]: matches nothing"},
		},
		"override many globs": {
			"version: 1\noverride:\n  a/b:\n    exclude:\n" + many(101, "    - a%d\n"),
			[]string{"line 105: override a/b: exclude: has 101 globs; at most 100"},
		},
		"override long globs": {
			"version: 1\noverride:\n  a/b:\n    exclude:\n" + many(99, "    - "+strings.Repeat("x", 100)+"%d\n"),
			[]string{"line 4: override a/b: exclude: has globs of 10088 bytes in all; at most 8192"},
		},
		"too many overrides": {
			"version: 1\noverride:\n" + many(501, "  r%d: {severity: low}\n"),
			[]string{"line 503: override: has 501 ids; at most 500"},
		},
		"override by an alias": {
			"version: 1\noverride:\n  a/b: &x {severity: low}\n  a/c: *x\n",
			[]string{"line 3: override a/b: anchors", "line 4: override a/c: anchors"},
		},
		"too many rules": {
			"version: 1\nrules:\n" + many(501, "- {id: r%d}\n"), []string{"line 503: rules: has 501 rules; at most 500"},
		},
		"a rule that is a text": {"version: 1\nrules: [a]", []string{"line 2: rule: must be a mapping"}},
		"unknown key of a rule": {rules(good + ", scope: org"), []string{
			`line 3: rule: unknown key "scope"; known keys: cases, id, message,`,
		}},
		"an empty rule": {"version: 1\nrules:\n- {}", []string{
			"line 3: rules[0].id: is required", "line 3: rules[0].type: is required; known types: regex",
			"line 3: rules[0].pattern: is required", "line 3: rules[0].message: is required",
			"line 3: rules[0].severity: is required; one of critical, high,",
		}},
		"unknown type": {rules(strings.Replace(good, "regex", "glob", 1)), []string{
			`line 3: rules[0].type: "glob" is not a type of rule; known types: regex`,
		}},
		"unknown severity": {rules(strings.Replace(good, "low", "bad", 1)), []string{
			`line 3: severity: "bad" is not a severity; one of critical, high, medium, warning, low, info`,
		}},
		"severity as a number": {rules(strings.Replace(good, "low", "1", 1)), []string{"line 3: severity: must be a text"}},
		"bad pattern": {
			"version: 1\nrules:\n- id: a\n  type: regex\n  pattern: 'a(?=b)'\n  message: m\n  severity: low",
			[]string{"line 5: rules[0].pattern: at byte 2: lookahead"},
		},
		"duplicate id": {rules(good, good), []string{
			"line 4: rules[1].id: a is the id of the rule at line 3 already",
		}},
		"duplicate full id": {
			rules(good, strings.Replace(good, "id: a", "id: custom/a", 1)),
			[]string{"line 4: rules[1].id: custom/a is the id of the rule at line 3"},
		},
		"meta id": {
			rules(strings.Replace(good, "id: a", "id: meta/a", 1)),
			[]string{`line 3: rules[0].id: must not have the category "meta"`},
		},
		"multiline as a text": {rules(good + ", multiline: 'yes'"), []string{"line 3: multiline: must be true or false"}},
		"a case that fails": {
			"version: 1\nrules:\n- id: a\n  type: regex\n  pattern: a\n  message: m\n  severity: low\n  cases:\n    " +
				"match:\n    - a\n    - b\n    no_match:\n    - a\n",
			[]string{
				"line 11: rules[0].cases.match[1]: the rule does not match",
				"line 13: rules[0].cases.no_match[0]: the rule matches this text",
			},
		},
		"a bad path": {
			"version: 1\nrules:\n- id: a\n  type: regex\n  pattern: a\n  message: m\n  severity: low\n  paths:\n    " +
				"include: [ok,\n      '/x']\n",
			[]string{`line 10: rules[0].paths.include[1]: matches nothing`},
		},
		"a long key": {
			"version: 1\n" + strings.Repeat("k", 1000) + ": 1", []string{`line 2: the file: unknown key; known keys: `},
		},
		"many mistakes": {"version: 1\ndisable:\n" + many(100, "- %d\n"), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rule.ParseFile(t.Context(), []byte(tt.file))
			var mistakes *rule.FileError
			require.ErrorAs(t, err, &mistakes)
			if tt.want == nil {
				assert.Len(t, mistakes.Mistakes, 50)
				assert.True(t, mistakes.Cut)
				assert.Contains(t, mistakes.Error(), "; and 47 more, perhaps others")
				return
			}
			require.Len(t, mistakes.Mistakes, len(tt.want), "%v", mistakes.Mistakes)
			assert.False(t, mistakes.Cut)
			for i, m := range mistakes.Mistakes {
				assert.Contains(t, fmt.Sprintf("line %d: %s", m.Line, m.Message), tt.want[i])
				assert.LessOrEqual(t, len(m.Message), 310)
			}
			assert.Equal(t, mistakes.Mistakes[0].Line, mistakes.Line())
			assert.Contains(t, mistakes.Error(), tt.want[0])
		})
	}
}

// A hostile file must not cost more than a moment.
func TestParseFileIsQuick(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nested lists":    "version: 1\nrules: " + strings.Repeat("[", 60_000),
		"nested maps":     "version: 1\nrules: " + strings.Repeat("{a: ", 9_000),
		"nested dashes":   strings.Repeat("- ", 30_000),
		"complex keys":    strings.Repeat("? ", 30_000),
		"many keys":       "version: 1\n" + strings.Repeat("a: 1\n", 13_000),
		"many anchors":    "version: 1\ndisable: [" + strings.Repeat("&a x,", 12_000) + "]",
		"many comments":   strings.Repeat("#\n", 30_000) + "version: 1",
		"no YAML at last": "version: 1\nrules:\n" + strings.Repeat("- a\n", 16_000) + " b: c\n",
		"one long line":   "version: 1\nrules:\n- pattern: \"" + strings.Repeat("a\\", 30_000),
		"many documents":  strings.Repeat("---\n", 16_000),
		"slow cases": "version: 1\nrules:\n- {id: a, type: regex, pattern: '" + slow +
			"', multiline: true, message: m, severity: low, cases: {match: ['" +
			strings.Repeat("a", 16_000) + "', '" + strings.Repeat("a", 16_000) + "', '" + strings.Repeat("a", 16_000) + "']}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit = 10 * time.Second
			assert.Less(t, steady.Least(limit, func() { _, _ = rule.ParseFile(t.Context(), []byte(text)) }), limit)
		})
	}
}

func TestCheckClashes(t *testing.T) {
	t.Parallel()
	f, err := rule.ParseFile(t.Context(), []byte(fullFile))
	require.NoError(t, err)
	require.NoError(t, f.CheckClashes(func(string) (rule.Origin, bool) { return 0, false }))
	err = f.CheckClashes(func(id string) (rule.Origin, bool) { return rule.OriginDefault, id == "custom/no-print" })
	var mistakes *rule.FileError
	require.ErrorAs(t, err, &mistakes)
	assert.Equal(
		t,
		"line 8: id: no-print is the id of a rule of the default ruleset; choose another (a default rule is changed "+
			"under `override`, and switched off under `disable`)",
		mistakes.Error(),
	)
}

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	rules, err := rule.ParseDefaults([]byte("rules:\n- {id: a/b, pattern: '('}\n"))
	require.NoError(t, err, "patterns are not looked at")
	assert.Equal(t, []rule.Rule{{ID: "a/b", Pattern: "(", Scope: rule.ScopeOrg, Origin: rule.OriginDefault}}, rules)
	_, err = rule.ParseDefaults([]byte("rules:\n- {id: a/b, pattrn: x}\n"))
	require.ErrorContains(t, err, `line 2: rule: unknown key "pattrn" (did you mean `+"`pattern`?)")
}

// One's own file differs in its bounds only.
func TestParseLocalFile(t *testing.T) {
	t.Parallel()
	file := func(n int) []byte {
		var b strings.Builder
		b.WriteString("version: 1\nrules:\n")
		for i := range n {
			fmt.Fprintf(&b, "- {id: r%d, type: regex, pattern: a, message: m, severity: low}\n", i)
		}
		return []byte(b.String())
	}
	f, err := rule.ParseLocalFile(t.Context(), file(rule.MaxLocalFileRules))
	require.NoError(t, err)
	require.Len(t, f.Rules, 5000)
	for i, r := range f.Rules {
		require.Equal(t, fmt.Sprintf("r%d", i), r.ID)
		require.Equal(t, i+3, f.RuleLine(i))
	}
	_, err = rule.ParseLocalFile(t.Context(), file(rule.MaxLocalFileRules+1))
	require.ErrorContains(t, err, "line 5003: rules: has 5001 rules; at most 5000 are allowed")
	_, err = rule.ParseLocalFile(t.Context(), make([]byte, rule.MaxLocalFileSize+1))
	require.ErrorContains(t, err, "at most 67108864 are allowed")

	for _, broken := range []string{
		"version: 1\nrules:\n- {id: a}\n- {id: a, type: regex, pattern: a, message: m, severity: low}\n- {id: " +
			"custom/a, type: regex, pattern: a, message: m, severity: low}\n- 5\n- {id: A, bad: key}\ndisable: 7\n",
		"rules: []\ndisable: [A, A]\nrules: []\n",
		string(file(10)) + strings.Repeat("- {}\n", 20),
	} {
		_, want := rule.ParseFile(t.Context(), []byte(broken))
		_, err := rule.ParseLocalFile(t.Context(), []byte(broken))
		require.Error(t, want)
		assert.Equal(t, want, err)
	}
	f, err = rule.ParseLocalFile(t.Context(), []byte(fullFile))
	require.NoError(t, err)
	want, err := rule.ParseFile(t.Context(), []byte(fullFile))
	require.NoError(t, err)
	assert.Equal(t, want, f)
}

func BenchmarkParseLocalFile(b *testing.B) {
	data, err := os.ReadFile("../match/testdata/rules-1000.tsv")
	require.NoError(b, err)
	patterns := strings.Split(strings.TrimSpace(string(data)), "\n")
	var file strings.Builder
	file.WriteString("version: 1\nrules:\n")
	for i := range rule.MaxLocalFileRules {
		_, pattern, _ := strings.Cut(patterns[i%len(patterns)], "\t")
		fmt.Fprintf(&file, "  - id: r%d\n    type: regex\n    pattern: '%s'\n    message: Use something else.\n    "+
			"severity: warning\n",
			i, strings.ReplaceAll(pattern, "'", "''"))
	}
	text := []byte(file.String())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, err := rule.ParseLocalFile(b.Context(), text)
		require.NoError(b, err)
	}
}

func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{fullFile, "", "version: 1", "{", "- a", "version: 1\nrules: [{id: &a x}, *a]",
		"a: !!binary x", "\ufeffversion: 1", "---\n---\n", "? [a]\n: b", "\r\r\r0",
		"version: 1\nrules:\n- id: a\n  cases: {match: [~]}",
		"version: 1\noverride:\n  a/b: {severity: low, exclude: ['x/**']}\n  c/d: {severity: info}\n",
		"version: 1\noverride: {? a : {severity: low}, a/b: ~}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := rule.ParseFile(t.Context(), data)
		_, thorough := rule.ReadFile(t.Context(), data, rule.Reading{Thorough: true})
		require.Equal(t, err == nil, thorough == nil, "%v, %v", err, thorough)
		if err != nil {
			sameMistakes(t, data, err, thorough)
			var mistakes *rule.FileError
			require.ErrorAs(t, err, &mistakes)
			require.LessOrEqual(t, len(mistakes.Error()), 2000, "it is stored and shown")
			lines := strings.Count(string(data), "\n") + 1
			for _, m := range mistakes.Mistakes {
				require.GreaterOrEqual(t, m.Line, 1)
				require.LessOrEqual(t, m.Line, lines, "%v", m)
				require.NotEmpty(t, m.Message)
			}
			return
		}
		require.LessOrEqual(t, len(file.Overrides), rule.MaxFileOverrides)
		overridden := map[string]bool{}
		for _, o := range file.Overrides {
			require.NoError(t, rule.CheckID(o.ID))
			require.False(t, overridden[rule.FullID(o.ID)], o.ID)
			overridden[rule.FullID(o.ID)] = true
			require.True(t, o.Severity.String() != "" || len(o.Exclude) > 0)
			require.True(t, o.Line >= 1 && o.Line <= strings.Count(string(data), "\n")+1)
		}
		for i, r := range file.Rules {
			r.Repo = "acme/api"
			require.NoError(t, rule.Validate(t.Context(), r))
			require.Positive(t, file.RuleLine(i))
			require.LessOrEqual(t, file.RuleLine(i), strings.Count(string(data), "\n")+1)
		}
	})
}

// YAML breaks lines where nobody else does; what is said has everybody's lines.
func TestLinesAreThoseOfEditors(t *testing.T) {
	t.Parallel()
	for _, breaks := range []string{"", "\r", "\u0085", "\u2028", "\r\r\u2029"} {
		file := "version: 1\r\nrules:\n- {id: a, message: \"x" + breaks + "y\"}\n# comment\n- id: B\n"
		_, err := rule.ReadFile(t.Context(), []byte(file), rule.Reading{Thorough: true})
		var mistakes *rule.FileError
		require.ErrorAs(t, err, &mistakes)
		var got []string
		for _, m := range mistakes.Mistakes {
			if strings.Contains(m.Message, ".id: must not") {
				got = append(got, fmt.Sprintf("%d:%d", m.Line, m.Column))
			}
		}
		assert.Equal(t, []string{"5:7"}, got, "%q", breaks)
	}
}

// Mistakes are told in the order in which the author meets them.
func TestMistakesAreByLine(t *testing.T) {
	t.Parallel()
	_, err := rule.ParseFile(
		t.Context(),
		[]byte("rules:\n- {id: a, type: regex, pattern: a, message: m, severity: low,\n   cases: 5, nothing: "+
			"1}\nexclude: 5\ndisable: 5\n"),
	)
	var mistakes *rule.FileError
	require.ErrorAs(t, err, &mistakes)
	var lines []int
	for _, m := range mistakes.Mistakes {
		lines = append(lines, m.Line)
	}
	assert.Equal(t, []int{1, 3, 3, 4, 5}, lines, "%v", mistakes.Mistakes)
	assert.Equal(t, 1, mistakes.Line())
}

// sameMistakes compares what is said about a file with what is said when it is
// read thoroughly: the same, with places, and perhaps more.
func sameMistakes(t *testing.T, data []byte, err, thorough error) {
	t.Helper()
	var some, all *rule.FileError
	require.ErrorAs(t, err, &some)
	require.ErrorAs(t, thorough, &all)
	require.True(t, some.Cut || len(some.Mistakes) == len(all.Mistakes), "%v, %v", err, thorough)
	lines := strings.Split(string(data), "\n")
	for _, m := range all.Mistakes {
		require.LessOrEqual(t, m.Line, len(lines))
		require.LessOrEqual(t, m.Column, len(lines[m.Line-1])+1)
		require.NotEmpty(t, m.Message)
	}
}

// Nothing that can't be read hides what else is wrong with a rule, and nothing
// is said twice.
func TestEveryMistakeOfARule(t *testing.T) {
	t.Parallel()
	const file = `version: 1
rules:
  - ID: No-Print
    type: regexp
    patern: 'foo(?!bar)'
    message: 5
    severity: error
    multiline: "yes"
    paths:
      includes: [/src/**]
    cases: {match: [~, x], nomatch: [foo]}
    references: [example.com]
`
	_, err := rule.ReadFile(t.Context(), []byte(file), rule.Reading{Thorough: true})
	var mistakes *rule.FileError
	require.ErrorAs(t, err, &mistakes)
	var got strings.Builder
	for _, m := range mistakes.Mistakes {
		message, _, _ := strings.Cut(m.Message, ";")
		fmt.Fprintf(&got, "%d:%d: %s | %s\n", m.Line, m.Column, message, m.Hint)
	}
	assert.Equal(t, strings.ReplaceAll(`3:5: rule: unknown key | did you mean 'id'?
3:9: rules[0].id: must not have 'N' there: each part is lower-case letters and digits, and after the first also '.', '_' and '-' | write 'no-print'
4:11: rules[0].type: "regexp" is not a type of rule | write 'type: regex'
5:5: rule: unknown key "patern" | did you mean 'pattern'?
5:17: rules[0].pattern: at byte 4: negative lookahead (?!…) is not supported: patterns are RE2, without lookaround and backreferences | say what may follow instead, as 'foo([^b]|$)' for 'foo(?!b)'; or match 'foo', and leave files out with 'paths: {exclude: […]}'
6:14: message: must be a text | put it in single quotes
7:15: severity: "error" is not a severity | did you mean 'high'?
8:16: multiline: must be true or false | write the word without quotes
10:7: paths: unknown key "includes" | did you mean 'include'?
10:18: rules[0].paths.include[0]: matches nothing: paths start at the root of the repository, without "/" | write "src/**"
11:21: cases.match[0]: must be a text | there is nothing; give it a value, or remove the line
11:28: cases: unknown key "nomatch" | did you mean 'no_match'?
12:18: rules[0].references[0]: must be an absolute http or https URL | write the whole URL: 'https://…'
`, "'", "`"), strings.ReplaceAll(got.String(), "'", "`"))
}
