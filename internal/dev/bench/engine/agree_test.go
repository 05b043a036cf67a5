package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

func TestAgree(t *testing.T) {
	t.Parallel()
	rules := []ruleset.Rule{{ID: "ab", Pattern: "ab$"}, {ID: "two", Pattern: "^..c"}}
	c := corpus.Corpus{Files: []corpus.File{{Path: "f", Text: []byte("ab\r\nabc\nécc\nxx\n")}}}
	const first, second, third, fourth = 0, 4, 8, 13
	pair := func(start, rule uint32) Pair { return Pair{Start: start, Rule: rule} }

	a, err := Agree(
		[]Pair{pair(third, 1), pair(first, 0), pair(second, 1), pair(fourth, 0)},
		[]Pair{pair(second, 1), pair(second, 0)}, rules, c)
	require.NoError(t, err)
	assert.Equal(t, 1, a.Same)
	assert.Empty(t, a.Missing)
	assert.Equal(t, []string{`rule ab, f, offset 13: "xx"`}, a.Wrong)
	assert.Equal(t, map[string]int{
		"it lacks: it takes the carriage return of CRLF as part of the line":         1,
		"it lacks: the line has characters beyond ASCII, which it counts as several": 1,
		"it has alone: neither prwarden nor the standard library finds it":           1,
	}, a.Theirs)
	assert.Equal(t, 4, a.Differences())

	a, err = Agree(nil, []Pair{pair(second, 1)}, rules, c)
	require.NoError(t, err)
	assert.Equal(t, []string{`rule two, f, offset 4: "abc"`}, a.Missing)
}
