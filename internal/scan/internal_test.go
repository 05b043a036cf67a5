package scan

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// FuzzMask looks for a hidden text in what is shown.
func FuzzMask(f *testing.F) {
	f.Add([]byte("key = tok_secret and tok_secret"), 6, 16, 0, 0)
	f.Add(bytes.Repeat([]byte("é\xff"), 300), 10, 20, 500, 510)
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaa"), 3, 9, 5, 12)
	f.Fuzz(func(t *testing.T, line []byte, a, b, c, d int) {
		var spans []match.Span
		for _, s := range []match.Span{{Start: a, End: b}, {Start: c, End: d}} {
			if 0 <= s.Start && s.Start < s.End && s.End <= len(line) {
				spans = append(spans, s)
			}
		}

		masked := newMaskedLine(line, spans)
		shown := masked.show(0, len(line))

		for at := 0; at < len(line); at += 1 + len(line)/10 {
			snippet := masked.snippet(at)
			require.True(t, utf8.ValidString(snippet))
			require.LessOrEqual(t, len(snippet), MaxSnippet)

			for _, s := range spans {
				// What a mask or a replacement could look like proves nothing.
				text := line[s.Start:s.End]
				if bytes.ContainsRune(text, '*') || bytes.ContainsRune(text, utf8.RuneError) {
					continue
				}

				require.NotContains(t, string(shown), string(text))
				require.NotContains(t, snippet, string(text))
			}
		}

		if len(spans) == 0 {
			require.Equal(t, string(line), string(shown))
		}
	})
}

// A text that is hidden in a long line is hidden everywhere in it; if there are too
// many, all of it is.
func TestMaskLongLine(t *testing.T) {
	t.Parallel()
	line := []byte(strings.Repeat("x", longLine) + "secret" + strings.Repeat("x", longLine) + "secret")
	masked := newMaskedLine(line, []match.Span{{Start: longLine, End: longLine + 6}})

	lead := strings.Repeat("x", snippetLead)
	assert.Equal(t, lead+mask+lead+mask, masked.snippet(longLine)[:snippetLead+4+snippetLead]+masked.snippet(len(line) - 6)[snippetLead:])
	assert.NotContains(t, string(masked.show(0, len(line))), "secret")
	assert.NotEqual(t, masked.identity(longLine), masked.identity(len(line)-6))

	var spans []match.Span
	for i := range maxSearch / len(line) {
		copy(line[10*i:], strconv.Itoa(100_000+i))
		spans = append(spans, match.Span{Start: 10 * i, End: 10*i + 6})
	}
	assert.Equal(t, mask, newMaskedLine(line, spans).snippet(100))
}

// A panic ends the scan of one pull request only.
func TestScanFilePanics(t *testing.T) {
	t.Parallel()
	r := scanFile(t.Context(), nil, &File{Content: []byte("x")}, 1)
	require.ErrorContains(t, r.err, "panic: ")
}

// Of files with very many findings only one for each matcher waits to be taken.
func TestManyFindingsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var matched atomic.Int64
		match := func(context.Context, *File) FileResult {
			matched.Add(1)
			return FileResult{Findings: make([]finding.Finding, manyFindings+1)}
		}
		files := func(context.Context) iter.Seq2[*File, error] {
			return maps.All(map[*File]error{{Path: "a"}: nil, {Path: "b"}: nil, {Path: "c"}: nil, {Path: "d"}: nil})
		}

		taken := 0
		err := pipeline(t.Context(), []matcher{match, match}, files, func(*File, FileResult) error {
			synctest.Wait()
			assert.LessOrEqual(t, matched.Load(), int64(taken+2))
			taken++

			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, 4, taken)
	})
}

// Columns are asked for in any order, and a long line is not counted anew for each.
func TestUTF16Columns(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("aé€😀\xff", 3*markEvery/11)
	s := newFileScan(&plan{}, &File{Path: "a", Content: []byte("x\n" + line)}, []byte("x\n"+line), 1)
	for _, at := range []int{len(line), 0, markEvery, markEvery - 1, len(line) - 1, markEvery + 1, 2 * markEvery, 7} {
		want := 1
		for _, r := range line[:at] {
			want += utf16.RuneLen(r)
		}
		assert.Equal(t, want, s.utf16Column(2, at+1), at)
		assert.Equal(t, 1, s.utf16Column(1, 1))
	}
	assert.Len(t, s.marks[2], len(line)/markEvery)
	assert.Empty(t, s.marks[1])
}

// Who may write to a repository silences nothing with a rule there.
func TestSupersedes(t *testing.T) {
	t.Parallel()
	const def, org, own, file = rule.OriginDefault, rule.OriginCustom, rule.OriginRepository, rule.OriginRulesFile
	for name, c := range map[string]struct {
		by, other rule.Rule
		want      bool
	}{
		"of one ruleset":          {rule.Rule{Origin: file}, rule.Rule{Origin: file}, true},
		"of the organization's":   {rule.Rule{Origin: org}, rule.Rule{Origin: def}, true},
		"of the file":             {rule.Rule{Origin: file}, rule.Rule{Origin: org}, false},
		"of the file, of default": {rule.Rule{Origin: file}, rule.Rule{Origin: def}, false},
		"of the repository":       {rule.Rule{Origin: own}, rule.Rule{Origin: org}, false},
		"a default rule":          {rule.Rule{Origin: def}, rule.Rule{Origin: org}, false},
		"one that is observed":    {rule.Rule{Origin: org, Mode: rule.ModeObserve}, rule.Rule{Origin: org}, false},
		"both are observed": {
			rule.Rule{Origin: org, Mode: rule.ModeObserve}, rule.Rule{Origin: org, Mode: rule.ModeObserve}, true,
		},
		"one that is unsure": {rule.Rule{Origin: org, Confidence: rule.ConfidenceLow}, rule.Rule{Origin: org}, false},
		"both are unsure": {
			rule.Rule{Origin: org, Confidence: rule.ConfidenceLow}, rule.Rule{Origin: org, Confidence: rule.ConfidenceLow}, true,
		},
		"observed, of unsure": {
			rule.Rule{Origin: org, Mode: rule.ModeObserve}, rule.Rule{Origin: org, Confidence: rule.ConfidenceLow}, false,
		},
		"whole files":    {rule.Rule{Origin: org, Multiline: true}, rule.Rule{Origin: org}, false},
		"of whole files": {rule.Rule{Origin: org}, rule.Rule{Origin: org, Multiline: true}, false},
	} {
		c.by.ID, c.other.ID = "a", "custom/b"
		c.by.Supersedes = []string{"b", "unknown"}
		got := supersedes([]rule.Rule{c.by, c.other, {ID: "c", Origin: c.other.Origin}}, c.by)
		assert.Equal(t, c.want, slices.Equal(got, []int{1}), name)
	}
}
