package program

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		program Program
		output  string
		want    []Hit
	}{
		{prwarden(), `{"rule_id":"custom/one","file":"a/b.go","line":3,"column":1}` + "\n" + `{"rule_id":"secrets/two","file":"c","line":1}` + "\n",
			[]Hit{{"one", "a/b.go", 3}, {"secrets/two", "c", 1}}},
		{ripgrep(), "/x/files/a/b.go\x003:text: 4\n/x/files/c\x0012:\n", []Hit{{"", "a/b.go", 3}, {"", "c", 12}}},
		{gitleaks("gitleaks"), `[{"RuleID":"one","File":"/x/files/a/b.go","StartLine":3,"Match":"x"}]`, []Hit{{"one", "a/b.go", 3}}},
		{gitleaks("gitleaks"), `[]`, nil},
	} {
		got, err := test.program.parse([]byte(test.output), "/x/files")
		require.NoError(t, err, test.program.Name)
		assert.Equal(t, test.want, got, test.program.Name)
	}
	for _, p := range []Program{prwarden(), ripgrep(), gitleaks("gitleaks")} {
		_, err := p.parse([]byte("nonsense\n"), "/x/files")
		assert.Error(t, err, p.Name)
	}
}

// TestMain lets the test binary be what starts a program, as the command is.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "launch" {
		err := Launch(context.Background(), os.Args[2:], os.Stdout, os.Stderr)
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			os.Exit(exit.ExitCode())
		}
		return
	}
	os.Exit(m.Run())
}

func TestJobAndRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := []ruleset.Rule{{ID: "one", Pattern: "needle"}}
	j, err := NewJob(dir, rules, corpus.Corpus{Files: []corpus.File{{Path: "a/b.txt", Text: []byte("a needle\n")}}})
	require.NoError(t, err)
	for _, name := range []string{"files/a/b.txt", "rules.yml", "patterns", "gitleaks.toml"} {
		assert.FileExists(t, filepath.Join(dir, name))
	}

	// A shell stands for a program, so that the test needs no peer.
	p := Program{Name: "shell", path: "/bin/sh", noneFound: 1, parse: ripgrep().parse, args: func(j Job, _ int) []string {
		return []string{"-c", `printf '%s/a/b.txt\0001:a needle\n' "$0"; exit 1`, j.dir}
	}}
	hits, err := p.Hits(t.Context(), j)
	require.NoError(t, err)
	assert.Equal(t, map[Hit]bool{{"", "a/b.txt", 1}: true}, hits)
	run, err := p.Run(t.Context(), j, 1)
	require.NoError(t, err)
	assert.Positive(t, run.Wall)
	assert.Positive(t, run.PeakKiB)
	large := make([]byte, 64<<20) // is this process's memory, not the program's
	for i := 0; i < len(large); i += 4096 {
		large[i] = 1
	}
	run, err = p.Run(t.Context(), j, 1)
	require.NoError(t, err)
	assert.Less(t, run.PeakKiB, int64(60<<10))
	assert.Len(t, large, 64<<20)

	p.args = func(Job, int) []string { return []string{"-c", "echo broken >&2; exit 2"} }
	_, err = p.Run(t.Context(), j, 1)
	assert.ErrorContains(t, err, "shell: exit status 2: broken")
}

func TestVersion(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "tool 1.2", version(context.Background(), "/bin/sh", []string{"-c", "echo tool 1.2; echo more"}))
	path := filepath.Join(t.TempDir(), "tool")
	require.NoError(t, os.WriteFile(path+versionFile, []byte("v3"), 0o600))
	assert.Equal(t, "v3", version(context.Background(), path, nil))
	assert.Equal(t, "unknown", version(context.Background(), filepath.Join(t.TempDir(), "absent"), nil))
}

func TestFindNeedsPrwarden(t *testing.T) {
	t.Parallel()
	path, err := lookup("absent-program", []string{t.TempDir()})
	assert.Error(t, err)
	assert.Empty(t, path)
}
