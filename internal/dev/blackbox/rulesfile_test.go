package blackbox_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// The commands for those who write rules, as they are used in a repository.
func TestRulesCommands(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{
		".prwarden/rules.yml": "version: 1\noverride:\n  security/no-eval: {severity: low}\nrules:\n" +
			"- {id: no-print, type: regex, pattern: 'print\\(', message: Use the logger., severity: warning, cases: " +
			"{match: ['print(x)']}}\n",
		"broken.yml": "version: 1\nrules:\n- {id: a, type: regex, patern: 'x(?=y)', message: m, severity: hihg}\n",
		"warned.yml": "version: 1\ndisable: [security/no-evl]\n",
		"failing.yml": "version: 1\nrules:\n- {id: a, type: regex, pattern: x, message: m, severity: low, cases: " +
			"{match: [y]}}\n",
		"samples/good.py": "# prwarden: expect no-print, security/no-eval\n",
		"samples/bad.py":  "# prwarden: expect no-print\nlog(1)\n",
		"src/main.py":     "print(1)\nprint(2)\n",
		"web/app.js":      strings.Repeat("debugger;", 500),
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}

	tests := map[string]struct {
		args      []string
		code      int
		out, errs string // parts
	}{
		"check":             {[]string{"check"}, 0, ".prwarden/rules.yml: fine, 1 rule and 1 case.\n", ""},
		"check broken":      {[]string{"check", "broken.yml"}, 1, "broken.yml: 2 mistakes.\n", ""},
		"check all at once": {[]string{"check", "broken.yml"}, 1, "did you mean `pattern`?", ""},
		"check warned":      {[]string{"check", "warned.yml"}, 0, "did you mean `security/no-eval`?", ""},
		"check strictly":    {[]string{"check", "--strict", "warned.yml"}, 1, "warned.yml: 1 warning.\n", ""},
		"check nothing":     {[]string{"check", "nowhere.yml"}, 2, "", "the rules file can't be read"},
		"test":              {[]string{"test"}, 0, "PASS: 1 rule with 1 case", ""},
		"test failing":      {[]string{"test", "failing.yml"}, 1, "cases.match[0]: the rule does not match this text", ""},
		"test a sample": {
			[]string{"test", ".prwarden/rules.yml", "samples/bad.py"}, 1,
			"samples/bad.py:2: custom/no-print must match here, and does not\n", "",
		},
		"test without a line": {[]string{"test", ".prwarden/rules.yml", "samples/good.py"}, 1, "no line follows", ""},
		"try": {
			[]string{"try", `print\(`, "src"}, 0, "src/main.py:1:1: print(1)\nsrc/main.py:2:1: print(2)\n",
			"2 matches in 1 file.",
		},
		"try nothing":     {[]string{"try", "frobnicate", "src"}, 0, "", "0 matches in 1 file."},
		"try a lookahead": {[]string{"try", "a(?=b)", "src"}, 2, "", "lookahead (?=…) is not supported"},
		"explain": {
			[]string{"explain", "security/no-eval"}, 0, "security/no-eval  low  a rule of the default ruleset\n", "",
		},
		"explain in a file": {
			[]string{"explain", "hygiene/js-debugger", "web/app.js"}, 0,
			"\nThe rule does not look at web/app.js: the rule skips minified files, and its lines are as long as those " +
				"of minified code.\n", "",
		},
		"explain where it looks": {
			[]string{"explain", "security/no-eval", "web/app.js"}, 0, "\nThe rule looks at web/app.js.\n", "",
		},
		"explain elsewhere": {[]string{"explain", "no-print", "../x"}, 2, "", "../x is not in this folder"},
		"explain nothing":   {[]string{"explain", "security/no-evl"}, 2, "", "did you mean security/no-eval?"},
		"list": {
			[]string{"list", "--category", "custom"}, 0, "warning   medium  custom/no-print  Use the logger.\n\n1 rule.\n", "",
		},
		"schema": {[]string{"schema"}, 0, `"$schema": "http://json-schema.org/draft-07/schema#"`, ""},
	}

	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), binary, append([]string{"rules"}, tt.args...)...)
			cmd.Dir, cmd.Env = root, env(root)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil {
				var exit *exec.ExitError
				require.ErrorAs(t, err, &exit)
			}
			assert.Equal(t, tt.code, cmd.ProcessState.ExitCode(), errs.String())
			assert.Contains(t, out.String(), tt.out)
			assert.Contains(t, errs.String(), tt.errs)
			assert.NotContains(t, out.String(), "\x1b", "no colours but on a terminal")
			if tt.args[0] == "schema" {
				assert.True(t, json.Valid(out.Bytes()))
			}
		})
	}
}

// What a rule costs is shown when it is saved, when it is read and when it is
// tried, with advice when that is much.
func TestRuleCost(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	rpc := s.services(t)
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, c.token))
	for name, tt := range map[string]struct {
		pattern string
		paths   map[string]any
		weak    bool
		advice  string // a part of it; "" for none
	}{
		"strong":          {`frobnicate\(`, nil, false, ""},
		"dear":            {`\d+\s`, nil, false, "or restrict the rule with paths"},
		"dear by a text":  {`\bif\b`, nil, false, `looked for by "if"`},
		"weak":            {`[a-z]+\s*$`, nil, true, "is tried everywhere"},
		"weak with paths": {`[a-z]+\s*$`, map[string]any{"include": []string{"*.go"}}, true, "that every match has."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := "cost/" + strings.ReplaceAll(name, " ", "-")
			rule := map[string]any{"id": id, "type": "regex", "pattern": tt.pattern, "message": "m", "severity": "low"}
			if tt.paths != nil {
				rule["paths"] = tt.paths
			}
			a := c.do(t, "POST", "/v1/rules", rule)
			require.Equal(t, 201, a.status, a.body)
			cost, ok := a.decode(t)["matching_cost"].(map[string]any)
			require.True(t, ok, a.body)
			assert.Equal(t, tt.weak, cost["weak"])
			if tt.advice == "" {
				assert.ElementsMatch(t, []string{"microseconds_per_mib", "weak"}, keys(cost))
				assert.InDelta(t, 1, cost["microseconds_per_mib"], 0)
			} else {
				assert.Greater(t, cost["microseconds_per_mib"], 50.0)
				assert.Contains(t, cost["advice"], tt.advice)
			}
			assert.Equal(t, a.decode(t), c.do(t, "GET", "/v1/rules/"+id, nil).decode(t))

			got, err := rpc.rules.GetRule(ctx, &prwardenv1.GetRuleRequest{Id: id})
			require.NoError(t, err)
			over := got.GetRule().GetMatchingCost()
			assert.InDelta(t, cost["microseconds_per_mib"], over.GetMicrosecondsPerMib(), 0)
			assert.Equal(t, tt.weak, over.GetWeak())
			assert.Equal(t, tt.advice == "", over.Advice == nil)
			if tt.paths == nil { // a dry run has none
				a = c.do(t, "POST", "/v1/rules:test", map[string]any{"pattern": tt.pattern, "text": "x"})
				require.Equal(t, 200, a.status, a.body)
				assert.Equal(t, cost, a.decode(t)["matching_cost"])
			}
		})
	}

	a := c.do(t, "GET", "/v1/rules/secrets/private-key", nil)
	require.Equal(t, 200, a.status)
	assert.Contains(t, a.decode(t), "matching_cost", "of default rules too")
	a = c.do(t, "GET", "/v1/rulesets/default/rules", nil)
	require.Equal(t, 200, a.status)
	assert.NotContains(t, a.body, "matching_cost")
}
