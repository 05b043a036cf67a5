package folder_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prwarden/prwarden/internal/dev/matchtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// tree writes files, with the directories that they need, and returns the
// folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()

	for name, content := range files {
		write(t, root, name, content)
	}

	return root
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// needle is a rule that looks for a word.
func needle(id, word string, s rule.Severity) rule.Rule {
	return rule.Rule{ID: id, Type: rule.TypeRegex, Pattern: word, Message: "m", Severity: s}
}

func compile(t *testing.T, exclude []string, rules ...rule.Rule) *folder.Rules {
	t.Helper()
	l := folder.Loaded{File: &rule.File{Rules: rules, Exclude: exclude}}
	r, err := l.Compile("", nil)
	require.NoError(t, err)
	return r
}

// run is what a scan came to.
type run struct {
	text    string
	notices []folder.Notice
	sum     folder.Summary
}

// plainly formats findings as `file:line:column id`.
func plainly(dst []byte, findings []finding.Finding) []byte {
	for _, f := range findings {
		dst = fmt.Appendf(dst, "%s:%d:%d %s\n", f.File, f.Line, f.Column, f.RuleID)
	}

	return dst
}

func do(t *testing.T, root string, rules *folder.Rules, o folder.Options) run {
	t.Helper()
	var text []byte
	var r run
	o.Found = func(f scan.FileResult) error { text = plainly(text, f.Findings); return nil }
	o.Notice = func(n folder.Notice) { r.notices = append(r.notices, n) }
	var err error
	r.sum, err = folder.Scan(t.Context(), root, rules, o)
	require.NoError(t, err)
	r.text = string(text)

	return r
}

func notice(reason, file string) folder.Notice {
	return folder.Notice{Skip: finding.Skip{File: file, Reason: reason}}
}

func TestScan(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"a.txt":            "x\nneedle\n",
		"a/z.txt":          "needle",
		"a-b.txt":          "needle needle\r\nthread and needle\r\n",
		"b/empty":          "",
		"b/c/d/e/deep.txt": "  needle",
		".hidden/f":        "thread",
		".git/config":      "needle",
		"sub/.git":         "gitdir: needle",
		"sub/.gitignore":   "needle",
		".GIT/config":      "needle",
	})

	rules := compile(t, nil, needle("z/needle", "needle$", rule.High), needle("thread", "thread", rule.Low))
	r := do(t, root, rules, folder.Options{})
	// In the order of git ls-files; lines before rules, rules by their full ids.
	assert.Equal(t, `.GIT/config:1:1 z/needle
.hidden/f:1:1 custom/thread
a-b.txt:1:8 z/needle
a-b.txt:2:1 custom/thread
a-b.txt:2:12 z/needle
a.txt:2:1 z/needle
a/z.txt:1:1 z/needle
b/c/d/e/deep.txt:1:3 z/needle
sub/.gitignore:1:1 z/needle
`, r.text)
	assert.Empty(t, r.notices)
	assert.Equal(t, 8, r.sum.Scanned)
	assert.Equal(t,
		finding.Summary{rule.Critical: 0, rule.High: 7, rule.Medium: 0, rule.Warning: 0, rule.Low: 2, rule.Info: 0},
		r.sum.Findings)
}

// What is excluded is counted, without being read; what is locked looks there too, and
// nothing in the rules file is silent.
func TestExcludes(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"a.txt": "needle", "vendor/x/a.txt": "needle", "vendor/b.txt": "thread", "gen.txt": "thread\x00\x00",
	})
	l := folder.Loaded{
		Defaults: []rule.Rule{needle("z/needle", "needle", rule.High), needle("z/thread", "thread", rule.Low)},
		File:     &rule.File{Exclude: []string{"vendor/**", "gen*"}, Disable: []rule.Disabled{{ID: "z/needle"}, {ID: "z/thread"}}},
	}
	for i := range l.Defaults {
		l.Defaults[i].Origin = rule.OriginDefault
	}
	off := func(id string) finding.SwitchedOff {
		return finding.SwitchedOff{RuleID: id, By: finding.ByRepository, How: finding.HowDisable}
	}

	rules, err := l.Compile("", nil)
	require.NoError(t, err)
	r := do(t, root, rules, folder.Options{})
	assert.Empty(t, r.text)
	assert.Empty(t, r.notices)
	assert.Equal(t, 3, r.sum.Excluded)
	assert.Equal(t, []finding.SwitchedOff{off("z/needle"), off("z/thread")}, r.sum.SwitchedOff)

	locked := policy.Default()
	locked.Locked.Rules = []string{"z/needle"}
	rules, err = l.Compile("", &locked)
	require.NoError(t, err)
	r = do(t, root, rules, folder.Options{})
	assert.Equal(t, "a.txt:1:1 z/needle\nvendor/x/a.txt:1:1 z/needle\n", r.text)
	assert.Equal(t, 3, r.sum.Excluded)
	assert.Equal(t, []finding.SwitchedOff{off("z/thread")}, r.sum.SwitchedOff)
}

func TestScanSkipsWhatAReviewSkips(t *testing.T) {
	t.Parallel()
	const large = 1 << 20
	root := tree(t, map[string]string{
		"binary":    "needle\x00\x01\x02\xff\xfe\x80\x90\x05",
		"late-nul":  "needle" + strings.Repeat(" ", 7994) + "\x00",
		"early-nul": "needle" + strings.Repeat(" ", 20) + "\x00",
		"exact": strings.Repeat("a", 100) + "\n" + strings.Repeat("0123456789abcde\n", (large-101)/16) +
			strings.Repeat("b", (large-101)%16),
		"over":         "needle\n" + strings.Repeat("x", large),
		"long-line":    "needle\n" + strings.Repeat("needle", 3000) + "\nneedle",
		"invalid-utf8": "\xff\xfeneedle\xc3\n",
		"vendor/a":     "needle",
		"vendor.txt":   "needle",
		"x/gen/a":      "needle",
		"x/a.min.js":   "needle",
	})

	rules := compile(t, []string{"vendor/**", "**/gen/**", "**/*.min.js"}, needle("a/n", "needle", rule.High),
		needle("a/end", "^b+$", rule.Low))
	r := do(t, root, rules, folder.Options{MaxFileSize: large})
	assert.Equal(t, `early-nul:1:1 a/n
exact:65531:1 a/end
invalid-utf8:1:3 a/n
late-nul:1:1 a/n
long-line:1:1 a/n
long-line:2:1 a/n
long-line:3:1 a/n
vendor.txt:1:1 a/n
`, r.text)
	assert.Equal(t, []folder.Notice{
		notice(finding.SkipBinary, "binary"),
		notice(finding.SkipFileTooLarge, "over"),
	}, r.notices)

	assert.Equal(t,
		map[string]int{finding.SkipBinary: 1, finding.SkipFileTooLarge: 1}, r.sum.Skipped)
}

// What is written about a scan is not a part of what is scanned.
func TestScanOmits(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"r.json": "needle", "out/r.json": "needle", "out/other.json": "needle"})
	r := do(t, root, compile(t, nil, needle("n", "needle", rule.High)),
		folder.Options{Omit: []string{"out/r.json", "other.json", "../r.json"}})
	assert.Equal(t, "out/other.json:1:1 custom/n\nr.json:1:1 custom/n\n", r.text)
	assert.Equal(t, 2, r.sum.Scanned)
	assert.Empty(t, r.sum.Skipped)
}

// randomTree writes some hundred files of words and returns the folder and its
// files in the order of their bytes.
func randomTree(t *testing.T, seed uint64) (root string, files []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	names := []string{"a", "a-", "a.", "a0", "b", "é", "B", "zz"}
	root = t.TempDir()

	for range 400 {
		name := ""
		for range 1 + random.IntN(4) {
			name += "/d" + names[random.IntN(len(names))]
		}

		name = name[1:] + "/f" + names[random.IntN(len(names))]
		var text strings.Builder

		for range random.IntN(2000) {
			text.WriteString([]string{"needle", "thread", "\n", " ", "hay"}[random.IntN(5)])
		}

		write(t, root, name, text.String())
		files = append(files, name)
	}

	slices.Sort(files)
	return root, slices.Compact(files)
}

// The output is that of the reference on each file, in the order of files,
// whatever the number of jobs.
func TestScanIsDeterministic(t *testing.T) {
	t.Parallel()
	root, files := randomTree(t, 7)
	list := []rule.Rule{needle("a/needle", "needle", rule.High), needle("b/thread", "thread ?hay", rule.Low)}
	rules := compile(t, nil, list...)
	var want []byte

	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		var findings []finding.Finding
		patterns := []match.Rule{{Pattern: list[0].Pattern}, {Pattern: list[1].Pattern}}

		for _, h := range matchtest.Reference(patterns, file, content, []match.LineRange{{First: 1, Last: 1 << 20}}) {
			f := finding.Finding{RuleID: list[h.Rule].FullID(), File: file, Line: h.Line, Column: h.Column}
			findings = append(findings, f)
		}

		want = plainly(want, findings)
	}

	require.NotEmpty(t, want)

	for _, jobs := range []int{0, 1, 2, 3, 16, 40} {
		r := do(t, root, rules, folder.Options{Jobs: jobs})
		assert.True(t, string(want) == r.text, "with %d jobs", jobs)
		assert.Equal(t, len(files), r.sum.Scanned)
		assert.Equal(t, strings.Count(r.text, "\n"), r.sum.Findings[rule.High]+r.sum.Findings[rule.Low])
	}
}

// More findings than are kept of a file are counted.
func TestScanOfTooManyFindings(t *testing.T) {
	t.Parallel()
	const lines = 200_000
	root := tree(t, map[string]string{"a": "x\n", "b": strings.Repeat("x\n", lines), "c": "x\n"})
	rules := compile(t, nil, needle("n", "x", rule.High))
	r := do(t, root, rules, folder.Options{})
	assert.Equal(t, folder.MaxFindings+2, strings.Count(r.text, "\n"))
	assert.Equal(t, []folder.Notice{notice(folder.SkipTooManyHits, "b")}, r.notices)
	assert.Equal(t, lines+2, r.sum.Findings[rule.High])
	assert.True(t, strings.HasPrefix(r.text, "a:1:1 custom/n\nb:1:1 custom/n\n"))
	assert.True(t, strings.HasSuffix(r.text, fmt.Sprintf("b:%d:1 custom/n\nc:1:1 custom/n\n", folder.MaxFindings)))

	r = do(t, root, rules, folder.Options{PlacesOnly: true})
	assert.Equal(t, folder.MaxPlaces+2, strings.Count(r.text, "\n"))
	assert.Equal(t, lines+2, r.sum.Findings[rule.High])
}

func TestScanEndsWithAnError(t *testing.T) {
	t.Parallel()
	root, files := randomTree(t, 9)
	rules := compile(t, nil, needle("n", "needle", rule.High))
	errFull := errors.New("no space left")
	sum, err := folder.Scan(t.Context(), root, rules, folder.Options{
		Found: func(scan.FileResult) error { return errFull },
	})
	require.ErrorIs(t, err, errFull)
	assert.Equal(t, 1, sum.Scanned)

	ctx, cancel := context.WithCancelCause(t.Context())
	sum, err = folder.Scan(ctx, root, rules, folder.Options{
		Found: func(scan.FileResult) error { cancel(errFull); return nil },
	})
	require.ErrorIs(t, err, errFull)
	assert.Less(t, sum.Scanned, len(files))
}

// A rule that takes too long in one file is stopped there, and goes on in the
// next.
func TestScanStopsSlowRules(t *testing.T) {
	t.Parallel()
	busy := needle("busy", "(?s)x.*z|x", rule.High) // looks for a z from each x
	busy.Multiline = true
	root := tree(t, map[string]string{"a": strings.Repeat("x\n", 100<<10), "b": "x", "c": "needle\nx"})
	rules := compile(t, nil, busy, needle("n", "needle", rule.High))
	r := do(t, root, rules, folder.Options{Jobs: 1})
	_, after, _ := strings.Cut(r.text, "b:")

	assert.Equal(t, "1:1 custom/busy\nc:1:1 custom/n\nc:2:1 custom/busy\n", after)
	assert.Equal(t, finding.Skip{
		File: "a", RuleID: "custom/busy", Reason: finding.SkipRuleStopped, Severity: rule.High,
	}, r.notices[0].Skip)
}

// Places are of the same findings, without what is for people.
func TestScanOfPlacesOnly(t *testing.T) {
	t.Parallel()
	root, _ := randomTree(t, 13)
	rules := compile(t, nil, needle("n", "needle", rule.High))
	scanned := func(placesOnly bool) (list []finding.Finding) {
		_, err := folder.Scan(t.Context(), root, rules, folder.Options{
			PlacesOnly: placesOnly,
			Found:      func(r scan.FileResult) error { list = append(list, r.Findings...); return nil },
		})
		require.NoError(t, err)
		return list
	}

	whole := scanned(false)
	require.NotEmpty(t, whole)

	for i := range whole {
		f := &whole[i]
		assert.NotEmpty(t, f.Fingerprint)
		assert.NotEmpty(t, f.LineHash)
		f.Snippet, f.Fingerprint, f.LineHash, f.UTF16Column, f.UTF16EndColumn = "", "", "", 0, 0
	}

	assert.Equal(t, whole, scanned(true))
}
