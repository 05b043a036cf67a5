package scan

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
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

// A long line of which a part is hidden is hidden as a whole.
func TestMaskLongLine(t *testing.T) {
	t.Parallel()
	line := []byte(strings.Repeat("x", match.MaxLine+1))
	masked := newMaskedLine(line, []match.Span{{Start: 5, End: 6}})

	assert.Equal(t, mask, string(masked.show(0, len(line))))
	assert.Equal(t, mask, masked.snippet(100))
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
