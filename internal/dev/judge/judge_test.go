package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/program"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// prwarden is the built program.
var prwarden string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, remove, err := program.Build("cmd/prwarden")
	if err != nil {
		panic(err)
	}
	defer remove()
	prwarden = filepath.Join(dir, "prwarden")
	return m.Run()
}

// judge runs a subcommand and returns what it prints.
func judge(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), args, &out)
	return out.String(), err
}

// repository makes dir/acme+store/repo with one commit a message, each of which adds a line with a finding.
func repository(t *testing.T, messages ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "acme+store", "repo")
	var stream, file strings.Builder
	for n, message := range messages {
		fmt.Fprintf(&file, "const value%d = eval(settings.x);\n", n)
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Dev <dev@example.com> %d +0000\ndata %d\n%s\n",
			1_750_000_000+n, len(message), message)
		fmt.Fprintf(&stream, "M 644 inline app/main.js\ndata %d\n%s\n", file.Len(), file.String())
	}
	require.NoError(t, program.MakeRepository(t.Context(), dir, stream.String()))
	return dir
}

// TestScansAsPrwarden compares the scans of this program with those of the built prwarden.
func TestScansAsPrwarden(t *testing.T) {
	t.Parallel()
	repo, dir := repository(t, "First", "Second (#2)"), t.TempDir()
	_, err := judge(t, "hits", "-out", dir, repo)
	require.NoError(t, err)
	all, err := readLines[hit](filepath.Join(dir, hitsFile))
	require.NoError(t, err)

	cmd := exec.CommandContext(t.Context(), prwarden, "scan", "--base", "HEAD^", "--fail-on", "none", "--output", "json")
	cmd.Dir, cmd.Env = repo, plainEnv()
	text, err := cmd.Output()
	require.NoError(t, err)
	var want struct {
		Ruleset  string            `json:"rules_digest"`
		Findings []finding.Finding `json:"findings"`
	}
	require.NoError(t, json.Unmarshal(text, &want))
	require.Len(t, all, len(want.Findings))
	require.NotEmpty(t, all)
	for i, f := range want.Findings {
		assert.Equal(t, []any{f.RuleID, f.File, f.Line, f.Severity.String(), want.Ruleset},
			[]any{all[i].Rule, all[i].Path, all[i].Line, all[i].Severity, all[i].Ruleset})
	}
}

// TestWholeWay goes from repositories to the section of a document.
func TestWholeWay(t *testing.T) {
	t.Parallel()
	repo := repository(t, "First (#1)", "Squashed (#2)\n\nText (#7)", "No pull request", "Again (#2)",
		"Merge pull request #3 from acme/x", `Revert "Squashed (#9)"`)
	dir := t.TempDir()
	found := filepath.Join(dir, "found")
	out, err := judge(t, "hits", "-out", found, repo)
	require.NoError(t, err)
	assert.Contains(t, out, "| acme/store | 2 | 2 (100.0 %) | 2 |") // the newest of #2; the first commit has no parent
	all, err := readLines[hit](filepath.Join(found, hitsFile))
	require.NoError(t, err)
	numbers := map[int]int{}
	for _, h := range all {
		numbers[h.Pull] = h.Line
		assert.Equal(t, h.id(), h.ID)
		assert.Equal(t, "JavaScript", h.Language)
	}
	assert.Equal(t, map[int]int{2: 4, 3: 5}, numbers)

	projects := filepath.Join(dir, "projects.jsonl")
	makeSheet := []string{"sheet", "-hits", found, "-projects", projects, "-readers", "ada,ben", "-out"}
	require.NoError(t, writeLines(projects, []project{{Project: "acme/store", Group: unseen}}))
	_, err = judge(t, append(makeSheet, filepath.Join(dir, "sheets"))...)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "sheets", "ben", "hits.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(text), ">     5 | const value4 = eval(settings.x);\n")
	_, err = judge(t, append(makeSheet, filepath.Join(dir, "again"))...)
	require.ErrorContains(t, err, "unseen no more") // it was read now

	ask := []string{"report", "-hits", found, "-projects", projects}
	for _, reader := range []string{"ada", "ben"} {
		path := filepath.Join(dir, "sheets", reader, "verdicts.jsonl")
		forms, err := readLines[judgement](path)
		require.NoError(t, err)
		require.Len(t, forms, len(all))
		for i := range forms {
			forms[i].Verdict, forms[i].Reason = useful, "eval of a request"
		}
		require.NoError(t, writeLines(path, forms))
		ask = append(ask, path)
	}
	document := filepath.Join(dir, "document.md")
	require.NoError(t, os.WriteFile(document, []byte("a\n"+sectionBegin+"old\n"+sectionEnd+"\nb\n"), 0o600))
	_, err = judge(t, append([]string{"report", "-doc", document}, ask[1:]...)...)
	require.NoError(t, err)
	text, err = os.ReadFile(document)
	require.NoError(t, err)
	assert.Contains(t, string(text), fmt.Sprintf("| all | %d of %[1]d | 100 %% |", len(all)))
	assert.NotContains(t, string(text), "old")

	// Of a tuned project the next sheet asks only what is new.
	require.NoError(t, writeLines(projects, []project{{Project: "acme/store", Group: tuned, Read: "2026-11-20"}}))
	_, err = judge(t, append(append(makeSheet, filepath.Join(dir, "next")), ask[5])...)
	require.NoError(t, err)
	for reader, texts := range map[string]int{"ada": 0, "ben": len(all)} {
		text, err := os.ReadFile(filepath.Join(dir, "next", reader, "hits.txt"))
		require.NoError(t, err)
		assert.Equal(t, texts, strings.Count(string(text), "\n"+blockMark))
	}

	out, err = judge(t, "trees", "-prwarden", prwarden, repo)
	require.NoError(t, err)
	assert.Contains(t, out, "| acme/store | 6 | 0 (0.0 %) |")
}

func TestCommitsWhereThereAreNoPullRequests(t *testing.T) {
	t.Parallel()
	pulls, style, err := pullsOf(t.Context(), repository(t, "One", "Two", "Three"), 1)
	require.NoError(t, err)
	assert.Equal(t, styleCommits, style)
	assert.Len(t, pulls, 1)
}

// sample is an input that no check refuses: of two projects, one unseen.
func sample() input {
	day := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	in := input{projects: []project{
		{"apache/dubbo", unseen, "2026-11-24T13:00:00Z"}, {"gin-gonic/gin", tuned, "2026-11-20"}, {"acme/books", unseen, ""},
	}}
	for i, name := range []string{"apache/dubbo", "gin-gonic/gin"} {
		in.scans = append(in.scans, scanned{Project: name, Time: day, Ruleset: "r", Pulls: 10, Hits: 2, Found: 2, Added: 500})
		for line := range 2 {
			h := hit{Project: name, Pull: 1, Rule: "security/x", Severity: "high", Path: "a", Line: line + 1, Ruleset: "r"}
			h.ID, h.Dated = h.id(), line == 1
			in.hits = append(in.hits, h)
			word := []string{useful, not}[i*line]
			in.verdicts = append(in.verdicts, judgement{h.ID, useful, "", "ada"}, judgement{h.ID, word, "", "ben"})
		}
	}
	return in
}

func TestReportRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*input)
		want   string
	}{
		"no scans":               {func(in *input) { in.scans = nil }, "no scans"},
		"a missing verdict":      {func(in *input) { in.verdicts = in.verdicts[1:] }, "verdicts of 1 readers"},
		"an empty verdict":       {func(in *input) { in.verdicts[0].Verdict = "" }, `verdict ""`},
		"an unknown verdict":     {func(in *input) { in.verdicts[0].Verdict = "maybe" }, `"maybe"`},
		"one reader twice":       {func(in *input) { in.verdicts[0].Reader = "ben" }, "twice"},
		"no reader":              {func(in *input) { in.verdicts[0].Reader = "" }, "no reader"},
		"a verdict on nothing":   {func(in *input) { in.verdicts[0].Hit = "x" }, "not there"},
		"a hit left out":         {func(in *input) { in.hits, in.verdicts = in.hits[1:], in.verdicts[2:] }, "the scan had 2"},
		"an edited hit":          {func(in *input) { in.hits[0].Line = 9 }, "edited"},
		"a hit twice":            {func(in *input) { in.hits = append(in.hits, in.hits[0]) }, "twice"},
		"a hit of other rules":   {func(in *input) { in.hits[0].Ruleset = "s" }, "of ruleset s"},
		"a scan of other rules":  {func(in *input) { in.scans[1].Ruleset = "s" }, "with ruleset s"},
		"a report of others":     {func(in *input) { in.ruleset = "s" }, "the report is of s"},
		"an unlisted project":    {func(in *input) { in.projects = in.projects[1:] }, "not in the list"},
		"a project listed twice": {func(in *input) { in.projects = append(in.projects, in.projects[0]) }, "list of projects twice"},
		"another group":          {func(in *input) { in.projects[0].Group = "new" }, `group "new"`},
		"read before":            {func(in *input) { in.projects[0].Read = "2026-11-24" }, "unseen no more"},
		"never read":             {func(in *input) { in.projects[0].Read = "" }, "no time of reading"},
		"left out after reading": {func(in *input) { in.projects[2].Read = "2026-11-25" }, "scans are missing"},
		"kept for later": {func(in *input) {
			in.projects[0].Project, in.scans[0].Project = "argoproj/argo-cd", "argoproj/argo-cd"
		}, "kept for later"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := sample()
			test.change(&in)
			_, err := in.join()
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	r, err := sample().join()
	require.NoError(t, err)
	text := r.section()
	assert.Less(t, strings.Index(text, "nobody had looked at"), strings.Index(text, "tuned on"))
	for _, want := range []string{
		"1 projects, scanned on 24 November 2026: 10 merged pull requests with 500 added lines. 2 (20.0 %) had a finding; " +
			"2.00 hits for 500 added lines.",
		"| all | 2 of 2 | 100 % | 34–100 % | 1 | 100 % |  |",
		"| all | 1 of 2 | 50 % | 9–91 % | 1 | 50 % |  |",
		"| without dated rules | 1 of 1 | 100 % |",
		"agree on 50 % of the hits (Cohen's kappa 0.00)",
	} {
		assert.Contains(t, text, want)
	}
	assert.Equal(t, []string{"`security/x`", "2 of 2", "1 of 2", "75 %", "too few", "none"}, r.rules(1)[1])
	assert.Len(t, r.rules(enough), 1, "too few hits for the document")
}

// TestLowConfidence has a hit that prwarden hides count for its rule only.
func TestLowConfidence(t *testing.T) {
	t.Parallel()
	in := sample()
	in.hits[0].Confidence, in.scans[0].Hits, in.scans[0].Low = hidden, 1, 1
	r, err := in.join()
	require.NoError(t, err)
	assert.Contains(t, r.section(), "| all | 1 of 1 |")
	assert.Contains(t, r.section(), "1 findings of low confidence")
	assert.Equal(t, "2 of 2", r.rules(1)[1][1])
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "34–52 %", ratio{47, 109}.wilson().String()) // by the formula, calculated elsewhere: 34.2 to 52.5
	assert.Equal(t, []string{"high", "medium", "medium", "low"}, []string{
		ratio{9, 10}.confidence(), ratio{89, 100}.confidence(), ratio{7, 10}.confidence(), ratio{69, 100}.confidence(),
	})
	mean, i := vote([]float64{0, 0, 1, 1})
	assert.InDelta(t, 0.5, mean, 1e-9)
	assert.Equal(t, interval{0, 1}, i) // 1 in 16 draws has only the same
	_, again := vote([]float64{0, 0, 1, 1})
	assert.Equal(t, i, again)

	// Of 50 both say yes to 20 and no to 15, the first alone to 5, the second alone to 10: kappa is 0.4.
	var pairs [][2]bool
	for n, pair := range map[int][2]bool{20: {true, true}, 15: {false, false}, 5: {true, false}, 10: {false, true}} {
		for range n {
			pairs = append(pairs, pair)
		}
	}
	same, kappa := agreement(pairs)
	assert.InDelta(t, 0.7, same, 1e-9)
	assert.InDelta(t, 0.4, kappa, 1e-9)
}

func TestDatedRulesAreDefaultRules(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	all := rule.ByID(rules)
	for _, id := range strings.Fields(datedList) {
		assert.Contains(t, all, id)
	}
}

// TestDocument fails when the document isn't what the committed data give; `make judge-report` writes it.
func TestDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/default-ruleset.md")
	require.NoError(t, err)
	_, rest, begins := strings.Cut(string(text), sectionBegin)
	section, _, ends := strings.Cut(rest, sectionEnd)
	require.True(t, begins && ends)

	in, err := readInput("data", "data/projects.jsonl", []string{"data/" + verdictsFile})
	if os.IsNotExist(err) {
		assert.Empty(t, section, "nothing was measured")
		return
	}
	require.NoError(t, err)
	r, err := in.join()
	require.NoError(t, err)
	assert.Equal(t, r.section(), section)
}

// TestProjects fails when the committed list is not one.
func TestProjects(t *testing.T) {
	t.Parallel()
	projects, err := readLines[project]("data/projects.jsonl")
	require.NoError(t, err)
	_, err = listed(projects)
	require.NoError(t, err)
	assert.NotEmpty(t, projects)
}
