package stagetest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/stagetest"
	"github.com/prwarden/prwarden/internal/match/choose"
	"github.com/prwarden/prwarden/internal/match/confirm"
	"github.com/prwarden/prwarden/internal/match/extract"
	"github.com/prwarden/prwarden/internal/match/filter"
	"github.com/prwarden/prwarden/internal/match/parse"
)

// TestDocument carries the example of docs/engine.md through all stages: what is
// said there is so.
func TestDocument(t *testing.T) {
	t.Parallel()
	const pattern = `\bcolou?r[\t ]*=[\t ]*#[0-9a-f]{6}`
	const text = "const tailor = flour;\n" +
		"color = theme.main;\n" +
		"color = #fff;\n" +
		"bgcolor = #ff8800;\n" +
		"colour = #ff8800;\n"

	parsed, err := parse.Parse(pattern, false)
	require.NoError(t, err)
	assert.Equal(t, pattern, parsed.Tree.String(), "it has no ends to drop")

	facts := extract.Extract(parsed.Tree, choose.Cost)
	assert.Equal(t, []string{
		`c o l o [ru] [\t␣=r] [\t␣#=] [\t␣#0-9=a-f]`,
		`c o l o r [\t␣=] [\t␣#=] [\t␣#0-9=a-f] [\t␣#0-9=a-f] | c o l o u r`,
		`[co] [lo] [lo] [ou] r [\t␣=] [\t␣#=] [\t␣#0-9=a-f] [\t␣#0-9=a-f]`,
		`[\t␣loru] [\t␣loru] [\t␣oru] [\t␣r] = [\t␣#] [\t␣#0-9a-f] [\t␣#0-9a-f] [\t␣#0-9a-f]`,
		`# [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f] [0-9a-f]`,
	}, showClauses(facts.Clauses))

	choice := choose.Best(facts.Clauses)
	var windows []string
	var needles []filter.Needle
	for i, w := range choice.Windows {
		require.Equal(t, filter.Grams, w.Kind)
		assert.Zero(t, w.Alt.Start, "a match begins where the sequence does")
		windows = append(windows, stagetest.Show(w.Sets()))
		end := min(w.At+w.Len+1, len(w.Alt.Seq))
		needles = append(needles, filter.Needle{
			Kind: filter.Grams, Sets: w.Alt.Seq[w.At:end], Around: w.Alt.Seq, At: w.At, ID: uint32(i),
		})
	}
	assert.Equal(t, []string{`l o r [\t␣=]`, `o r [\t␣=] [\t␣#=]`, `l o u r`, `o l o u`}, windows)

	program := confirm.NewProgram(parsed, 30, confirm.NewRoom(1<<20))
	places, _, _ := filter.New(needles).Tables[0].Scan([]byte(text), 0, len(text), nil, new(filter.Vain))
	var story []string
	for _, p := range places {
		begin := int(p.At) - choice.Windows[p.ID].At
		line, _, _ := strings.Cut(text[strings.LastIndexByte(text[:p.At], '\n')+1:], "\n")
		outcome := "automaton"
		match, _, ok := program.At([]byte(text), begin, nil)
		require.True(t, ok)
		if match {
			outcome = "match"
		}
		story = append(story, line+" : "+outcome)
	}
	assert.Equal(t, []string{
		"color = #fff; : automaton",
		"bgcolor = #ff8800; : automaton",
		"colour = #ff8800; : match",
	}, story)
}

// showClauses writes clauses without their places in the match.
func showClauses(clauses []extract.Clause) []string {
	list := make([]string, len(clauses))
	for i, c := range clauses {
		parts := make([]string, len(c))
		for k, a := range c {
			parts[k] = stagetest.Show(a.Seq)
		}
		list[i] = strings.Join(parts, " | ")
	}
	return list
}
