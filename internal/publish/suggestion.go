package publish

import (
	"fmt"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
)

// suggestion is the fix of a finding as people can apply it, or else read it.
func suggestion(f finding.Finding, how codehost.Suggestions) string {
	x := *f.Fix
	lines := fmt.Sprintf("line %d", x.StartLine)
	if x.EndLine > x.StartLine {
		lines = fmt.Sprintf("lines %d to %d", x.StartLine, x.EndLine)
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
