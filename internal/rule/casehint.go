package rule

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// CaseFailure is a case that a rule does not pass.
type CaseFailure struct {
	Field   string // such as `cases.match[0]`; `pattern` when the cases could not be run
	Message string // a phrase
	Hint    string // why it probably fails; it may quote the case
}

// FailedCases runs the cases of a rule, within Budget, and returns those that it
// does not pass. It fails with the error of ctx when that ends meanwhile.
func FailedCases(ctx context.Context, r Rule) ([]CaseFailure, error) {
	t := &trials{ctx: ctx, left: Budget}
	var v violationList
	t.run(&v, r)
	var failed []CaseFailure
	for _, x := range v {
		failed = append(failed, CaseFailure{Field: x.Field, Message: x.Description, Hint: cut(t.hint(r, x.Field), maxHint)})
	}
	return failed, ctx.Err()
}

// hint says why a case probably fails. It takes time of the trials, and quotes
// the case.
func (t *trials) hint(r Rule, field string) string {
	switch name, _, _ := strings.Cut(field, "["); name {
	case "cases.match":
		return t.missHint(r, at(r.Cases.Match, field))
	case "cases.no_match":
		return t.hitHint(r, at(r.Cases.NoMatch, field))
	}
	return ""
}

// missHint looks for a change of the rule with which it matches the text.
func (t *trials) missHint(r Rule, text string) string {
	for _, try := range []struct {
		pattern   string
		multiline bool
		hint      string
	}{
		{"(?i)" + r.Pattern, r.Multiline, "it would in either case: begin the pattern with `(?i)`"},
		{r.Pattern, true, "it would across lines: add `multiline: true`"},
		{
			"(?s)" + r.Pattern, true,
			"it would across lines: add `multiline: true`, and begin the pattern with `(?s)` so that `.` matches \\n",
		},
		{"(?m)" + r.Pattern, r.Multiline, "it would with `^` and `$` at the ends of lines: begin the pattern with `(?m)`"},
		{
			strings.TrimSuffix(strings.TrimPrefix(r.Pattern, "^"), "$"), r.Multiline,
			"it would without `^` at the start and `$` at the end of the pattern",
		},
		{
			strings.ReplaceAll(r.Pattern, `\\`, `\`), r.Multiline,
			"it would with single backslashes: in single quotes of YAML and without quotes a backslash is not doubled",
		},
		{
			regexp.QuoteMeta(r.Pattern), r.Multiline,
			"it would if `" + r.Pattern +
				"` were plain text: write a backslash before each of `.+*?()[]{}^$|\\` that is meant as it is",
		},
	} {
		if (try.pattern != r.Pattern || try.multiline != r.Multiline) && t.matches(try.pattern, try.multiline, text) {
			return try.hint
		}
	}
	if part := t.longest(r, text); part != "" {
		return "its beginning matches as far as `" + part + "`"
	}
	return "nothing that the pattern begins with is in the text"
}

// longest is the longest beginning of the pattern, of those that are patterns,
// that matches somewhere in the text.
func (t *trials) longest(r Rule, text string) string {
	for end := len(r.Pattern) - 1; end > 0; end-- {
		if t.matches(r.Pattern[:end], r.Multiline, text) {
			return r.Pattern[:end]
		}
	}
	return ""
}

// hitHint says what the rule matches in a text that it should not.
func (t *trials) hitHint(r Rule, text string) string {
	began := time.Now()
	defer func() { t.left -= time.Since(began) }()
	hits, _, err := Try(t.ctx, r.Pattern, r.Multiline, text, 1)
	if err != nil || len(hits) == 0 {
		return ""
	}
	lines := strings.Split(text, "\n")
	h := hits[0]
	matched := lines[h.Line-1]
	if h.EndLine == h.Line {
		matched = matched[:min(h.EndColumn-1, len(matched))]
	}
	hint := "it matches " + strconv.Quote(matched[min(h.Column-1, len(matched)):])
	for _, edge := range []struct{ pattern, hint string }{
		{`\b(?:` + r.Pattern + `)`, "; it would not with `\\b`, the edge of a word, at the start of the pattern"},
		{`(?:` + r.Pattern + `)\b`, "; it would not with `\\b`, the edge of a word, at the end of the pattern"},
	} {
		if t.left > 0 && !t.matches(edge.pattern, r.Multiline, text) && t.matchesAll(edge.pattern, r) {
			return hint + edge.hint
		}
	}
	return hint
}

// matchesAll says whether a pattern matches what the rule must match, of which
// there is something.
func (t *trials) matchesAll(pattern string, r Rule) bool {
	for _, text := range r.Cases.Match {
		if !t.matches(pattern, r.Multiline, text) {
			return false
		}
	}
	return len(r.Cases.Match) > 0
}

// matches says whether a pattern matches a text somewhere. Without time it does
// not.
func (t *trials) matches(pattern string, multiline bool, text string) bool {
	if t.left <= 0 {
		return false
	}
	began := time.Now()
	defer func() { t.left -= time.Since(began) }()
	hits, _, err := Try(t.ctx, pattern, multiline, text, 1)
	return err == nil && len(hits) > 0
}
