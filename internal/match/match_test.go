package match_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prwarden/prwarden/internal/dev/matchtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

// forever is work without a limit.
var forever = match.Limit{File: 1 << 60}

// all is every line of a file.
var all = []match.LineRange{{First: 1, Last: 1 << 30}}

func run(t testing.TB, rules []match.Rule, path, content string, added []match.LineRange) match.Result {
	t.Helper()
	m, err := match.Compile(rules)
	require.NoError(t, err)
	got, err := m.NewSession(forever, nil).File(path).Match(t.Context(), match.SplitLines([]byte(content)), added, 1<<20)

	require.NoError(t, err)

	return got
}

// A match that only the removal of lines made counts when it was not there before.
func TestJoined(t *testing.T) {
	t.Parallel()
	const text = "x\nBEGIN\nEND\nBEGIN\ny\nEND\n"
	for name, tt := range map[string]struct {
		added []match.LineRange
		seams []int
		old   int // the line on which a match started before
		want  []int
	}{
		"nothing removed":    {nil, nil, 0, nil},
		"inside":             {nil, []int{3}, 0, []int{2}},
		"inside, and before": {nil, []int{1, 2, 3, 3, 5, 6}, 0, []int{2, 4}},
		"before":             {nil, []int{1, 2, 4, 7}, 0, nil},
		"inside of an old":   {nil, []int{3, 6}, 2, []int{4}},
		"touched as well":    {[]match.LineRange{{3, 3}}, []int{3}, 2, []int{2}},
	} {
		m, err := match.Compile([]match.Rule{{Pattern: `BEGIN\s(.\s)?END`, Multiline: true}, {Pattern: "BEGIN"}})
		require.NoError(t, err, name)
		isNew := func(rule, line int) bool { return rule == 0 && line != tt.old }
		file := m.NewSession(forever, nil).File("").Joined(tt.seams, isNew).Subset(func(int) bool { return true })
		got, err := file.Match(t.Context(), match.SplitLines([]byte(text)), tt.added, 9)
		require.NoError(t, err, name)
		var lines []int
		for _, h := range got.Hits {
			if h.Rule == 0 {
				lines = append(lines, h.Line)
			}
		}
		assert.Equal(t, tt.want, lines, name)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	hit := func(rule, line, column, endLine, endColumn int) match.Hit {
		return match.Hit{Rule: rule, Line: line, Column: column, EndLine: endLine, EndColumn: endColumn}
	}
	line := func(patterns ...string) []match.Rule {
		var rules []match.Rule
		for _, p := range patterns {
			rules = append(rules, match.Rule{Pattern: p})
		}

		return rules
	}
	multi := func(p string) []match.Rule { return []match.Rule{{Pattern: p, Multiline: true}} }
	tests := map[string]struct {
		rules   []match.Rule
		path    string
		content string
		added   []match.LineRange
		want    []match.Hit
	}{
		"first match on the line": {line(`eval\(`), "", "eval(eval(\n", all, []match.Hit{hit(0, 1, 1, 1, 6)}},
		"by line, then by rule": {
			line(`bbb`, `aaa`), "", "aaa bbb\nbbb\n", all,
			[]match.Hit{hit(0, 1, 5, 1, 8), hit(1, 1, 1, 1, 4), hit(0, 2, 1, 2, 4)},
		},
		"added lines only": {
			line(`xyz`), "", "xyz\nxyz\nxyz\nxyz", []match.LineRange{{2, 2}, {4, 9}},
			[]match.Hit{hit(0, 2, 1, 2, 4), hit(0, 4, 1, 4, 4)},
		},
		"no added lines": {line(`xyz`), "", "xyz", nil, nil},
		"empty file":     {line(`xyz`), "", "", all, nil},
		"anchors are the line's": {
			line(`^abc$`, `\Aabc\z`), "", "x\nabc\nabcd", all, []match.Hit{hit(0, 2, 1, 2, 4), hit(1, 2, 1, 2, 4)},
		},
		"CRLF is removed":                {line(`abc$`, `\r`), "", "abc\r\n", all, []match.Hit{hit(0, 1, 1, 1, 4)}},
		"one CR is removed":              {line(`abc\r$`), "", "abc\r\r\n", all, []match.Hit{hit(0, 1, 1, 1, 5)}},
		"CR at the end of file stays":    {line(`abc\r$`), "", "abc\r", all, []match.Hit{hit(0, 1, 1, 1, 5)}},
		"an empty line with CR":          {line(`x?\r`), "", "\r\n", all, nil},
		"no newline at the end":          {line(`^abc$`), "", "abc", all, []match.Hit{hit(0, 1, 1, 1, 4)}},
		"invalid UTF-8 before":           {line(`secret`), "", "\xff\xfesecret", all, []match.Hit{hit(0, 1, 3, 1, 9)}},
		"invalid UTF-8 within":           {line(`sec.et`), "", "sec\xffet", all, []match.Hit{hit(0, 1, 1, 1, 7)}},
		"U+FFFD matches an invalid byte": {line(`abc\x{FFFD}def`), "", "abc\x80def", all, []match.Hit{hit(0, 1, 1, 1, 8)}},
		"NUL":                            {line(`a.b`), "", "a\x00b", all, []match.Hit{hit(0, 1, 1, 1, 4)}},
		"case folding": {
			line(`(?i)secret_key`), "", "SECRET_KEY ſecret_\u212aey", all, []match.Hit{hit(0, 1, 1, 1, 11)},
		},
		"case folding beyond ASCII": {line(`(?i)secret_key`), "", "ſecret_\u212aey", all, []match.Hit{hit(0, 1, 1, 1, 14)}},
		"case matters":              {line(`Secret`), "", "secret\nSecret", all, []match.Hit{hit(0, 2, 1, 2, 7)}},
		"columns are bytes":         {line(`xyz`), "", "éxyz", all, []match.Hit{hit(0, 1, 3, 1, 6)}},
		"include": {
			[]match.Rule{{Pattern: `xyz`, Include: []string{"**/*.go"}}}, "a/b.go", "xyz", all,
			[]match.Hit{hit(0, 1, 1, 1, 4)},
		},
		"not included": {
			[]match.Rule{{Pattern: `xyz`, Include: []string{"**/*.go"}}}, "a/b.py", "xyz", all, nil,
		},
		"excluded": {
			[]match.Rule{{Pattern: `xyz`, Include: []string{"**"}, Exclude: []string{"a/**"}}}, "a/b.py", "xyz", all, nil,
		},
		"a path too long for globs": {
			[]match.Rule{{Pattern: `xyz`, Exclude: []string{"**"}}}, strings.Repeat("a", 4097), "xyz", all,
			[]match.Hit{hit(0, 1, 1, 1, 4)},
		},

		"multiline": {
			multi(`(?s)BEGIN.*?END`), "", "BEGIN\nEND\n", all, []match.Hit{hit(0, 1, 1, 2, 4)},
		},
		"multiline touches": {
			multi(`(?s)BEGIN.*?END`), "", "BEGIN\nx\nEND\n", []match.LineRange{{2, 2}}, []match.Hit{hit(0, 1, 1, 3, 4)},
		},
		"multiline does not touch": {
			multi(`(?s)BEGIN.*?END`), "", "BEGIN\nx\nEND\ny\n", []match.LineRange{{4, 4}}, nil,
		},
		"multiline includes the newline": {multi(`END\n`), "", "END\ny\n", all, []match.Hit{hit(0, 1, 1, 1, 5)}},
		"multiline keeps CR":             {multi(`a\r\nb`), "", "a\r\nb", all, []match.Hit{hit(0, 1, 1, 2, 2)}},
		"multiline anchors": {
			multi(`(?m)^b$`), "", "ab\nb\nb", all, []match.Hit{hit(0, 2, 1, 2, 2), hit(0, 3, 1, 3, 2)},
		},
		"multiline begin of text": {multi(`\Aab`), "", "abab\nab", all, []match.Hit{hit(0, 1, 1, 1, 3)}},
		"multiline word boundary": {multi(`\bab\b|.`), "", "xab ab", all, []match.Hit{hit(0, 1, 1, 1, 2)}},
		"multiline, once for a line": {
			multi(`a.`), "", "abac\nad", all, []match.Hit{hit(0, 1, 1, 1, 3), hit(0, 2, 1, 2, 3)},
		},
		"multiline, the touching one": {
			multi(`(?s)a.b`), "", "a-b a\nb", []match.LineRange{{2, 2}}, []match.Hit{hit(0, 1, 5, 2, 2)},
		},
		"multiline does not overlap":      {multi(`(?s)a.a`), "", "a\na\na", []match.LineRange{{3, 3}}, nil},
		"multiline after an invalid byte": {multi(`(?s)\bx.`), "", "\xffx\xffx\n", all, []match.Hit{hit(0, 1, 2, 1, 4)}},
		"multiline and line rules together": {
			[]match.Rule{{Pattern: "(?s)a.b", Multiline: true}, {Pattern: "aaa"}, {Pattern: "b"}}, "", "aaa\nb", all,
			[]match.Hit{hit(0, 1, 3, 2, 2), hit(1, 1, 1, 1, 4), hit(2, 2, 1, 2, 2)},
		},
	}

	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, tt.rules, tt.path, tt.content, tt.added)
			assert.Equal(t, tt.want, got.Hits)
			assert.Empty(t, got.Stopped)
			assert.Equal(t, tt.want, matchtest.Reference(tt.rules, tt.path, []byte(tt.content), tt.added), "the reference")
		})
	}
}

// A line has no length at which anything changes.
func TestLongLines(t *testing.T) {
	t.Parallel()
	rules := []match.Rule{
		{Pattern: "xyz"}, {Pattern: "xyz", Multiline: true}, {Pattern: `(?i)Token[0-9]{9}$`}, {Pattern: `^-+x`},
		{Pattern: `q[^q]{1,1000}[^q]{1,1000}q`}, {Pattern: `\b\d+\b`}, {Pattern: `[+*]{2}`}, {Pattern: `start.*end`},
	}
	var content strings.Builder
	for _, length := range []int{1 << 14, 1<<14 + 1, 1 << 15, 3<<14 + 7, 1 << 20} {
		for _, text := range []string{"xyz", "to\u212aen123456789", "q" + strings.Repeat("r", 1500) + "q", "7", "**"} {
			for _, at := range []int{0, 1<<14 - 2, 1 << 14, length - len(text)} {
				if at+len(text) <= length {
					filler := strings.Repeat("-", length)
					content.WriteString(filler[:at] + text + filler[at+len(text):] + "\n")
				}
			}
		}
	}
	content.WriteString("start" + strings.Repeat("-", 1<<18) + "end\r\n")
	text := content.String()

	got := run(t, rules, "", text, []match.LineRange{{1, 30}, {33, 1 << 30}})
	want := matchtest.Reference(rules, "", []byte(text), []match.LineRange{{1, 30}, {33, 1 << 30}})
	assert.Equal(t, want, got.Hits)
	assert.Greater(t, len(want), 90)
	assert.Empty(t, got.Stopped)
}

func TestLimit(t *testing.T) {
	t.Parallel()
	rules := []match.Rule{{Pattern: "abc"}, {Pattern: "x", Multiline: true}, {Pattern: "b"}}
	content := strings.Repeat("abc x\n", 1000)
	want := matchtest.Reference(rules, "", []byte(content), all)
	m, err := match.Compile(rules)

	require.NoError(t, err)
	for _, limit := range []int{0, 1, 2, 100, 2999, 3000, 5000} {
		got, err := m.NewSession(forever, nil).File("").Match(t.Context(), match.SplitLines([]byte(content)), all, limit)
		require.NoError(t, err)
		assert.Equal(t, map[int]int{0: 1000, 1: 1000, 2: 1000}, got.Counts)
		require.Len(t, got.Hits, min(limit, 3000))
		assert.Equal(t, want[:len(got.Hits)], append([]match.Hit{}, got.Hits...))
	}
}

func TestRulesThatAreOff(t *testing.T) {
	t.Parallel()
	m, err := match.Compile([]match.Rule{{Pattern: "aaa"}, {Pattern: "a"}, {Pattern: "a", Multiline: true}})
	require.NoError(t, err)
	got, err := m.NewSession(forever, []bool{true, false, true}).File("x").Match(
		t.Context(), match.SplitLines([]byte("aaa")), all, 9,
	)

	require.NoError(t, err)
	require.Len(t, got.Hits, 1)
	assert.Equal(t, 1, got.Hits[0].Rule)
}

// slow is a pattern and a text on which regexp takes quadratic time, after a
// first match that it finds at once.
func slow() (match.Rule, string) {
	return match.Rule{
		Pattern: `first|(?s)a.*z|a`, Multiline: true,
	}, "first\n" + strings.Repeat(strings.Repeat("a", 100)+"\n", 2000)
}

func TestLimitOfWork(t *testing.T) {
	t.Parallel()
	rule, text := slow()
	m, err := match.Compile([]match.Rule{rule, {Pattern: "needle"}})
	require.NoError(t, err)
	s := m.NewSession(match.Limit{File: 100 << 20}, nil)
	lines := match.SplitLines([]byte("needle\n" + text))

	var first match.Result
	for i, path := range []string{"first", "second"} {
		got, err := s.File(path).Match(t.Context(), lines, all, 1<<20)
		require.NoError(t, err)
		assert.Equal(t, []int{0}, got.Stopped, "it would take hours")
		assert.Contains(t, got.Hits, match.Hit{Rule: 1, Line: 1, Column: 1, EndLine: 1, EndColumn: 7}, "the others go on")
		assert.Contains(
			t, got.Hits, match.Hit{Rule: 0, Line: 2, Column: 1, EndLine: 2, EndColumn: 6}, "what was found stays: %v",
			got.Hits,
		)
		if i == 0 {
			first = got
		}
		assert.Equal(t, first, got, "no file takes anything from another")
	}

	f := s.File("third")
	spans, ok, err := f.Spans(t.Context(), lines.Text(), 0, 0)
	require.NoError(t, err)
	assert.False(t, ok)
	assert.NotEmpty(t, spans)
	_, ok, err = f.Spans(t.Context(), []byte("aaa"), 0, 0)
	require.NoError(t, err)
	assert.False(t, ok, "its work is used up in this file")
	_, ok, err = s.File("fourth").Spans(t.Context(), []byte("aaa"), 0, 0)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Greater(t, s.Work(0), int64(300<<20))
	assert.Less(t, s.Work(0), int64(310<<20))
}

// What rules do is the same whatever automata have seen before, and whoever works
// beside them.
func TestWorkIsTheSame(t *testing.T) {
	t.Parallel()
	rules := append(defaultRules(), thousandRules()...)
	rules = append(rules, match.Rule{Pattern: `[a-z]+`}, match.Rule{Pattern: `\b[a-f]*a[a-f]{14}\b`})
	text := plant([]byte(strings.Repeat("import os; key = 'abcdef' # todo\nfunc main() { return 1 }\n", 1500)), rules, 1)
	used, err := match.Compile(rules)
	require.NoError(t, err)

	work := func(m *match.Matcher) []int64 {
		s := m.NewSession(forever, nil)
		_, err := s.File("a.py").Match(t.Context(), match.SplitLines(text), all, 100)
		require.NoError(t, err)
		list := make([]int64, len(rules))
		for i := range list {
			list[i] = s.Work(i)
		}

		return list
	}
	want := work(used)
	for seed := range uint64(3) {
		other := plant([]byte(strings.Repeat("x\n", 3000)), rules, seed+2)
		_, err := used.NewSession(forever, nil).File("").Match(t.Context(), match.SplitLines(other), all, 100)
		require.NoError(t, err)
		require.Equal(t, want, work(used))
	}
	fresh, err := match.Compile(rules)
	require.NoError(t, err)
	assert.Equal(t, want, work(fresh))
}

// A large program on a large text is one search that regexp can't be stopped
// in, but for the reader.
func TestLimitWithinOneSearch(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]match.Rule{
		"multiline":        {Pattern: `(?s)(?:x.{0,30}){30}END`, Multiline: true},
		"multiline onward": {Pattern: `x{20}\b|(?s)(?:x.{0,30}){30}END`, Multiline: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, match.CheckPattern(rule.Pattern))
			m, err := match.Compile([]match.Rule{rule})
			require.NoError(t, err)
			text := strings.Repeat("x", 20) + "\n" + strings.Repeat("x y", 1<<18) + "END"
			s := m.NewSession(match.Limit{File: 8 << 20}, nil)
			got, err := s.File("").Match(t.Context(), match.SplitLines([]byte(text)), []match.LineRange{{1, 1}}, 9)
			require.NoError(t, err)
			assert.Equal(t, []int{0}, got.Stopped)
			assert.Less(t, s.Work(0), int64(9<<20))
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	rule, text := slow()
	m, err := match.Compile([]match.Rule{rule})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	got, err := m.NewSession(forever, nil).File("").Match(ctx, match.SplitLines([]byte(text)), all, 9)

	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Empty(t, got.Stopped, "the scan is over, not the rule's time")
	assert.Less(t, time.Since(start), time.Minute, "it would take hours")
}

func TestSpansAndCandidates(t *testing.T) {
	t.Parallel()
	m, err := match.Compile([]match.Rule{
		{Pattern: `key-\d+`}, {Pattern: `other`}, {Pattern: `\d`}, {Pattern: `(?s)key.`, Multiline: true},
		{Pattern: `key`, Include: []string{"nowhere"}},
	})

	require.NoError(t, err)
	s := m.NewSession(forever, nil)
	f := s.File("a")
	text := []byte("key-12 KEY-3 key-4")

	assert.Equal(t, []int{0, 2}, f.Candidates(text, false))
	assert.Equal(t, []int{3}, f.Candidates(text, true))
	spans, ok, err := f.Spans(t.Context(), text, len(text), 0)
	require.NoError(t, err)

	assert.True(t, ok)
	assert.Equal(t, []match.Span{{Start: 0, End: 6}, {Start: 13, End: 18}}, spans)
}

func TestCompileFails(t *testing.T) {
	t.Parallel()
	_, err := match.Compile([]match.Rule{{Pattern: "a"}, {Pattern: "("}})
	require.ErrorContains(t, err, "rule 1")
}

func TestLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                nil,
		"a":               {"a"},
		"a\n":             {"a"},
		"\n":              {""},
		"\r\n\n":          {"", ""},
		"a\r\nb\rc\r\r\n": {"a", "b\rc\r"},
		"\r":              {"\r"},
	} {
		lines := match.SplitLines([]byte(text))
		var got []string
		for n := 1; n <= lines.Count(); n++ {
			got = append(got, string(lines.Line(n)))
		}
		assert.Equal(t, want, got, "%q", text)
	}

	assert.Zero(t, match.Lines{}.Count())
}
