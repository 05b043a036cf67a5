package codehost_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	ruleset "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// diffOf makes the diff of two commits.
func diffOf(t testing.TB, s scan.Source, base, head string, change func(*scan.DiffRequest), paths ...string) (
	finding.Diff, error,
) {
	t.Helper()
	scanner := scan.NewScanner(s, scan.Options{DiffTime: time.Minute})
	rules, err := scanner.AddRules(t.Context(), org, rule.Digest(nil), nil)
	require.NoError(t, err)
	r := scan.DiffRequest{Request: scan.Request{Target: target, Rules: rules}, Paths: paths, Context: 3}
	r.Commits = finding.Commits{Head: head, Base: base}
	if change != nil {
		change(&r)
	}

	return scanner.Diff(t.Context(), r)
}

// unified writes hunks as git does, without their headers' counts and sections.
func unified(hunks []finding.Hunk) string {
	var out strings.Builder
	for _, h := range hunks {
		fmt.Fprintf(&out, "@@ -%d +%d @@\n", h.OldStart, h.NewStart)
		for _, l := range h.Lines {
			fmt.Fprintf(&out, "%c%s\n", " +-"[l.Kind-1], l.Text)
			if l.NoNewline {
				out.WriteString("\\ No newline at end of file\n")
			}
		}
	}

	return out.String()
}

var gitHunk = regexp.MustCompile(`(?m)^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@.*$`)

// plainDiff is what git says of a file, as unified writes it.
func plainDiff(r *Repo, base, head, path string, around int) string {
	out := r.Git("diff", "--no-renames", "--no-color", fmt.Sprintf("-U%d", around), base, head, "--", path)
	at := gitHunk.FindStringIndex(out)
	if at == nil {
		return ""
	}

	out = gitHunk.ReplaceAllStringFunc(out[at[0]:], func(h string) string {
		m := gitHunk.FindStringSubmatch(h)
		var old, now int
		_, _ = fmt.Sscan(m[1]+" "+m[3], &old, &now)
		if m[2] == ",0" {
			old++ // git says the line before
		}
		if m[4] == ",0" {
			now++
		}
		return fmt.Sprintf("@@ -%d +%d @@", old, now)
	})

	return strings.TrimSuffix(out, "\n") + "\n"
}

// Random changes of a text are shown as git shows them.
func TestDiffsAreThoseOfGit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	base, head := map[string]string{}, map[string]string{}
	for i := range 150 {
		var old, now []string
		for n := range random.IntN(60) {
			line := fmt.Sprintf("line %d", n/(1+i%3))
			switch random.IntN(4 + i%20) {
			case 0:
				old = append(old, line)
			case 1:
				now = append(now, line)
			case 2:
				old, now = append(old, line), append(now, line+" changed")
			default:
				old, now = append(old, line), append(now, line)
			}
		}
		ending := func() string { return []string{"\n", ""}[random.IntN(2)] }
		path := fmt.Sprintf("f%03d", i)
		base[path], head[path] = strings.Join(old, "\n")+ending(), strings.Join(now, "\n")+ending()
	}
	r := New(t)
	texts := func(files map[string]string) Files {
		var all []string
		for path, text := range files {
			all = append(all, path, text)
		}
		return Text(all...)
	}
	baseOID, headOID := r.Change(texts(base), texts(head))

	s := source(t, fileHost(r))
	paths := slices.Sorted(maps.Keys(base))
	for _, around := range []int{0, 1, 3} {
		rest := paths
		for len(rest) > 0 {
			got, err := diffOf(t, s, baseOID, headOID, func(r *scan.DiffRequest) { r.Context = around }, rest[:min(50, len(rest))]...)
			require.NoError(t, err)
			for _, f := range got.Files {
				require.Equal(t, plainDiff(r, baseOID, headOID, f.Path, around), unified(f.Hunks), f.Path)
			}
			require.Positive(t, got.Done)
			rest = rest[got.Done:]
		}
	}
}

func TestDiffOfEachKindOfChange(t *testing.T) {
	t.Parallel()
	long := numbered(30)
	r := New(t)
	base := Text("modified", "1\n2\n3\n", "deleted", "x\ny", "old/renamed", long, "same/moved", long+"\nb\n",
		"emptied", "1\n", "binary", "\x00\x01\x02\x03", "type", "file\n", "wide", "1\n", "touched", "t")
	base["module"] = File{Mode: "160000", Text: strings.Repeat("1", 40)}
	head := Text("modified", "1\nx\n3\n", "added", "n\n", "new/renamed", "first\n"+long, "same/here", long+"\nb\n",
		"emptied", "", "binary", "\x00\x01\x02\x04", "wide", strings.Repeat("w", 5<<20), "touched", "t",
		"\xff", "odd\n")
	head["module"] = File{Mode: "160000", Text: strings.Repeat("2", 40)}
	head["type"] = File{Mode: "120000", Text: "modified"}
	baseOID, headOID := r.Change(base, head)

	got, err := diffOf(t, source(t, fileHost(r)), baseOID, headOID, nil, "added", "binary", "deleted", "emptied",
		"modified", "module", "new/renamed", "no such file", "same/here", "touched", "type", "wide", "\ufffd")
	require.NoError(t, err)
	assert.Equal(t, 13, got.Done)
	type file struct {
		path, old      string
		change         finding.Change
		added, removed int
		notShown, text string
	}
	var all []file
	for _, f := range got.Files {
		assert.False(t, f.Truncated, f.Path)
		all = append(all, file{f.Path, f.OldPath, f.Change, f.Added, f.Removed, f.NotShown, unified(f.Hunks)})
	}
	first := strings.Split(long, "\n")
	assert.Equal(t, []file{
		{"added", "", finding.FileAdded, 1, 0, "", "@@ -1 +1 @@\n+n\n"},
		{"binary", "", finding.FileModified, 0, 0, finding.SkipBinary, ""},
		{"deleted", "", finding.FileDeleted, 0, 2, "", "@@ -1 +1 @@\n-x\n-y\n\\ No newline at end of file\n"},
		{"emptied", "", finding.FileModified, 0, 1, "", "@@ -1 +1 @@\n-1\n"},
		{"modified", "", finding.FileModified, 1, 1, "", "@@ -1 +1 @@\n 1\n-2\n+x\n 3\n"},
		{"module", "", finding.FileModified, 0, 0, finding.SkipSubmodule, ""},
		{"new/renamed", "old/renamed", finding.FileRenamed, 1, 0, "",
			"@@ -1 +1 @@\n+first\n " + strings.Join(first[:3], "\n ") + "\n"},
		{"same/here", "same/moved", finding.FileRenamed, 0, 0, "", ""},
		{"type", "", finding.FileModified, 1, 1, "", "@@ -1 +1 @@\n-file\n+modified\n\\ No newline at end of file\n"},
		{"wide", "", finding.FileModified, 0, 0, finding.SkipFileTooLarge, ""},
		{"\xff", "", finding.FileAdded, 1, 0, "", "@@ -1 +1 @@\n+odd\n"},
	}, all)
}

// What is in the cache is shown when the host has it no more, and what is nowhere is a
// lasting failure.
func TestDiffOfCommitsThatAreGone(t *testing.T) {
	t.Parallel()
	r := New(t)
	base, head := r.Change(Text("a", "1\n"), Text("a", "2\n"))
	s := source(t, fileHost(r))
	first, err := diffOf(t, s, base, head, nil, "a")
	require.NoError(t, err)
	require.Len(t, first.Files, 1)
	var f *scan.Failure
	_, err = diffOf(t, s, base, strings.Repeat("1", 40), nil, "a")
	require.ErrorAs(t, err, &f)
	assert.True(t, f.Lasting)
	assert.Equal(t, scan.CodeCommitNotFound, f.Code)

	require.NoError(t, os.RemoveAll(r.Root))
	again, err := diffOf(t, s, base, head, nil, "a")
	require.NoError(t, err)
	assert.Equal(t, first, again)
	_, err = diffOf(t, source(t, fileHost(r)), base, head, nil, "a")
	require.ErrorAs(t, err, &f)
	assert.True(t, f.Lasting, f.Code)
}

// BenchmarkDiff is a diff of 10 files whose commits are in the cache, masked by the
// default rules.
func BenchmarkDiff(b *testing.B) {
	base, head := Files{}, Files{}
	var paths []string
	source, err := os.ReadFile("../scan/scan.go")
	require.NoError(b, err)
	for i := range 10 {
		path := fmt.Sprintf("pkg/f%d.go", i)
		paths = append(paths, path)
		text := fmt.Sprintf("// file %d\n%s", i, source)
		changed := strings.ReplaceAll(text, "\treturn nil, err\n", "\treturn nil, fmt.Errorf(\"scan: %w\", err)\n")
		base[path], head[path] = File{Mode: "100644", Text: text}, File{Mode: "100644", Text: changed}
	}
	r := New(b)
	baseOID, headOID := r.Change(base, head)
	store, err := git.New(git.Options{Dir: b.TempDir(), Limits: git.DefaultLimits()})
	require.NoError(b, err)

	builtin, err := ruleset.Load()
	require.NoError(b, err)
	scanner := scan.NewScanner(atHost{store, fileHost(r)}, scan.Options{})
	rules, err := scanner.AddRules(b.Context(), org, rule.Digest(builtin), builtin)
	require.NoError(b, err)
	request := scan.DiffRequest{Request: scan.Request{Target: target, Rules: rules}, Paths: paths, Context: 3}
	request.Commits = finding.Commits{Head: headOID, Base: baseOID}
	for b.Loop() {
		got, err := scanner.Diff(b.Context(), request)
		require.NoError(b, err)
		require.Len(b, got.Files, 10)
		require.NotEmpty(b, got.Files[9].Hunks)
	}
}
