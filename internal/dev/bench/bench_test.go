package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// programs is the folder with prwarden and the bare program, built by TestMain.
var programs string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == "tenants" { // the tests' own attacker
		main()
		return 0
	}
	dir, remove, err := program.Build("cmd/prwarden", "internal/dev/bench/bare")
	if err != nil {
		panic(err)
	}
	defer remove()

	programs = dir
	return m.Run()
}

// measured runs a part of the benchmark and returns what it prints.
func measured(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, run(t.Context(), args, &out))
	return out.String()
}

// TestRequests also holds the bare program to the same answer as prwarden.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			prwarden := filepath.Join(programs, "prwarden")
			out := measured(t, "requests", "-prwarden", prwarden, "-before", prwarden, "-bare", filepath.Join(programs, "bare"),
				"-databases", database, "-runs", "1", "-each", "50ms")
			for _, row := range []string{
				"GetReview    | prwarden", "GetReview    | before", "GetReview    | bare", "CreateReview | prwarden",
				"CreateReview | before",
			} {
				assert.Contains(t, out, row)
			}
		})
	}
}

func TestOverload(t *testing.T) {
	t.Parallel()
	out := measured(t, "overload", "-prwarden", filepath.Join(programs, "prwarden"), "-database", "sqlite",
		"-for", "200ms", "-connections", "80", "-factor", "2")
	assert.Contains(t, out, "| 64 callers afterwards")
	assert.Contains(t, out, "% of the peak")
}

func TestTenants(t *testing.T) {
	t.Parallel()
	out := measured(t, "tenants", "-prwarden", filepath.Join(programs, "prwarden"), "-organizations", "3", "-for", "3s")
	assert.Contains(t, out, "| quiet ")
	assert.Contains(t, out, "| hostile ")
	assert.Contains(t, out, "- large pull requests: map[202:")
	assert.Contains(t, out, "- tried patterns: ")
}

func TestReviews(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	require.NoError(t, program.MakePulls(t.Context(), source, repository, []program.Change{{Findings: 5}}))
	prwarden := filepath.Join(programs, "prwarden")
	out := measured(t, "review", "-prwarden", prwarden, "-before", prwarden, "-runs", "1",
		"-repo", filepath.Join(source, repository+".git"), "-range", "main...refs/pull/1/head")
	assert.Contains(t, out, "| prwarden | 5 ")
	assert.Contains(t, out, "| before   | 5 ")
}

// TestPeers has a shell stand for a peer, so that the test needs none.
func TestPeers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules.tsv")
	corpus := filepath.Join(dir, "corpus")
	require.NoError(t, os.Mkdir(corpus, 0o700))
	require.NoError(t, os.WriteFile(rules, []byte("needle\tne{2}dle\nhay\t(?i)hay\\b\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(corpus, "a.txt"), []byte("a needle in hay\nHAY\nneedle\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(corpus, "binary"), []byte("needle\x00"), 0o600))

	peer := "#!/bin/sh\necho '[{\"RuleID\":\"hay\",\"File\":\"files/0/0-a.txt\",\"StartLine\":2}]'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gitleaks"), []byte(peer), 0o700))
	out := measured(t, "peers", "-prwarden", filepath.Join(programs, "prwarden"), "-peers", dir,
		"-corpus", corpus, "-rules", rules, "-keywords", rules, "-runs", "1")
	assert.Contains(t, out, "2 rules on 1 files")
	assert.Regexp(t, `prwarden .*\| 4 findings`, out)
	assert.Regexp(t, `gitleaks .*\| 1 findings`, out)
	assert.Regexp(t, `betterleaks .*\| not installed`, out)
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"name what to measure":          {"x"},
		`unexpected argument "y"`:       {"peers", "y"},
		"name at least one -range":      {"review"},
		`there is no database "oracle"`: {"requests", "-databases", "oracle"},
	} {
		assert.ErrorContains(t, run(t.Context(), args, io.Discard), want)
	}
}

// TestHosts holds that forged deliveries write nothing, and that a push comes to a verdict.
func TestHosts(t *testing.T) {
	t.Parallel()
	out := measured(t, "hosts", "-prwarden", filepath.Join(programs, "prwarden"), "-pushes", "2", "-large", "2",
		"-for", "300ms")
	for _, text := range []string{
		"until the check is pending", "the verdict without the scan", "quiet", "flood", "Rows written: 0.",
	} {
		assert.Contains(t, out, text)
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	out := measured(t, "people", "-prwarden", filepath.Join(programs, "prwarden"), "-for", "2s", "-every", "100ms",
		"-people", "2", "-reviews", "100")
	for _, row := range []string{"| list ", "| review ", "| keys ", "| alone ", "| beside people "} {
		assert.Contains(t, out, row)
	}
}
