package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// CheckInput is what `rules check` was asked for.
type CheckInput struct {
	Files  []string // the one of the folder when there are none
	Strict bool     // warnings count as mistakes
	Output string   // OutputText or OutputJSON
}

// problem is a mistake or a warning, as JSON has it.
type problem struct {
	Line     int    `json:"line"`
	Column   int    `json:"column,omitempty"` // in characters
	Severity string `json:"severity"`
	Message  string `json:"message"`
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
}

// Check says everything that is wrong with rules files. It fails with
// cli.ErrFound when there is something.
func Check(ctx context.Context, st cli.Streams, in CheckInput) error {
	if err := checkOutput(in.Output); err != nil {
		return err
	}
	files := in.Files
	if len(files) == 0 {
		files = []string{""}
	}

	var all []checkedFile
	var text strings.Builder
	wrong := false
	for _, path := range files {
		c, err := check(ctx, path)
		if err != nil {
			return err
		}
		all = append(all, c)
		text.WriteString(c.text())
		wrong = wrong || !c.Valid || in.Strict && len(c.Problems) > 0
	}

	var err error
	if in.Output == OutputJSON {
		err = showJSON(st.Out, map[string]any{"files": all})
	} else {
		err = show(st.Out, text.String())
	}

	if err == nil && wrong {
		return cli.ErrFound
	}
	return err
}

// check reads a rules file, "" for the one of the folder, and finds what is wrong
// with it.
func check(ctx context.Context, path string) (checkedFile, error) {
	l, err := load(ctx, path)
	var mistakes *folder.RulesError
	switch {
	case errors.As(err, &mistakes):
		return newBroken(mistakes), nil
	case err != nil:
		return checkedFile{}, err
	case l.Path == "":
		return checkedFile{}, errNoFile()
	}

	c := checkedFile{File: cmp.Or(path, l.Path), Valid: true, Rules: len(l.File.Rules)}
	for _, r := range l.File.Rules {
		c.Cases += len(r.Cases.Match) + len(r.Cases.NoMatch)
	}
	c.add(isWarning, l.File.Advise(l.Defaults))
	return c, nil
}

// newBroken is a file with mistakes.
func newBroken(e *folder.RulesError) checkedFile {
	c := checkedFile{File: e.Path, Truncated: e.Err.Cut}
	c.add(isError, e.Err.Mistakes)
	return c
}

func (c *checkedFile) add(severity string, list []rule.Mistake) {
	c.Problems = make([]problem, len(list))
	for i, m := range list {
		c.Problems[i] = problem{m.Line, m.Column, severity, m.Message}
	}
}

// text shows the file to people.
func (c checkedFile) text() string {
	var b strings.Builder
	for _, x := range c.Problems {
		place := fmt.Sprintf("%s:%d:", c.File, x.Line)
		if x.Column > 0 {
			place += fmt.Sprintf("%d:", x.Column)
		}
		fmt.Fprintf(&b, "%s %s: %s\n", place, x.Severity, x.Message)
	}

	what := "warning"
	if !c.Valid {
		what = "mistake"
	}
	switch n := len(c.Problems); {
	case c.Truncated:
		fmt.Fprintf(&b, "%s: %s, and perhaps more.\n", c.File, terminal.Count(n, what))
	case n > 0:
		fmt.Fprintf(&b, "%s: %s.\n", c.File, terminal.Count(n, what))
	default:
		fmt.Fprintf(&b, "%s: fine, %s and %s.\n", c.File,
			terminal.Count(c.Rules, "rule"), terminal.Count(c.Cases, "case"))
	}

	return b.String()
}
