package rules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// TryInput is what `rules try` was asked for.
type TryInput struct {
	Pattern   string
	Paths     []string // files and folders
	Include   []string // globs of files in folders, relative to the folder
	Exclude   []string
	Multiline bool
	Limit     int // matches that are shown; 0 for all
	Look      Look
}

// found is a match, as JSON has it.
type found struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"` // in bytes
	EndLine int    `json:"end_line"`
	// EndColumn is after the last byte.
	EndColumn int    `json:"end_column"`
	Text      string `json:"text"` // the first line
}

// trial is a pattern that is tried.
type trial struct {
	in      TryInput
	page    page
	matcher *match.Matcher

	files, hitFiles, hits int
	skipped               int // binary or too large
	stopped               int // files in which the pattern took too long
	list                  []found
	shown                 int
}

// Try shows where a pattern matches in files, and what it costs.
func Try(ctx context.Context, st cli.Streams, in TryInput) error {
	if err := in.Look.check(); err != nil {
		return err
	}
	if in.Limit < 0 {
		return cli.Usagef("--limit must be 0, for all, or more")
	}
	r := rule.Rule{
		ID: "try", Type: rule.TypeRegex, Pattern: in.Pattern, Message: "m", Severity: rule.Info,
		Paths: rule.Paths{Include: in.Include, Exclude: in.Exclude}, Multiline: in.Multiline,
	}
	if err := invalid(rule.Validate(ctx, r), r); err != nil {
		return err
	}
	m, err := match.Compile([]match.Rule{{
		Pattern: r.Pattern, Multiline: r.Multiline, Include: in.Include, Exclude: in.Exclude,
	}})
	if err != nil {
		return err
	}

	t := &trial{in: in, page: newPage(st, in.Look), matcher: m, list: []found{}}
	for _, path := range in.Paths {
		if err := t.path(ctx, path); err != nil {
			return err
		}
	}
	return t.end(st, r)
}

// path tries the pattern on a file, or on the files of a folder.
func (t *trial) path(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return cli.Usagef("there is nothing to look at: %w", err)
	case !info.IsDir():
		return t.file(ctx, path, filepath.ToSlash(filepath.Clean(path)))
	}

	return walk(path, func(file string) error {
		relative, err := filepath.Rel(path, file)
		if err != nil {
			return err
		}
		return t.file(ctx, file, filepath.ToSlash(relative))
	})
}

// invalid turns what is wrong with a rule that was put together from a command
// line into an error of usage.
func invalid(err error, r rule.Rule) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	var text strings.Builder
	for i, v := range e.Fields {
		name := "the pattern"
		if glob, ok := strings.CutPrefix(v.Field, "paths."); ok {
			name = "--" + strings.TrimRight(glob, "[]0123456789")
		}
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "%s %s", name, v.Description)
		if v.Field == "pattern" {
			if place := pointed(r.Pattern, v.Description); place != "" {
				text.WriteString("\n" + place)
			}
		}
		if hint := rule.Hint(r, v.Field, v.Description); hint != "" {
			text.WriteString("\n  hint: " + hint)
		}
	}
	return cli.Usagef("%s", text.String())
}

// pointed is a pattern with a caret below the place that a description names.
func pointed(pattern, description string) string {
	var at int
	if _, err := fmt.Sscanf(description, "at byte %d:", &at); err != nil || at > len(pattern) {
		return ""
	}
	e := newExcerpt(pattern, at, at, 2*len(pattern)+1)
	return "  " + e.plain() + "\n  " + e.carets()
}

// file tries the pattern on one file, whose path below its folder is name.
func (t *trial) file(ctx context.Context, path, name string) error {
	content, err := readSource(path)
	if err != nil {
		return err
	}
	if content == nil {
		t.skipped++
		return nil
	}

	lines := match.SplitLines(content)
	result, err := matchLines(ctx, t.matcher, name, lines)
	if err != nil {
		return err
	}

	t.files++
	if len(result.Stopped) > 0 {
		t.stopped++
	}
	if len(result.Hits) > 0 {
		t.hitFiles++
	}
	for _, h := range result.Hits {
		t.hits++
		if t.in.Limit > 0 && t.shown >= t.in.Limit {
			continue
		}
		t.shown++
		t.show(path, string(lines.Line(h.Line)), h)
	}
	return nil
}

// matchLines matches rules on all lines of a file.
func matchLines(ctx context.Context, m *match.Matcher, name string, lines match.Lines) (match.Result, error) {
	all := []match.LineRange{{First: 1, Last: lines.Count()}}
	return m.NewSession(rule.Budget, nil).File(name).Match(ctx, lines, all, scan.MaxFileSize+1)
}

// show shows one match.
func (t *trial) show(path, line string, h match.Hit) {
	if t.in.Look.Output == OutputJSON {
		t.list = append(t.list, found{path, h.Line, h.Column, h.EndLine, h.EndColumn, strings.ToValidUTF8(line, "\uFFFD")})
		return
	}
	p := t.page
	end := h.EndColumn
	if h.EndLine > h.Line {
		end = len(line) + 1
	}

	place := fmt.Sprintf("%s:%d:%d: ", terminal.Safe(path), h.Line, h.Column)
	e := newExcerpt(line, h.Column, end, max(p.width-terminal.Columns(place), 40))
	more := ""
	if h.EndLine > h.Line {
		more = p.paint.Text(terminal.Faint, fmt.Sprintf(" … to line %d", h.EndLine))
	}
	p.printf("%s%s%s%s%s\n", p.paint.Text(terminal.Faint, place),
		e.before, p.paint.Text(terminal.Bad, e.marked), strings.TrimRight(e.after, " "), more)
}

// end tells how much there was, and what the pattern costs.
func (t *trial) end(st cli.Streams, r rule.Rule) error {
	cost, err := r.Cost()
	if err != nil {
		return err
	}
	if t.in.Look.Output == OutputJSON {
		return writeJSON(st.Out, map[string]any{
			"matches": t.list, "total": t.hits, "files": t.files,
			"skipped": t.skipped, "stopped": t.stopped, "cost": newPrice(cost),
		})
	}

	p := t.page
	p.w = &cli.Checked{To: st.Err}
	p.paint = terminal.Painter(terminal.Colors(st.Err, t.in.Look.Color, st.Lookup))
	text := fmt.Sprintf("%s in %d of %s", countMatches(t.hits), t.hitFiles, terminal.Count(t.files, "file"))
	if t.hits > t.shown {
		text += fmt.Sprintf("; the first %d are shown", t.shown)
	}

	if t.skipped > 0 {
		text += fmt.Sprintf("; %d binary or over 1 MiB", t.skipped)
	}
	p.printf("%s.\n", text)
	if t.stopped > 0 {
		stopped := p.paint.Text(terminal.Bad, "The pattern was stopped")
		p.printf("%s in %s: it took more than 2 seconds there.\n", stopped, terminal.Count(t.stopped, "file"))
	}

	p.printf("%s\n", priceText(r, cost))
	if cost.Advice != "" {
		p.wrapped("  ", cost.Advice)
	}
	return t.page.end()
}

func countMatches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}

// price is what a rule costs, as JSON has it.
type price struct {
	Microseconds float64 `json:"microseconds_per_mib"`
	Weak         bool    `json:"weak"`
	Ordinary     int     `json:"ordinary_rules"`
	Advice       string  `json:"advice,omitempty"`
}

func newPrice(c rule.Cost) price {
	return price{float64(c.PerMiB) / float64(time.Microsecond), c.Weak, c.Ordinary, c.Advice}
}

// priceText says what a rule costs.
func priceText(r rule.Rule, c rule.Cost) string {
	text := fmt.Sprintf("It costs about %s for a MiB of code", duration(c.PerMiB))
	if by, err := match.CostOf(r.Pattern, r.Multiline); err == nil && by.By != "" {
		text += fmt.Sprintf(", looked for by %q", by.By)
	} else if c.Weak {
		text += ": nothing to look for it by, so it is tried everywhere"
	}
	return text + "."
}

// duration is a short time as people read it.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
