package rule_test

import (
	"fmt"
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
	changed := func(from, to string) string { return rules(strings.Replace(good, from, to, 1)) }
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}

		return b.String()
	}

	const (
		mapping = "must be a mapping of keys to values"
		anchors = "anchors and aliases are not allowed"
	)
	for name, tt := range map[string]struct {
		file string
		want []string // lines and the beginnings of messages
	}{
		"empty":        {"", []string{"1: the file is empty"}},
		"comment only": {"# nothing\n", []string{"1: the file is empty"}},
		"null":         {"~", []string{"1: the file: " + mapping, "1: version: must be 1"}},
		"no version":   {"rules: []", []string{"1: version: must be 1"}},
		"version 2":    {"\nversion: 2", []string{"2: version: must be 1"}},

		"two documents": {
			"version: 1\n---\nversion: 1\n", []string{"2: the file has more than one YAML document"},
		},
		"broken second document": {"version: 1\n---\n{", []string{"3: not valid YAML"}},

		"a tab":                 {"version: 1\nrules:\n\t- a", []string{"3: not valid YAML: found character that"}},
		"a glob without quotes": {"version: 1\nexclude: [*.js]", []string{"2: not valid YAML: did not find expected alpha"}},
		"not UTF-8":             {"version: 1\n# \xff\n", []string{"1: the file must be UTF-8"}},
		"too large": {
			"version: 1\n#" + strings.Repeat("x", rule.MaxFileSize),
			[]string{"1: the file has 65548 bytes or more; at most 65536"},
		},

		"alias bomb": {
			"version: 1\ndisable: &a [x,x,x,x,x,x,x,x,x]\nexclude: [*a,*a]\n",
			[]string{"2: " + anchors, "3: " + anchors, "3: " + anchors},
		},
		"merge key": {"version: 1\n<<: {rules: []}\n", []string{`2: the file: unknown key "<<"`}},

		"unknown key": {"version: 1\n\nrule: []", []string{`3: the file: unknown key "rule"; did you mean ` + "`rules`?"}},
		"a long key": {
			"version: 1\n" + strings.Repeat("k", 1000) + ": 1",
			[]string{"2: the file: unknown key; known keys: disable, exclude,"},
		},
		"a key that is a list": {"version: 1\n? [a]\n: b", []string{"2: the file: unknown key"}},
		"key twice":            {"version: 1\nrules: []\nrules: []", []string{`3: the file: key "rules" is there twice`}},

		"disable not a list": {"version: 1\ndisable: a", []string{"2: disable: must be a list"}},
		"disable of no id":   {"version: 1\ndisable: [A]", []string{"2: disable[0]: an id must not have 'A' there"}},
		"disable twice":      {"version: 1\ndisable: [a, custom/a]", []string{"2: disable[1]: this id is there twice"}},
		"bad glob":           {"version: 1\nexclude:\n- ok\n- a[\n", []string{"4: exclude[1]: is not a valid glob"}},

		"too many excludes": {
			"version: 1\nexclude:\n" + many(501, "- a%d\n"), []string{"503: exclude: has 501 entries; at most 500"},
		},

		"override a list":   {"version: 1\noverride: [a/b]", []string{"2: override: must be a mapping of rule ids"}},
		"override of no id": {"version: 1\noverride:\n  A: {}", []string{"3: override: an id must not have 'A' there"}},
		"a rule of meta": {
			"version: 1\nrules: [{id: meta/a, type: regex, pattern: x, message: m, severity: low}]",
			[]string{`2: rules[0].id: must not have the category "meta"`},
		},
		"override twice":   {"version: 1\noverride: {a: {}, custom/a: {}}", []string{"2: override: this id is there twice"}},
		"override by word": {"version: 1\noverride: {a/b: low}", []string{"2: override.a/b: " + mapping}},
		"override unknown key": {
			"version: 1\noverride: {a/b: {message: m}}",
			[]string{`2: override.a/b: unknown key "message"; known keys: exclude,`},
		},
		"override severity": {
			"version: 1\noverride: {a/b: {severity: bad}}",
			[]string{`2: override.a/b.severity: "bad" is not a severity; one of`},
		},
		"override bad glob": {
			"version: 1\noverride:\n  a/b:\n    exclude:\n    - /x", []string{"5: override.a/b.exclude[0]: matches nothing"},
		},
		"too many overrides": {
			"version: 1\noverride:\n" + many(501, "  r%d: {severity: low}\n"), []string{"3: override: has 501 ids; at most 500"},
		},

		"too many rules": {
			"version: 1\nrules:\n" + many(501, "- {id: r%d}\n"), []string{"503: rules: has 501 entries; at most 500"},
		},
		"a rule that is a text": {"version: 1\nrules: [a]", []string{"2: rules[0]: " + mapping}},
		"unknown key of a rule": {rules(good + ", scope: org"),
			[]string{`3: rules[0]: unknown key "scope"; known keys: all, allow, any, cases,`}},

		"an empty rule": {"version: 1\nrules:\n- {}", []string{
			"3: rules[0].id: is required", "3: rules[0].type: is required; known types: regex, structure",
			"3: rules[0].pattern: is required", "3: rules[0].message: is required",
			"3: rules[0].severity: is required; one of critical, high,",
		}},
		"unknown type": {changed("regex", "glob"),
			[]string{`3: rules[0].type: "glob" is not a type of rule; known types: regex, structure`}},
		"unknown severity": {changed("low", "1"),
			[]string{`3: rules[0].severity: this is not a severity; one of critical, high`}},
		"a text that is a list": {
			changed("message: m", "message: [m]"), []string{"3: rules[0].message: must be a text; put it in quotes"},
		},
		"no flag": {rules(good + ", multiline: 'maybe'"), []string{"3: rules[0].multiline: must be true or false"}},

		"bad pattern": {
			"version: 1\nrules:\n- id: a\n  type: regex\n  pattern: 'a(?=b)'\n  message: m\n  severity: low",
			[]string{"5: rules[0].pattern: at byte 2: lookahead"},
		},
		"duplicate id": {
			rules(good, strings.Replace(good, "id: a", "id: custom/a", 1)),
			[]string{"4: rules[1].id: custom/a is the id of the rule at line 3"},
		},

		"cases that fail": {
			rules(good + ",\n  cases: {match: [a,\n  b], no_match: [\n  a]}"),
			[]string{
				"5: rules[0].cases.match[1]: the rule does not match",
				"6: rules[0].cases.no_match[0]: the rule matches this text",
			},
		},
		"a bad path": {
			rules(good + ",\n  paths: {include: [ok,\n  '/x']}"), []string{`5: rules[0].paths.include[1]: matches nothing`},
		},
		"in order of lines": {
			"rules:\n- {" + good + ",\n   cases: 5, nothing: 1}\nexclude: 5\ndisable: 5\n",
			[]string{"1: version", "3: rules[0].cases", "3: rules[0]: unknown", "4: exclude", "5: disable"},
		},
		"many mistakes": {"version: 1\ndisable:\n" + many(100, "- A%d\n"), nil},
	} {
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
				got := fmt.Sprintf("%d: %s", m.Line, m.Message)
				assert.True(t, strings.HasPrefix(got, tt.want[i]), got)
				assert.LessOrEqual(t, len(m.Message), 330)
			}

			assert.Equal(t, mistakes.Mistakes[0].Line, mistakes.Line())
			assert.Contains(t, mistakes.Error(), "line "+tt.want[0])
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
		"slow cases": "version: 1\nrules:\n" + strings.Repeat("- {id: a, type: regex, pattern: '"+slow+
			"', multiline: true, message: m, severity: low, cases: {no_match: ['"+strings.Repeat("a\n\n", 5000)+"']}}\n", 4),
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
	assert.EqualError(t, err, "line 8: id: no-print is the id of a rule of the default ruleset; "+
		"choose another, or change the default rule under `override`")
}

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	rules, err := rule.ParseDefaults([]byte("rules:\n- {id: a/b, pattern: '('}\n"))
	require.NoError(t, err, "patterns are not looked at")
	assert.Equal(t, []rule.Rule{{ID: "a/b", Pattern: "(", Scope: rule.ScopeOrg, Origin: rule.OriginDefault}}, rules)
	_, err = rule.ParseDefaults([]byte("rules:\n- {id: a/b, pattrn: x}\n"))
	require.ErrorContains(t, err, "line 2: rules[0]: unknown key \"pattrn\"; did you mean `pattern`?")
}

// One's own file differs in its bounds, and its rules may be an organization's.
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
	}

	_, err = rule.ParseLocalFile(t.Context(), file(rule.MaxLocalFileRules+1))
	require.ErrorContains(t, err, "line 5003: rules: has 5001 entries; at most 5000 are allowed")
	_, err = rule.ParseLocalFile(t.Context(), make([]byte, rule.MaxLocalFileSize+1))
	require.ErrorContains(t, err, "at most 67108864 are allowed")

	const ofOne = "version: 1\nrules: [{id: a, type: regex, pattern: a, message: m, severity: low, scope: repo, repo: %s}]"
	f, err = rule.ParseLocalFile(t.Context(), fmt.Appendf(nil, ofOne, "acme/shop"))
	require.NoError(t, err, "an organization's own, too")
	assert.Equal(t, "acme/shop", f.Rules[0].Repo)
	_, err = rule.ParseLocalFile(t.Context(), fmt.Appendf(nil, ofOne, "shop"))
	require.ErrorContains(t, err, "rules[0].repo: ")

	broken := append(file(10), "- {}\n- {id: r1}\n- 5\nbad: key\n"...)
	_, want := rule.ParseFile(t.Context(), broken)
	_, err = rule.ParseLocalFile(t.Context(), broken)
	require.Error(t, want)
	assert.Equal(t, want, err)
}

// What is allowed and probably not meant, or costly.
func TestAdvise(t *testing.T) {
	t.Parallel()
	f, err := rule.ParseFile(t.Context(), []byte(`version: 1
disable: [secrets/tokn, gone, secrets/token]
exclude: ["*.js", "**"]
override: {eval: {severity: low}}
rules:
  - {id: secrets/a, type: regex, pattern: frobnicate, message: m, severity: low}
  - {id: b, type: regex, pattern: '\s+$', message: m, severity: low, paths: {include: ["*.go"], exclude: ["a/*"]}}
  - {id: c, type: regex, pattern: 'foo\nbar', message: m, severity: low}
`))
	require.NoError(t, err)
	var got []string

	for _, m := range f.Advise([]rule.Rule{{ID: "secrets/token"}, {ID: "security/eval"}}) {
		got = append(got, fmt.Sprintf("%d: %s", m.Line, m.Message))
	}

	assert.Equal(t, []string{
		"2: disable: secrets/tokn is not a rule of the default ruleset; did you mean `secrets/token`?",
		"2: disable: gone is not a rule of the default ruleset; `prwarden rules list` shows them",
		"3: exclude[0]: matches files in the root folder only; write `**/*.js` for all folders",
		"4: override: eval is not a rule of the default ruleset; did you mean `security/eval`?",
		"6: rules[0]: shows the secret in every report; add `redact: true`",
		"7: rules[1].paths.include[0]: matches files in the root folder only; write `**/*.go` for all folders",
		"7: rules[1].pattern: costs 3ms for a MiB of code. The pattern has no run of three or more known characters " +
			"that is in every match and rare in code, so it is tried everywhere. Add a word to the pattern that every " +
			"match has.",
		"8: rules[2].pattern: can never match: lines are matched without their ends; add `multiline: true`",
	}, got)
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
		if err != nil {
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
			require.True(t, o.Line >= 1 && o.Line <= strings.Count(string(data), "\n")+1)
		}

		for _, r := range file.Rules {
			r.Repo = "acme/api"
			require.NoError(t, rule.Validate(t.Context(), r))
		}
	})
}
