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
// NewOnly there are those of new findings only. What was not looked at, what
// somebody has set aside, what comments suppress and what is only observed come after them.
//
// Where a check shows them already there is only the verdict, with where to look.
func (r Report) annotations() string {
	if url := r.Review.CheckURL; url != "" && r.complete() && !r.Annotate {
		level := "notice"
		if !r.Passes() {
			level = "error"
		}

		text := cmp.Or(r.Verdict(), r.Summary()) + " The findings are in the check of the app: " + terminal.Safe(url)

		return Annotation(level, text) + r.baseAnnotation()
	}

	list := slices.Clone(r.Review.Findings)
	slices.SortStableFunc(list, func(a, b finding.Finding) int { return cmp.Compare(a.Severity, b.Severity) })

	var b strings.Builder
	for _, f := range list {
		if r.counts(f) {
			b.WriteString(annotation(f) + "\n")
		}
	}

	if !r.complete() {
		b.WriteString(Annotation("error", r.Summary()))
	} else {
		r.annotateSkips(&b)
		for _, f := range r.Review.Findings {
			if f.Triage != nil {
				b.WriteString(aside(f, "set aside", "Set aside, "+decided(*f.Triage)+". "))
			}
		}
		for _, f := range r.Review.Suppressed {
			if r.counts(f) {
				b.WriteString(aside(f, "suppressed", "Suppressed "+byComment(f)+". "))
			}
		}
		for _, f := range r.onlyObserved() {
			if r.counts(f) {
				b.WriteString(aside(f, "observed", "Only observed: this fails nothing. "))
			}
		}
		for _, text := range r.SwitchedOff() {
			b.WriteString(Annotation("notice", text))
		}
		b.WriteString(r.baseAnnotation())
	}

	return terminal.EscapeMarks(b.String(), `\x5b`) // for which commands have no escape
}

// baseAnnotation says which base was used: it is worth a warning when it was guessed.
func (r Report) baseAnnotation() string {
	switch text := r.Base(); {
	case text == "":
		return ""
	case r.Review.BaseFoundBy.Guessed():
		return Annotation("warning", text)
	default:
		return Annotation("notice", text)
	}
}

// Annotation is a text, made safe before, that is about no place.
func Annotation(level, text string) string {
	return terminal.EscapeMarks("::"+level+" title=prwarden::"+commandData(text)+"\n", `\x5b`)
}

// maxNamed is how many things that are tolerated a notice names.
const maxNamed = 5

// annotateSkips writes what was not looked at: a place each when it counts, and all
// that is tolerated in one notice.
func (r Report) annotateSkips(b *strings.Builder) {
	level := "warning"
	if r.incomplete() {
		level = "error"
	}
	for _, s := range r.skips(false) {
		where := "file=" + commandProperty(s.File)
		if s.Line > 0 {
			where += fmt.Sprintf(",line=%d", s.Line)
		}
		text := "Not looked at: " + terminal.Safe(s.Text())
		fmt.Fprintf(b, "::%s %s,title=Not looked at::%s\n", level, where, commandData(text))
	}
	if n := r.unlistedSkips(); n > 0 {
		b.WriteString(Annotation(level, fmt.Sprintf("%d more were not looked at, too many to list.", n)))
	}

	tolerated := r.skips(true)
	if len(tolerated) == 0 {
		return
	}
	named := texts(tolerated[:min(len(tolerated), maxNamed)], skipped)
	text := "Not looked at, which is tolerated: " + strings.Join(named, "; ")
	if n := len(tolerated) - maxNamed; n > 0 {
		text += fmt.Sprintf("; and %s more", r.counted(n))
	}
	b.WriteString(Annotation("notice", text+"."))
}

func annotation(f finding.Finding) string {
	level := "notice"
	switch f.Severity {
	case rule.Critical, rule.High:
		level = "error"
	case rule.Medium, rule.Warning:
		level = "warning"
	}

	title := fmt.Sprintf("%s (%s)", f.RuleID, f.Severity)
	return fmt.Sprintf("::%s %s,title=%s::%s", level, region(f), commandProperty(title), commandData(safeText(f.Message)))
}

// aside is a finding that does not count, with what its title ends with and what its
// text begins with.
func aside(f finding.Finding, how, why string) string {
	title := fmt.Sprintf("%s (%s), %s", f.RuleID, f.Severity, how)
	text := commandData(why + safeText(f.Message))

	return fmt.Sprintf("::notice %s,title=%s::%s\n", region(f), commandProperty(title), text)
}

// region is where a finding is, as properties of a workflow command.
func region(f finding.Finding) string {
	where := fmt.Sprintf("file=%s,line=%d", commandProperty(f.File), f.Line)
	if f.EndLine > 0 {
		where += fmt.Sprintf(",endLine=%d", f.EndLine)
	}
	// Columns are taken within one line only.
	if f.UTF16Column > 0 && f.EndLine == f.Line {
		where += fmt.Sprintf(",col=%d,endColumn=%d", f.UTF16Column, f.UTF16EndColumn)
	}

	return where
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
