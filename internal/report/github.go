package report

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"os"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// annotations are findings as workflow commands, of which GitHub Actions makes
// annotations
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands).
// It shows only the first ten of a step, so the most severe come first. With
// NewOnly there are those of new findings only.
func (r Report) annotations() string {
	list := slices.Clone(r.Review.Findings)
	slices.SortStableFunc(list, func(a, b finding.Finding) int { return cmp.Compare(a.Severity, b.Severity) })

	var b strings.Builder
	for _, f := range list {
		if r.counts(f) {
			b.WriteString(annotation(f) + "\n")
		}
	}

	if !r.complete() {
		b.WriteString("::error title=prwarden::" + commandData(r.Summary()) + "\n")
	}
	return terminal.EscapeMarks(b.String(), `\x5b`) // for which commands have no escape
}

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

// commandData is a text, made safe before, as the message of a workflow command.
func commandData(text string) string { return strings.ReplaceAll(text, "%", "%25") }

// commandProperty is a text as a property of a workflow command.
func commandProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(commandData(terminal.Safe(text)))
}

// maxSummary bounds a job summary in bytes. GitHub refuses one of over 1 MiB
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#adding-a-job-summary).
const maxSummary = 512 << 10

// AppendStepSummary appends the table to the file that GITHUB_STEP_SUMMARY
// names, which GitHub, Gitea and Forgejo show with the job; only where one of the
// outputs is GitHub's.
func AppendStepSummary(outputs []Output, r Report, lookup func(name string) string) error {
	name := lookup("GITHUB_STEP_SUMMARY")
	if name == "" || !slices.ContainsFunc(outputs, func(o Output) bool { return o.Format == GitHub }) {
		return nil
	}

	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(r.stepSummary())
	return errors.Join(err, f.Close())
}

// stepSummary is the table in HTML, which is allowed in Markdown. There nothing
// from a repository is a link, a mention or a tag.
func (r Report) stepSummary() string {
	text := html.EscapeString(r.table(Style{Width: terminal.DefaultWidth}))
	if len(text) > maxSummary {
		end := strings.LastIndexByte(text[:maxSummary], '\n') + 1
		text = text[:end] + "There is more.\n\n" + html.EscapeString(r.Summary()+"\n"+r.Verdict()) + "\n"
	}
	return "### prwarden\n\n<pre>\n" + text + "</pre>\n\n"
}
