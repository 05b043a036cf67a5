package publish

import (
	"fmt"
	"regexp"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
)

// command is a line that a code host may take for one of its commands, such as GitLab's
// `/approve`: it finds blocks of code by their beginning, not as Markdown.
var command = regexp.MustCompile(`(?m)^[ \t]*/[A-Za-z]`)

// suggestion is the fix of a finding as people can apply it, or else read it.
func suggestion(f finding.Finding, how codehost.Suggestions) string {
	x := *f.Fix
	lines := "this line"
	if n := x.EndLine - x.StartLine + 1; n > 1 {
		lines = fmt.Sprintf("these %d lines", n)
	}
	switch {
	case how == codehost.SuggestionOfMore && x.StartLine == f.Line:
		return fenced(fmt.Sprintf("suggestion:-0+%d", x.EndLine-x.StartLine), x.Text)
	case how == codehost.SuggestionOfLine && x.StartLine == f.Line && x.EndLine == f.Line:
		return fenced("suggestion", x.Text)
	case x.Text == "":
		return "Fix: remove " + lines + "."
	}

	return "Fix: replace " + lines + " by\n\n" + fenced("", x.Text)
}
