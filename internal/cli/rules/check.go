package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// CheckInput is what `rules check` was asked for.
type CheckInput struct {
	Files  []string // the one of the folder when there are none
	Strict bool     // warnings count as mistakes
	Look   Look
}

// problem is a mistake or a warning, as JSON has it.
type problem struct {
	Line     int    `json:"line"`
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// The severities of problems.
const (
	isError   = "error"
	isWarning = "warning"
)

// checkedFile is what is known of a rules file, as JSON has it.
type checkedFile struct {
	File      string    `json:"file"`
	Valid     bool      `json:"valid"`
	Rules     int       `json:"rules"`
	Cases     int       `json:"cases"`
	Problems  []problem `json:"problems"`
	Truncated bool      `json:"truncated,omitempty"` // there may be more problems

	lines []string
}

// Check says everything that is wrong with rules files. It fails with
// cli.ErrFound when there is something.
func Check(ctx context.Context, st cli.Streams, in CheckInput) error {
	if err := in.Look.check(); err != nil {
		return err
	}
	files := in.Files
	if len(files) == 0 {
		files = []string{localFile()}
	}

	builtIn, err := defaults.Load()
	if err != nil {
		return err
	}
	var all []checkedFile
	wrong := false
	for _, path := range files {
		data, err := read(path)
		if err != nil {
			return err
		}
		c, _, err := check(ctx, path, data, builtIn, rule.Reading{})
		if err != nil {
			return err
		}
		all = append(all, c)
		wrong = wrong || !c.Valid || in.Strict && len(c.Problems) > 0
	}

	if in.Look.Output == OutputJSON {
		err = writeJSON(st.Out, map[string]any{"files": all})
	} else {
		p := newPage(st, in.Look)
		for i, c := range all {
			if i > 0 {
				p.printf("\n")
			}
			c.print(p)
		}
		err = p.end()
	}

	if err == nil && wrong {
		return cli.ErrFound
	}
	return err
}

// check reads a rules file and finds what is wrong with it. The file is nil when
// nothing of it could be read.
func check(
	ctx context.Context, path string, data []byte, builtIn []rule.Rule, how rule.Reading,
) (checkedFile, *rule.File, error) {
	c := checkedFile{File: path, Problems: []problem{}, lines: strings.Split(string(data), "\n")}
	how.Local, how.Thorough = !ofRepository(path), true
	file, err := rule.ReadFile(ctx, data, how)
	if err := c.add(isError, err); err != nil {
		return c, nil, err
	}
	if file != nil {
		if err := c.add(isError, file.CheckClashes(origins(builtIn))); err != nil {
			return c, nil, err
		}
		c.Rules = len(file.Rules)
		for _, r := range file.Rules {
			c.Cases += len(r.Cases.Match) + len(r.Cases.NoMatch)
		}
	}
	c.Valid = len(c.Problems) == 0
	if file != nil {
		for _, m := range file.Advise(builtIn) {
			c.Problems = append(c.Problems, problem{m.Line, m.Column, isWarning, m.Message, m.Hint})
		}
	}
	slices.SortStableFunc(c.Problems, func(a, b problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return c, file, nil
}

// add adds what a *rule.FileError says. Any other error is returned.
func (c *checkedFile) add(severity string, err error) error {
	var mistakes *rule.FileError
	if !errors.As(err, &mistakes) {
		return err
	}
	for _, m := range mistakes.Mistakes {
		c.Problems = append(c.Problems, problem{m.Line, m.Column, severity, m.Message, m.Hint})
	}
	c.Truncated = c.Truncated || mistakes.Cut
	return nil
}

// print shows the file to people.
func (c checkedFile) print(p page) {
	counts := map[string]int{}
	for _, x := range c.Problems {
		counts[x.Severity]++
		c.problem(p, x)
	}

	name := terminal.Safe(c.File)
	var parts []string
	if n := counts[isError]; n > 0 {
		parts = append(parts, p.paint.Text(terminal.Bad, terminal.Count(n, "mistake")))
	}

	if n := counts[isWarning]; n > 0 {
		parts = append(parts, p.paint.Text(terminal.Yellow, terminal.Count(n, "warning")))
	}
	switch {
	case c.Truncated:
		p.printf("%s: %s, and perhaps more.\n", name, strings.Join(parts, ", "))
	case len(parts) > 0:
		p.printf("%s: %s.\n", name, strings.Join(parts, ", "))
	default:
		p.printf("%s: %s, %s and %s.\n", name, p.paint.Text(terminal.Good, "fine"),
			terminal.Count(c.Rules, "rule"), terminal.Count(c.Cases, "case"))
	}
}

// problem shows one problem, with the line that it is in.
func (c checkedFile) problem(p page, x problem) {
	place := fmt.Sprintf("%s:%d:", terminal.Safe(c.File), x.Line)
	if x.Column > 0 {
		place += fmt.Sprintf("%d:", x.Column)
	}
	color := terminal.Bad
	if x.Severity == isWarning {
		color = terminal.Yellow
	}
	p.printf("%s %s %s\n", p.paint.Text(terminal.Strong, place),
		p.paint.Text(color, x.Severity+":"), terminal.Safe(x.Message))

	if x.Line <= len(c.lines) && strings.TrimSpace(c.lines[x.Line-1]) != "" {
		e := p.excerpt(fmt.Sprintf("%5d | ", x.Line), c.lines[x.Line-1], max(x.Column, 1))
		if x.Column > 0 {
			p.printf("%s%s\n", p.paint.Text(terminal.Faint, "      | "), p.paint.Text(color, e.carets()))
		}
	}
	if x.Hint != "" {
		p.hint("      = ", x.Hint)
	}
	p.printf("\n")
}
