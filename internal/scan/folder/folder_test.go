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
	"time"

	"github.com/prwarden/prwarden/internal/dev/matchtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
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
	r, err := l.Compile("")
	require.NoError(t, err)
	return r
}

// run is what a scan came to.
type run struct {
	text    string
	notices []folder.Notice
	sum     folder.Summary
	err     error
}

// plainly formats findings as `file:line:column id`.
func plainly(dst []byte, file string, findings []finding.Finding) []byte {
	for _, f := range findings {
		dst = fmt.Appendf(dst, "%s:%d:%d %s\n", file, f.Line, f.Column, f.RuleID)
	}

	return dst
}

func do(ctx context.Context, root string, rules *folder.Rules, jobs int) run {
	var text strings.Builder
	var r run
	r.sum, r.err = folder.Scan(ctx, root, rules, folder.Options{
		Jobs: jobs, Budget: time.Hour, Format: plainly, Out: &text, // the machine may be busy
		Notice: func(n folder.Notice) { r.notices = append(r.notices, n) },
	})

	r.text = text.String()
	return r
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
	r := do(t.Context(), root, rules, 2)
	require.NoError(t, r.err)
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
	assert.Equal(t, folder.Total{Count: 8, Bytes: 75}, r.sum.Scanned)
	assert.Equal(t,
		finding.Summary{rule.Critical: 0, rule.High: 7, rule.Medium: 0, rule.Warning: 0, rule.Low: 2, rule.Info: 0},
		r.sum.Findings)
}

func TestScanSkipsWhatAReviewSkips(t *testing.T) {
	t.Parallel()
	const large = scan.MaxFileSize
	root := tree(t, map[string]string{
		"binary":   "needle\x00",
		"late-nul": "needle" + strings.Repeat(" ", 7994) + "\x00",
		"exact": strings.Repeat("a", 100) + "\n" + strings.Repeat("0123456789abcde\n", (large-101)/16) +
			strings.Repeat("b", (large-101)%16),
		"over":         "needle\n" + strings.Repeat("x", large),
		"long-line":    "needle\n" + strings.Repeat("needle", 3000) + "\nneedle",
		"longest-line": "needle" + strings.Repeat(" ", match.MaxLine-6) + "\r\n",
		"invalid-utf8": "\xff\xfeneedle\xc3\n",
		"vendor/a":     "needle",
		"vendor.txt":   "needle",
		"x/gen/a":      "needle",
		"x/a.min.js":   "needle",
	})

	rules := compile(t, []string{"vendor/**", "**/gen/**", "**/*.min.js"}, needle("a/n", "needle", rule.High),
		needle("a/end", "^b+$", rule.Low))
	r := do(t.Context(), root, rules, 3)
	require.NoError(t, r.err)
	assert.Equal(t, `exact:65531:1 a/end
invalid-utf8:1:3 a/n
late-nul:1:1 a/n
long-line:1:1 a/n
long-line:3:1 a/n
longest-line:1:1 a/n
vendor.txt:1:1 a/n
`, r.text)
	assert.Equal(t, []folder.Notice{
		{Path: "binary", Reason: finding.SkipBinary, Bytes: 7},
		{Path: "long-line", Line: 2, Reason: finding.SkipLineTooLong},
		{Path: "over", Reason: finding.SkipFileTooLarge, Bytes: large + 7},
	}, r.notices)

	assert.Equal(t, map[string]folder.Total{
		finding.SkipBinary: {
			Count: 1,
			Bytes: 7,
		},
		finding.SkipLineTooLong:  {Count: 1},
		finding.SkipFileTooLarge: {Count: 1, Bytes: large + 7},
	}, r.sum.Skipped)
}

// What is written about a scan is not a part of what is scanned.
func TestScanOmits(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"r.json": "needle", "out/r.json": "needle", "out/other.json": "needle"})
	var out strings.Builder
	sum, err := folder.Scan(t.Context(), root, compile(t, nil, needle("n", "needle", rule.High)), folder.Options{
		Format: plainly, Out: &out, Omit: []string{"out/r.json", "other.json", "../r.json"},
	})

	require.NoError(t, err)
	assert.Equal(t, "out/other.json:1:1 custom/n\nr.json:1:1 custom/n\n", out.String())
	assert.Equal(t, 2, sum.Scanned.Count)
	assert.Empty(t, sum.Skipped)
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
	var want strings.Builder

	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		var findings []finding.Finding
		patterns := []match.Rule{{Pattern: list[0].Pattern}, {Pattern: list[1].Pattern}}

		for _, h := range matchtest.Reference(patterns, file, content, []match.LineRange{{First: 1, Last: 1 << 20}}) {
			findings = append(findings, finding.Finding{RuleID: list[h.Rule].FullID(), Line: h.Line, Column: h.Column})
		}

		want.Write(plainly(nil, file, findings))
	}

	require.NotEmpty(t, want.String())

	for _, jobs := range []int{0, 1, 2, 3, 16, 40} {
		r := do(t.Context(), root, rules, jobs)
		require.NoError(t, r.err)
		assert.True(t, want.String() == r.text, "with %d jobs", jobs)
		assert.Equal(t, len(files), r.sum.Scanned.Count)
		assert.Equal(t, strings.Count(r.text, "\n"), r.sum.Findings[rule.High]+r.sum.Findings[rule.Low])
	}
}

// More findings than are kept of a file are counted.
func TestScanOfTooManyFindings(t *testing.T) {
	t.Parallel()
	const lines = 200_000
	root := tree(t, map[string]string{"a": "x\n", "b": strings.Repeat("x\n", lines), "c": "x\n"})
	r := do(t.Context(), root, compile(t, nil, needle("n", "x", rule.High)), 2)
	require.NoError(t, r.err)
	assert.Equal(t, folder.MaxFindings+2, strings.Count(r.text, "\n"))
	assert.Equal(t, []folder.Notice{{Path: "b", Reason: folder.SkipTooManyHits}}, r.notices)
	assert.Equal(t, lines+2, r.sum.Findings[rule.High])
	assert.True(t, strings.HasPrefix(r.text, "a:1:1 custom/n\nb:1:1 custom/n\n"))
	assert.True(t, strings.HasSuffix(r.text, fmt.Sprintf("b:%d:1 custom/n\nc:1:1 custom/n\n", folder.MaxFindings)))

	var out strings.Builder
	sum, err := folder.Scan(t.Context(), root, compile(t, nil, needle("n", "x", rule.High)),
		folder.Options{Jobs: 2, Budget: time.Hour, PlacesOnly: true, Format: plainly, Out: &out})
	require.NoError(t, err)
	assert.Equal(t, folder.MaxPlaces+2, strings.Count(out.String(), "\n"))
	assert.Equal(t, lines+2, sum.Findings[rule.High])
}

// failing takes some bytes and then fails.
type failing struct{ left int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}

	return len(p), nil
}

func TestScanEndsWhenTheOutputFails(t *testing.T) {
	t.Parallel()
	root, _ := randomTree(t, 9)
	rules := compile(t, nil, needle("n", "needle", rule.High))
	_, err := folder.Scan(t.Context(), root, rules, folder.Options{Format: plainly, Out: &failing{left: 5000}})
	require.ErrorIs(t, err, errFull)
}

func TestScanIsInterrupted(t *testing.T) {
	t.Parallel()
	root, files := randomTree(t, 11)
	rules := compile(t, nil, needle("n", "needle", rule.High))
	ctx, cancel := context.WithCancelCause(t.Context())
	sum, err := folder.Scan(ctx, root, rules, folder.Options{Found: func(scan.FileResult) { cancel(errFull) }})
	require.ErrorIs(t, err, errFull)
	assert.Less(t, sum.Scanned.Count, len(files))
}

// A rule that takes too long in one file is stopped there, and goes on in the
// next.
func TestScanStopsSlowRules(t *testing.T) {
	t.Parallel()
	busy := needle("busy", "(?s)x.*z|x", rule.High) // looks for a z from each x
	busy.Multiline = true
	root := tree(t, map[string]string{"a": strings.Repeat("x\n", scan.MaxFileSize/2), "b": "x", "c": "needle\nx"})
	rules := compile(t, nil, busy, needle("n", "needle", rule.High))
	var out strings.Builder
	var notices []folder.Notice
	_, err := folder.Scan(t.Context(), root, rules, folder.Options{
		Jobs: 1, Budget: 300 * time.Millisecond, Format: plainly, Out: &out,
		Notice: func(n folder.Notice) { notices = append(notices, n) },
	})

	require.NoError(t, err)
	_, after, _ := strings.Cut(out.String(), "b:")

	assert.Equal(t, "1:1 custom/busy\nc:1:1 custom/n\nc:2:1 custom/busy\n", after)
	assert.Equal(t, folder.Notice{Path: "a", RuleID: "custom/busy", Reason: finding.SkipRuleTimeout}, notices[0])
}

// Places are of the same findings, without what is for people.
func TestScanOfPlacesOnly(t *testing.T) {
	t.Parallel()
	root, _ := randomTree(t, 13)
	rules := compile(t, nil, needle("n", "needle", rule.High))
	scanned := func(placesOnly bool) (list []finding.Finding) {
		_, err := folder.Scan(t.Context(), root, rules, folder.Options{
			Jobs: 1, PlacesOnly: placesOnly, Found: func(r scan.FileResult) { list = append(list, r.Findings...) },
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
