package scan

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
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

// What is hidden of lines in a plain block is what is hidden of them when they are
// looked at one by one, in files made of what the default rules must and must not
// match.
func TestPlainBlocks(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	weak := rule.Rule{ID: "weak", Type: rule.TypeRegex, Pattern: `^[^ ]*$`, Message: "m", Severity: rule.Low, Redact: true}
	weak.Paths.Include = []string{"weak/**"}
	short := weak
	short.ID, short.Pattern, short.Paths = "short", `(?i)ask$`, rule.Paths{}
	rules = append(rules, weak, short)
	texts := []string{"", "\r", "\r\r", "tas\u212A", "a task\r", "at \"ask", strings.Repeat("task ", match.MaxLine/4)}
	for _, r := range rules {
		texts = slices.Concat(texts, r.Cases.Match, r.Cases.NoMatch)
	}
	s := NewScanner(nil, Options{})
	set, err := s.AddRules(rule.Digest(rules), rules)
	require.NoError(t, err)
	plan, err := s.plan(Request{Rules: set}, nil)
	require.NoError(t, err)
	group := plan.groups[0]

	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a seed makes it repeatable
	plain, hidden := 0, 0
	for i := range 300 {
		var text strings.Builder
		for range 1 + random.IntN(3*blockLines) {
			line := ""
			if random.IntN(4) == 0 {
				line = texts[random.IntN(len(texts))]
			}
			text.WriteString(line + "\n")
		}
		file := group.hits.File([]string{"a.go", "a.py", ".env", "weak/a"}[i%4])
		m := &masker{
			views: []view{{group: group, hitting: file, masking: file}},
			lines: match.SplitLines([]byte(text.String())), out: &fileResult{},
		}
		for n := 1; n <= m.lines.Count(); n++ {
			got, err := m.line(t.Context(), n)
			require.NoError(t, err)
			spans, err := m.spans(t.Context(), m.lines.Line(n), m.lines.Start(n))
			require.NoError(t, err)
			want := newMaskedLine(m.lines.Line(n), spans)
			require.Equal(t, want.hidden, got.hidden, "line %d of %q", n, text.String())

			hidden += len(want.hidden)
			isPlain, err := m.isPlain(t.Context(), n)
			require.NoError(t, err)
			if isPlain {
				plain++
			}
		}
	}
	assert.Greater(t, plain, 100)
	assert.Greater(t, hidden, 100)
}

// A panic ends the scan of one pull request only.
func TestScanFilePanics(t *testing.T) {
	t.Parallel()
	r := scanFile(t.Context(), nil, &File{Content: []byte("x")}, 1)
	require.ErrorContains(t, r.err, "panic: ")
}
