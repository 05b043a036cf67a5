package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// writeGitHub writes findings as workflow commands, of which GitHub Actions
// makes annotations
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands).
// It shows only the first ten of a step, so the most severe come first. With
// Report.NewOnly there are those of new findings only.
func writeGitHub(w io.Writer, r Report, _ Style) error {
	list := slices.Clone(r.Review.Findings)
	slices.SortStableFunc(list, func(a, b finding.Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	out := bufio.NewWriterSize(w, 64<<10)
	for _, f := range list {
		if !r.considered(f) {
			continue
		}
		if _, err := out.WriteString(command(annotation(f))); err != nil {
			return err
		}
	}

	if !r.complete() {
		if _, err := out.WriteString(command("::error title=prwarden::" + commandData(r.Summary()))); err != nil {
			return err
		}
	}
	return out.Flush()
}

// command is a line that is one command and has no mark of another. Commands have
// no escape for a `[`, so it is written as Safe would.
func command(text string) string { return terminal.EscapeMarks(text, `\x5b`) + "\n" }

func annotation(f finding.Finding) string {
	level := "notice"
	switch f.Severity {
	case rule.Critical, rule.High:
		level = "error"
	case rule.Medium, rule.Warning:
		level = "warning"
	}

	where := fmt.Sprintf("file=%s,line=%d", commandProperty(f.File), f.Line)
	if f.EndLine > 0 {
		where += fmt.Sprintf(",endLine=%d", f.EndLine)
	}
	// Columns are taken within one line only.
	if f.UTF16Column > 0 && f.EndLine == f.Line {
		where += fmt.Sprintf(",col=%d,endColumn=%d", f.UTF16Column, f.UTF16EndColumn)
	}
	title := fmt.Sprintf("%s (%s)", f.RuleID, f.Severity)
	return fmt.Sprintf("::%s %s,title=%s::%s", level, where, commandProperty(title), commandData(safeText(f.Message)))
}

// commandData is a text as the message of a workflow command. The escapes are
// those of GitHub's toolkit (actions/toolkit, packages/core/src/command.ts).
func commandData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// commandProperty is a text as a property of a workflow command.
func commandProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(commandData(terminal.Safe(text)))
}
