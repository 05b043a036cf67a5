package match_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

func TestLooksRandom(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "hunter": false, "k3J9xQ2mZ8vL5nR7": true, "9f86d081884c7d659a2feaa0c55ad015": true,
		"9F86D081-884C-7D65-9A2F-EAA0C55AD015": true, "settingsForTheConnection": false,
		"xxxxxxxxxxxxxxxxxxxxxxx1": false, "abcdefghijklmnop12345678": false, "87654321hgfedcba": false,
		"12345678-ABCD-ABCD-ABCD-1234567890AB": false, "k3J9xQ2m00000000": false, "4815162342108": false,
		"a1a1a1a1a1a1a1a1a1a1": false, "aBcDeFgHiJkLmNoP0123q": false,
	} {
		assert.Equal(t, want, match.LooksRandom([]byte(text), 0), text)
	}

	assert.True(t, match.LooksRandom([]byte("settings"), 2), "a given limit asks for nothing else")
	assert.False(t, match.LooksRandom([]byte("settings"), 3))
	assert.False(t, match.LooksRandom([]byte("xxxxxxxxabcd"), 0.1), "but a placeholder is none")
}

// Of several matches on a line the first that meets the conditions is the hit.
func TestConditions(t *testing.T) {
	t.Parallel()
	const pattern = `key=(?:"(\w+)"|\w+)`
	for name, c := range map[string]struct {
		conditions match.Conditions
		text       string
		want       int // column
	}{
		"none":                  {match.Conditions{}, `key=aaaa`, 1},
		"entropy":               {match.Conditions{Entropy: &match.Entropy{Min: 2, Group: 1}}, `key="aaaa" key="q8x1"`, 12},
		"a group that is away":  {match.Conditions{Entropy: &match.Entropy{Min: 2, Group: 1}}, `key=ab`, 1},
		"a checksum":            {match.Conditions{Checksum: "github"}, `key=q_a11zcezy key=q_a11zcezz`, 16},
		"a stop word":           {match.Conditions{Stopwords: []string{"exAMple"}}, `key=Example7 key=a`, 14},
		"in what is not judged": {match.Conditions{Entropy: &match.Entropy{Group: 1, Min: 1}, Stopwords: []string{"key"}}, `key="ab"`, 1},
		"allowed":               {match.Conditions{Allow: []string{`^key=a+$`}}, `key=aaaa key=ab`, 10},
		"nothing left":          {match.Conditions{Allow: []string{`^key=a+$`}}, `key=aaaa`, 0},
	} {
		for _, multiline := range []bool{false, true} {
			m, err := match.Compile([]match.Rule{{Pattern: pattern, Multiline: multiline, Conditions: c.conditions}})
			require.NoError(t, err)
			session := m.NewSession(forever, nil)
			got, err := session.File("").Match(t.Context(), match.SplitLines([]byte(c.text)), all, 10)
			require.NoError(t, err)
			column := 0
			for _, h := range got.Hits {
				column = h.Column
			}
			assert.Equal(t, c.want, column, name)
			assert.Equal(t, min(c.want, 1), got.Counts[0], name)
		}
	}

	_, err := match.Compile([]match.Rule{{Pattern: "a", Conditions: match.Conditions{Allow: []string{"("}}}})
	assert.ErrorContains(t, err, "allow")
	_, err = match.Compile([]match.Rule{{Pattern: "a", Conditions: match.Conditions{Checksum: "crc"}}})
	assert.ErrorContains(t, err, "checksum")
}

// A group named at is where a multiline rule has its hits: the lines before them need not
// be looked at, and changing those reports nothing.
func TestAtGroup(t *testing.T) {
	t.Parallel()
	const text = "on: release\nname: a\njobs:\n  - cache: true\n  - cache: true\n"
	const pattern = `(?s)on: release.*?(?P<at>cache)`
	for name, c := range map[string]struct {
		pattern string
		lines   match.LineRange
		want    []int // lines
	}{
		"all places":           {pattern, match.LineRange{First: 1, Last: 5}, []int{4, 5}},
		"one of them":          {pattern, match.LineRange{First: 5, Last: 5}, []int{5}},
		"what is before":       {pattern, match.LineRange{First: 1, Last: 3}, nil},
		"a group of no name":   {`(?s)on: release.*?(cache)`, match.LineRange{First: 2, Last: 2}, []int{1}},
		"a group that is away": {`on: (?:(?P<at>push)|release)`, match.LineRange{First: 1, Last: 5}, []int{1}},
		"the second group":     {`on: (?:push(?P<at>.)|(?s:.*)(?P<at2>jobs))`, match.LineRange{First: 3, Last: 3}, []int{3}},
		"the first by name":    {`on: (?P<at2>release)\n(?P<at>name)?`, match.LineRange{First: 1, Last: 5}, []int{1, 2}},
		"a hidden place":       {`on: release\n(?P<at2>name)(?:: (?P<at>a))?\s`, match.LineRange{First: 1, Last: 5}, []int{2}},
		"a blank":              {`on:(?P<at>\s)`, match.LineRange{First: 1, Last: 5}, []int{1}},
	} {
		m, err := match.Compile([]match.Rule{{Pattern: c.pattern, Multiline: true}})
		require.NoError(t, err)
		file := m.NewSession(forever, nil).File("")
		got, err := file.Match(t.Context(), match.SplitLines([]byte(text)), []match.LineRange{c.lines}, 10)
		require.NoError(t, err)
		var lines []int
		for _, h := range got.Hits {
			lines = append(lines, h.Line)
		}
		assert.Equal(t, c.want, lines, name)
	}
}

// What is asked about a match is work of the rule.
func TestConditionsAreWork(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("key=k3J9xQ2mZ8vL5nR7\n", 100))
	work := func(c match.Conditions) int64 {
		m, err := match.Compile([]match.Rule{{Pattern: `key=\w+`, Conditions: c}})
		require.NoError(t, err)
		session := m.NewSession(forever, nil)
		_, err = session.File("").Match(t.Context(), match.SplitLines(text), all, 10)
		require.NoError(t, err)
		return session.Work(0)
	}
	assert.Greater(t, work(match.Conditions{Allow: []string{"zz+", "yy+"}}), 2*work(match.Conditions{}))
}

func TestSupersedes(t *testing.T) {
	t.Parallel()
	rules := []match.Rule{
		{Pattern: "a", Include: []string{"*.go"}, Supersedes: []int{1}},
		{Pattern: "b", Supersedes: []int{2}},
		{Pattern: "c"},
	}
	m, err := match.Compile(rules)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		path string
		off  []bool
		want map[int]int
	}{
		"every line has one": {"x.go", nil, map[int]int{0: 2, 1: 1, 2: 1}},
		"not in this file":   {"x", nil, map[int]int{1: 3, 2: 1}},
		"it is off":          {"x.go", []bool{true, false, false}, map[int]int{1: 3, 2: 1}},
	} {
		session := m.NewSession(forever, c.off)
		got, err := session.File(c.path).Match(t.Context(), match.SplitLines([]byte("ab\nabc\nbc\nc\n")), all, 10)
		require.NoError(t, err)
		assert.Equal(t, c.want, got.Counts, name)
	}
}

// Of rules that supersede each other one stays.
func TestSupersedesInACircle(t *testing.T) {
	t.Parallel()
	m, err := match.Compile([]match.Rule{
		{Pattern: "a", Supersedes: []int{0, 1}}, {Pattern: "a", Supersedes: []int{2}}, {Pattern: "a", Supersedes: []int{0}},
	})
	require.NoError(t, err)
	got, err := m.NewSession(forever, nil).File("").Match(t.Context(), match.SplitLines([]byte("a")), all, 10)
	require.NoError(t, err)
	assert.Equal(t, map[int]int{0: 1}, got.Counts)
}
