package report

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
)

// Limits of what a job summary has. GitHub refuses one of over 1 MiB
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#adding-a-job-summary).
const (
	maxSummaryRows  = 200
	maxSummaryBytes = 512 << 10
)

// AppendStepSummary appends a report to the file that GITHUB_STEP_SUMMARY
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
	_, err = f.WriteString(stepSummary(r))
	return errors.Join(err, f.Close())
}

// stepSummary is a report in Markdown.
func stepSummary(r Report) string {
	var b strings.Builder
	b.WriteString("### prwarden\n\n" + inert(r.Summary()) + "\n")
	if v := r.Verdict(); v != "" {
		b.WriteString("\n**" + inert(v) + "**\n")
	}

	if len(r.Review.Findings) > 0 {
		b.WriteString("\n| Severity | Place | Rule | Message |\n|---|---|---|---|\n")
	}
	for i, f := range r.Review.Findings {
		row := summaryRow(r, f)
		if i == maxSummaryRows || b.Len()+len(row) > maxSummaryBytes {
			fmt.Fprintf(&b, "\nThere are %s more.\n", r.counted(len(r.Review.Findings)-i))
			break
		}
		b.WriteString(row)
	}

	if n := len(r.Review.Suppressed); n > 0 {
		fmt.Fprintf(&b, "\nComments suppress %s.\n", r.counted(n))
	}
	return b.String() + "\n"
}

func summaryRow(r Report, f finding.Finding) string {
	severity := f.Severity.String()
	if r.compared() && f.State != finding.StateExisting {
		severity += ", new"
	}
	return fmt.Sprintf("| %s | <code>%s</code> | <code>%s</code> | %s |\n",
		severity, inert(location(f)), inert(terminal.Safe(f.RuleID)), inert(safeText(f.Message)))
}

// inert is a text as Markdown in which nothing is a link, a mention, a tag or
// the end of a cell: all but letters, digits and a little punctuation is written by
// number.
func inert(text string) string {
	var b strings.Builder
	for _, c := range text {
		if strings.ContainsRune(" ,;-/", c) || unicode.IsLetter(c) || unicode.IsDigit(c) {
			b.WriteRune(c)
		} else {
			fmt.Fprintf(&b, "&#%d;", c)
		}
	}
	return b.String()
}
