package match_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

// finder finds a text, as rules with patterns do.
type finder string

func (f finder) Next(text []byte, at, end int) (match.Span, int, bool) {
	i := bytes.Index(text[at:end], []byte(f))
	if i < 0 {
		return match.Span{}, end - at, false
	}

	return match.Span{Start: at + i, End: at + i + len(f)}, i + len(f), true
}

// A rule with a finder has the hits of a rule whose pattern matches the same.
func TestFinder(t *testing.T) {
	t.Parallel()
	text := match.SplitLines([]byte("foo foo\nno\n\nxfoo!\nfoo\r\nbar foo\nallowed foo"))
	added := []match.LineRange{{First: 1, Last: 2}, {First: 4, Last: 4}, {First: 6, Last: 9}}
	for name, tt := range map[string]struct {
		rule   match.Rule
		others []match.Rule
		want   []int // lines
	}{
		"alone":         {match.Rule{}, nil, []int{1, 4, 6, 7}},
		"languages":     {match.Rule{Languages: []string{"go"}}, nil, nil},
		"paths":         {match.Rule{Exclude: []string{"**/*.x"}}, nil, nil},
		"is superseded": {match.Rule{}, []match.Rule{{Pattern: "bar|!", Supersedes: []int{0}}}, []int{1, 4, 6, 6, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all [2][]match.Hit
			for i := range all {
				r := tt.rule
				if r.Finder = finder("foo"); i == 0 {
					r.Finder, r.Pattern = nil, "foo"
				}
				m, err := match.Compile(append([]match.Rule{r}, tt.others...))
				require.NoError(t, err)
				found, err := m.NewSession(forever, nil).File("a/b.x").Match(t.Context(), text, added, 10)
				require.NoError(t, err)
				all[i] = found.Hits
			}
			assert.Equal(t, all[0], all[1])
			if tt.others == nil {
				var lines []int
				for _, h := range all[1] {
					lines = append(lines, h.Line)
				}
				assert.Equal(t, tt.want, lines)
			}
		})
	}
}

func TestFinderConditions(t *testing.T) {
	t.Parallel()
	rules := []match.Rule{
		{Finder: finder("o"), Conditions: match.Conditions{Allow: []string{"^o$"}}},
		{Finder: finder("b"), Supersedes: []int{2}},
		{Pattern: "foo"},
	}
	m, err := match.Compile(rules)
	require.NoError(t, err)
	text := match.SplitLines([]byte("foo\nfoo b\n"))
	s := m.NewSession(forever, nil)
	asked := map[int]bool{}
	found, err := s.File("x").MatchApart(t.Context(), text, []match.LineRange{{First: 1, Last: 2}}, 10,
		func(_, line int, before func() bool) int { asked[line] = before(); return line - 1 })
	require.NoError(t, err)
	assert.Equal(t, []match.Hit{{Rule: 2, Line: 1, Column: 1, EndLine: 1, EndColumn: 4}}, found.Hits)
	assert.Equal(t, []match.Hit{{Rule: 1, Line: 2, Column: 5, EndLine: 2, EndColumn: 6}}, found.Apart[0].Hits)
	assert.Equal(t, map[int]bool{1: false, 2: false}, asked)
	assert.Positive(t, s.Work(0))
}

// A rule with a finder is stopped as others are.
func TestFinderIsStopped(t *testing.T) {
	t.Parallel()
	m, err := match.Compile([]match.Rule{{Finder: finder("foo")}})
	require.NoError(t, err)
	text := match.SplitLines([]byte("one\ntwo\nfoo\n"))
	found, err := m.NewSession(match.Limit{File: 4}, nil).File("x").
		Match(t.Context(), text, []match.LineRange{{First: 1, Last: 3}}, 10)
	require.NoError(t, err)
	assert.Empty(t, found.Hits)
	assert.Equal(t, []int{0}, found.Stopped)
}
