package scan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/structure"
)

// command is a taint rule for Python.
func command(change func(*rule.Rule)) rule.Rule {
	return regex("command", "", func(r *rule.Rule) {
		r.Type, r.Languages = rule.TypeTaint, []string{"python"}
		r.Taint = rule.Taint{
			Sources:    []structure.Condition{{Any: []structure.Condition{{Pattern: "request.args"}, {Pattern: "request.form"}}}},
			Sinks:      []structure.Condition{{Pattern: "os.system($X)", Focus: "X"}, {Pattern: "run($X, $$$)", Focus: "X"}},
			Sanitizers: []structure.Condition{{Pattern: "quote($$$)"}},
		}
		if change != nil {
			change(r)
		}
	})
}

func TestTaintRules(t *testing.T) {
	t.Parallel()
	r := command(func(r *rule.Rule) {
		r.Cases = rule.Cases{
			Match:   []string{"x = request.args['a']\nos.system(x)"},
			NoMatch: []string{"x = quote(request.args['a'])\nos.system(x)", "x = 'a'\nos.system(x)"},
		}
	})
	require.NoError(t, rule.Validate(t.Context(), r))
	const text = "def f():\n    a = 'é'; x = request.args['a']\n    b = 1\n    y = f'ls {x}'\n    return os.system(\n        y)\n"

	added := func(name string, line int) scan.File {
		f := file(name, text)
		f.Added = []scan.LineRange{{First: line, Last: line}}
		return f
	}
	files := []scan.File{
		added("sink.py", 6), added("source.py", 2), added("between.py", 4), file("other.js", text),
		file("suppressed.py", strings.Replace(text, "        y)", "        y)  # prwarden:ignore command -- why until 2026-12-31", 1)),
	}
	result := run(t, &pull{files: files}, r)
	assert.Equal(t, []string{"sink.py:6 custom/command", "source.py:6 custom/command"}, places(result))
	assert.Len(t, result.Suppressed, 1)
	f := result.Findings[0]
	assert.Equal(t, [2]int{9, 10}, [2]int{f.Column, f.EndColumn})
	assert.Equal(t, []finding.Step{
		{Kind: finding.StepSource, Line: 2, Column: 19, EndColumn: 31, UTF16Column: 18, UTF16EndColumn: 30,
			Snippet: "    a = 'é'; x = request.args['a']"},
		{Kind: finding.StepAssignment, Line: 2, Column: 15, EndColumn: 36, UTF16Column: 14, UTF16EndColumn: 35,
			Snippet: "    a = 'é'; x = request.args['a']"},
		{Kind: finding.StepAssignment, Line: 4, Column: 5, EndColumn: 18, UTF16Column: 5, UTF16EndColumn: 18,
			Snippet: "    y = f'ls {x}'"},
		{Kind: finding.StepSink, Line: 6, Column: 9, EndColumn: 10, UTF16Column: 9, UTF16EndColumn: 10, Snippet: "        y)"},
	}, f.Steps)
}

// What rules with redact match is masked in steps, too.
func TestStepsAreMasked(t *testing.T) {
	t.Parallel()
	secret := regex("secret", "hunter[0-9]", func(r *rule.Rule) { r.Redact = true })
	result := run(t, &pull{files: []scan.File{file("a.py", "x = request.args['hunter2']\nos.system(x)\n")}}, command(nil), secret)
	require.Len(t, result.Findings, 2)
	steps := slices.Concat(result.Findings[0].Steps, result.Findings[1].Steps)
	require.Len(t, steps, 3)
	assert.Equal(t, "x = request.args['****']", steps[0].Snippet)
}

func TestTaintRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	require.NoError(t, rule.Validate(t.Context(), command(nil)))
	for want, change := range map[string]func(*rule.Rule){
		"pattern: is not allowed":   func(r *rule.Rule) { r.Pattern = "a" },
		"multiline: is not allowed": func(r *rule.Rule) { r.Multiline = true },
		"redact: is not allowed":    func(r *rule.Rule) { r.Redact = true },
		"in: is not allowed":        func(r *rule.Rule) { r.In = []rule.Place{rule.InCode} },
		"entropy: is not allowed":   func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{} },
		"stopwords: is not allowed": func(r *rule.Rule) { r.Conditions.Stopwords = []string{"a"} },
		"allow: is not allowed":     func(r *rule.Rule) { r.Conditions.Allow = []string{"a"} },
		"focus: is for rules of":    func(r *rule.Rule) { r.Structure.Focus = "X" },
		"languages: is required":    func(r *rule.Rule) { r.Languages = nil },
		"has no functions that are": func(r *rule.Rule) { r.Languages = []string{"yaml"} },
		"sources: is required":      func(r *rule.Rule) { r.Taint.Sources = nil },
		"sinks: is required":        func(r *rule.Rule) { r.Taint.Sinks = nil },
		"sources: has 51 entries":   func(r *rule.Rule) { r.Taint.Sources = slices.Repeat(r.Taint.Sources, 51) },
		"sources[1].pattern: has a": func(r *rule.Rule) { r.Taint.Sources = append(r.Taint.Sources, structure.Condition{Pattern: "f("}) },
		"sinks[0]: is required":     func(r *rule.Rule) { r.Taint.Sinks = []structure.Condition{{}} },
		"sinks[0].focus: is no":     func(r *rule.Rule) { r.Taint.Sinks = []structure.Condition{{Pattern: "f($X)", Focus: "Y"}} },
		"does not match this text":  func(r *rule.Rule) { r.Cases.Match = []string{"os.system('a')"} },
		"bytes; at most 16384 are": func(r *rule.Rule) {
			r.Taint.Sinks = slices.Repeat([]structure.Condition{{Pattern: strings.Repeat("a", 1000)}}, 20)
		},
		"sources: is for rules of": func(r *rule.Rule) { r.Type, r.Pattern = rule.TypeRegex, "a" },
	} {
		require.ErrorContains(t, rule.Validate(t.Context(), command(change)), want)
	}
}

// The rules of docs/taint.md do what it says.
func TestTaintDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/taint.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	require.Len(t, blocks, 3)
	for _, block := range blocks {
		rules, err := rule.ParseDefaults([]byte("rules:\n" + string(block[1])))
		require.NoError(t, err, string(block[1]))
		require.Len(t, rules, 1)
		assert.NotEmpty(t, rules[0].Cases.Match)
		assert.NotEmpty(t, rules[0].Cases.NoMatch)
		require.NoError(t, rule.Validate(t.Context(), rules[0]))
	}
}

// The engine, which looks for words of sinks first, finds what a look at every file finds.
func TestTaintAsWithoutTheEngine(t *testing.T) {
	t.Parallel()
	rules := []rule.Rule{command(nil), command(func(r *rule.Rule) {
		r.ID = "other"
		r.Taint.Sources = []structure.Condition{{Pattern: "p($X)", Focus: "X"}}
		r.Taint.Sinks = []structure.Condition{{Any: []structure.Condition{{Pattern: "sink($$$)"}, {Pattern: "$A.exec($X)"}}}}
	})}
	random := rand.New(rand.NewPCG(3, 4))
	parts := []string{
		"x", " = ", "\n", "\n    ", "request.args", "request.form['a']", "os.system(x)", "run(", "x, ", ")", "quote(x)", "p(x)", "p(y)", "y",
		"sink(", "a.exec(x)", "if a:", "else:", "def f(x):", "# ", "'", "x = request.args\n", "y = x\n", "os.system(", "exec",
	}
	found := 0
	for range 300 {
		var files []scan.File
		for i := range 10 {
			text := ""
			for range 3 + random.IntN(30) {
				text += parts[random.IntN(len(parts))]
			}
			files = append(files, file(fmt.Sprintf("%d.py", i), text))
		}

		want := []string{}
		for i, r := range rules {
			for _, f := range files {
				lines := match.SplitLines(f.Content)
				reader := rule.NewPlaces(rules).Reader([]string{"python"})
				reader.Find(f.Content, i, func(int) bool { return true }, func(at match.Span, _ ...match.Span) {
					line, _ := lines.At(at.Start)
					want = append(want, fmt.Sprintf("%s:%d %s", f.Path, line, r.FullID()))
				})
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got := places(run(t, &pull{files: files}, rules...))
		slices.Sort(got)
		require.Equal(t, want, got)
		found += len(want)
	}
	assert.Greater(t, found, 300)
}

// A rule that has no more work to do in a file is stopped there, and that is said.
func TestTaintIsStopped(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x = request.args\nos.system(x)\n", 1000)
	m, err := match.Compile([]match.Rule{rule.NewPlaces([]rule.Rule{command(nil)}).ToMatch([]rule.Rule{command(nil)}, 0)})
	require.NoError(t, err)
	session := m.NewSession(match.Limit{File: 100_000}, nil)
	lines := match.SplitLines([]byte(text))
	reader := rule.NewPlaces([]rule.Rule{command(nil)}).Reader([]string{"python"})
	result, err := session.File("a.py", "python").ReadBy(reader).Match(
		context.Background(), lines, []match.LineRange{{First: 1, Last: 2000}}, 5000)
	require.NoError(t, err)
	assert.Equal(t, []int{0}, result.Stopped)
}
