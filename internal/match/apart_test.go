package match_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prwarden/prwarden/internal/dev/matchtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

// Hits on lines that are covered, and on those after them when the rule does not
// match on the covered line itself, are apart; nothing else changes.
func TestMatchApartIsTheReference(t *testing.T) {
	t.Parallel()
	apart, followed := 0, 0
	for seed := range uint64(600) {
		s := randomScene(seed)
		m, err := match.Compile(s.rules)
		require.NoError(t, err)
		session := m.NewSession(forever, s.off)
		covers := func(rule, line int) bool { return (uint64(rule)*7+uint64(line)*13+seed)%3 == 0 }
		for _, f := range s.files {
			starts := s.starts(f)
			aside := func(h match.Hit) bool {
				next := covers(h.Rule, h.Line-1)
				if next && !covers(h.Rule, h.Line) && starts[h.Rule][h.Line-1] {
					followed++
				}

				return covers(h.Rule, h.Line) || next && !starts[h.Rule][h.Line-1]
			}
			var want []match.Hit
			var wantApart [match.ApartLists][]match.Hit
			list := func(rule, line int) int { return (rule+line)%match.ApartLists + 1 }
			counts := map[int]int{}
			for _, h := range s.expect(f).hits {
				if aside(h) {
					apart++
					to := &wantApart[list(h.Rule, h.Line)-1]
					*to = append(*to, h)
					continue
				}
				want = append(want, h)
				counts[h.Rule]++
			}
			got, err := session.File(f.path).MatchApart(t.Context(), match.SplitLines(f.content), f.added, s.limit,
				func(rule, line int, before func() bool) int {
					if covers(rule, line) || covers(rule, line-1) && !before() {
						return list(rule, line)
					}

					return 0
				})
			require.NoError(t, err)
			name := fmt.Sprintf("seed %d, rules %+v, text %q", seed, s.rules, f.content)
			require.True(
				t, slices.Equal(want[:min(s.limit, len(want))], got.Hits), "%s\n got %v\nwant %v\nlimit %d apart %v", name,
				got.Hits, want, s.limit, got.Apart,
			)
			for i, want := range wantApart {
				require.True(t, slices.Equal(want[:min(s.limit, len(want))], got.Apart[i].Hits), name)
				require.Len(t, want, got.Apart[i].Count, name)
			}
			require.True(t, maps.Equal(counts, got.Counts), name)
		}
	}

	assert.Greater(t, apart, 1000)
	assert.Greater(t, followed, 100)
}

// What a rule is stopped before it can say of the line before sets nothing apart, as
// if it matched there.
func TestMatchApartStopped(t *testing.T) {
	t.Parallel()
	// The line before has nothing to match and takes more work than there is. The second
	// pattern is so large that it has no automaton, and regexp is asked.
	var text strings.Builder
	large := "needle"

	for i := range 250 {
		fmt.Fprintf(&text, "%b", i)
	}
	for i := range 20 {
		large += fmt.Sprintf("|1[01]{%d}x", 80+i)
	}
	lines := match.SplitLines([]byte(text.String() + "\nneedle\n"))

	for pattern, least := range map[string]int64{"needle|1[01]{8}x": 100, large: 100_000} {
		for budget, want := range map[match.Limit]int{forever: 0, {File: least}: 1} {
			t.Run(fmt.Sprint(least, budget), func(t *testing.T) {
				t.Parallel()
				m, err := match.Compile([]match.Rule{{Pattern: pattern}})
				require.NoError(t, err)
				asked := 0
				got, err := m.NewSession(budget, nil).File("").MatchApart(t.Context(), lines, []match.LineRange{{First: 2,
					Last: 2}}, 0,
					func(_, _ int, before func() bool) int {
						asked++
						if before() {
							return 0
						}

						return 2
					})
				require.NoError(t, err)
				assert.Equal(t, 1, asked)
				assert.Len(t, got.Stopped, want)
				assert.Equal(t, want, got.Counts[0])
				assert.Equal(t, 1-want, got.Apart[1].Count)
			})
		}
	}
}

// starts are the lines where matches of each rule start, added or not.
func (s scene) starts(f file) []map[int]bool {
	lines := make([]map[int]bool, len(s.rules))
	for i, r := range s.rules {
		lines[i] = map[int]bool{}
		if !r.Multiline {
			r.Include, r.Exclude = nil, nil
			r.Supersedes = nil
			for _, h := range matchtest.Reference([]match.Rule{r}, "", f.content, all) {
				lines[i][h.Line] = true
			}

			continue
		}
		text := match.SplitLines(f.content)
		for _, loc := range regexp.MustCompile(r.Pattern).FindAllSubmatchIndex(f.content, -1) {
			if !matchtest.Meets(r.Conditions, f.content, loc) {
				continue
			}
			line, _ := text.At(loc[0])
			lines[i][line] = true
		}
	}

	return lines
}

func TestSpare(t *testing.T) {
	t.Parallel()
	m, err := match.Compile([]match.Rule{{Pattern: "a"}, {Pattern: "b"}})
	require.NoError(t, err)
	for name, off := range map[string][]bool{"all": nil, "some off": {false, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := m.NewSession(forever, off)
			s.Spare([]match.Spare{{Rule: 0, Files: match.NewGlobs([]string{"vendor/**"})}})
			for path, want := range map[string]int{"vendor/x": 0, "x": 1} {
				if off == nil {
					want++
				}
				got, err := s.File(path).Match(t.Context(), match.SplitLines([]byte("ab")), all, 9)
				require.NoError(t, err)
				assert.Len(t, got.Hits, want, path)
			}
		})
	}
}
