package web

import (
	"fmt"
	"strings"

	"github.com/a-h/templ"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// ruleTest is what the pattern of the editor does.
type ruleTest struct {
	Problem   string // of the pattern
	Pieces    []piece
	Hits      int
	Truncated bool
	Cost      *prwardenv1.MatchingCost
	Cases     []caseTest
}

// piece is a part of a text that matches, or does not.
type piece struct {
	Text string
	Hit  bool
}

// caseTest is a case with what the pattern says of it.
type caseTest struct {
	Text       string
	Wants, Has bool // a match
}

func (c caseTest) good() bool { return c.Wants == c.Has }

// testRule finds out what the pattern matches in the text and in the cases.
func (h *Handler) testRule(v *visit, e *editorView) error {
	if e.Pattern == "" && e.Conditions == "" && e.Type != prwardenv1.Rule_spelling.String() {
		return nil
	}
	test := func(text string) (*prwardenv1.TestRuleResponse, error) {
		r, err := e.rule()
		if err != nil {
			return nil, err
		}
		return h.calls.rules.TestRule(v.ctx(), &prwardenv1.TestRuleRequest{
			Type: r.Type, Pattern: e.Pattern, Multiline: e.Multiline, Text: text, Languages: r.GetLanguages(),
			Any: r.GetAny(), All: r.GetAll(), Not: r.GetNot(), Inside: r.GetInside(), NotInside: r.GetNotInside(),
			Has: r.GetHas(), Depth: r.GetDepth(), Where: r.GetWhere(), Focus: r.GetFocus(), In: r.GetIn(),
			Entropy: r.GetEntropy(), Checksum: r.Checksum, Stopwords: r.GetStopwords(), Allow: r.GetAllow(),
			Sources: r.GetSources(), Sinks: r.GetSinks(), Sanitizers: r.GetSanitizers(), Words: r.GetWords(),
		})
	}
	whole, err := test(e.Text)
	if err != nil {
		p := problemOf(v.ctx(), err)
		if !rejected(p) {
			return err
		}
		e.Test.Problem = p.Text
		return nil
	}
	e.Test.Pieces, e.Test.Hits = pieces(e.Text, whole.GetHits()), len(whole.GetHits())
	e.Test.Truncated, e.Test.Cost = whole.GetTruncated(), whole.GetMatchingCost()

	for i, list := range [][]string{e.Match, e.NoMatch} {
		for _, text := range list {
			got, err := test(text)
			if err != nil {
				return err
			}
			e.Test.Cases = append(e.Test.Cases, caseTest{Text: text, Wants: i == 0, Has: len(got.GetHits()) > 0})
		}
	}

	return nil
}

// pieces cuts a text where hits begin and end.
func pieces(text string, hits []*prwardenv1.TestRuleResponse_Hit) (out []piece) {
	starts := []int{0} // of the lines
	for i, b := range []byte(text) {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	place := func(line, column int32) int {
		at := min(max(int(line)-1, 0), len(starts)-1)
		return min(starts[at]+int(column)-1, len(text))
	}
	add := func(s string, hit bool) {
		if s != "" {
			out = append(out, piece{Text: s, Hit: hit})
		}
	}

	done := 0
	for _, hit := range hits {
		from, to := place(hit.GetLine(), hit.GetColumn()), place(hit.GetEndLine(), hit.GetEndColumn())
		if from < done || to < from {
			continue
		}
		add(text[done:from], false)
		add(text[from:to], true)
		done = to
	}
	add(text[done:], false)

	return out
}

// firstLine is the first line of a case, for a list.
func firstLine(s string) string {
	line, rest, _ := strings.Cut(s, "\n")
	if rest != "" {
		line += " …"
	}

	return line
}

// words say what the pattern does with a case.
func (c caseTest) words() string {
	switch {
	case c.Wants && c.Has:
		return "is found"
	case c.Wants:
		return "is not found, and must be"
	case c.Has:
		return "is found, and must not be"
	}

	return "passes"
}

func caseLabel(name string, i int) string {
	if name == "match" {
		return fmt.Sprintf("Text %d that it must find", i+1)
	}

	return fmt.Sprintf("Text %d that it must let pass", i+1)
}

// trialWords sum a trial of one rule up.
func trialWords(t *prwardenv1.TryRulesResponse) string {
	all, bad := len(t.GetPullRequests()), 0
	for _, p := range t.GetPullRequests() {
		if p.GetError() != nil {
			bad++
		}
	}
	text := "It finds nothing in " + plural(all-bad, "pull request", "pull requests") + "."
	for _, r := range t.GetRules() {
		if r.GetHits() > 0 {
			text = fmt.Sprintf("It finds %s in %d of %s.", plural(int(r.GetHits()), "place", "places"),
				r.GetPullRequests(), plural(all-bad, "pull request", "pull requests"))
		}
	}
	if bad > 0 {
		text += fmt.Sprintf(" %d can't be read any more.", bad)
	}
	if n := t.GetUntried(); n > 0 {
		text += fmt.Sprintf(" %d were not tried because 30 seconds were over.", n)
	}

	return text
}

// markedText is a text with its matches marked. It is made here because a template
// writes blanks between its parts.
func markedText(list []piece, severity string) templ.Component {
	var out strings.Builder
	out.WriteString(`<pre class="snip marks" tabindex="0" aria-label="Matches">`)
	for _, p := range list {
		text := templ.EscapeString(p.Text)
		if p.Hit {
			text = `<mark class="m-` + templ.EscapeString(severity) + `">` + text + `</mark>`
		}
		out.WriteString(text)
	}
	out.WriteString(`</pre>`)

	return templ.Raw(out.String())
}
