package rules

import (
	"cmp"
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
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
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
	Severity string `json:"severity"`         // error or warning
	Message  string `json:"message"`
}

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
	c.add("warning", l.File.Advise(l.Defaults))
	return c, nil
}

// newBroken is a file with mistakes.
func newBroken(e *folder.RulesError) checkedFile {
	c := checkedFile{File: e.Path, Truncated: e.Err.Cut}
	c.add("error", e.Err.Mistakes)
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

// TryInput is what `rules try` was asked for.
type TryInput struct {
	Pattern   string
	Paths     []string // files and folders
	Include   []string // globs of files, relative to the folder
	Exclude   []string
	In        []string
	Structure []string // languages in which the pattern is code with metavariables; none for a regular expression
	Multiline bool
}

// Try shows where a pattern matches in files, and what it costs.
func Try(ctx context.Context, st cli.Streams, in TryInput) error {
	r := rule.Rule{
		ID: "try", Type: rule.TypeRegex, Pattern: in.Pattern, Message: "matches", Severity: rule.Info,
		Paths: rule.Paths{Include: in.Include, Exclude: in.Exclude}, Multiline: in.Multiline,
		In: rule.PlacesOf(in.In), Languages: in.Structure,
	}
	if len(in.Structure) > 0 {
		r.Type = rule.TypeStructure
	}

	var invalid *errs.Error
	if err := rule.Validate(ctx, r); errors.As(err, &invalid) {
		var parts []string
		for _, v := range invalid.Fields {
			parts = append(parts, v.Field+" "+v.Description)
		}
		return cli.Usagef("%s", strings.Join(parts, "\n"))
	} else if err != nil {
		return err
	}

	loaded := folder.Loaded{File: &rule.File{Rules: []rule.Rule{r}}}
	compiled, err := loaded.Compile("", nil)
	if err != nil {
		return err
	}

	matches, files, stopped := 0, 0, 0
	for _, path := range in.Paths {
		sum, err := tryPath(ctx, st, path, compiled)
		if err != nil {
			return err
		}
		matches += sum.Findings[rule.Info]
		files += sum.Scanned
		stopped += sum.Skipped[finding.SkipRuleStopped]
	}

	word := "matches"
	if matches == 1 {
		word = "match"
	}
	text := fmt.Sprintf("%d %s in %s.\n", matches, word, terminal.Count(files, "file"))
	if stopped > 0 {
		text += fmt.Sprintf("It was stopped in %s, where it took too much work.\n", terminal.Count(stopped, "file"))
	}
	if cost, err := r.Cost(); err == nil {
		text += "It costs " + price(cost) + "\n"
	}
	return show(st.Err, text)
}

// tryPath shows the matches in a file or below a folder.
func tryPath(ctx context.Context, st cli.Streams, root string, rules *folder.Rules) (folder.Summary, error) {
	info, err := os.Stat(root)
	if err != nil {
		return folder.Summary{}, cli.Usagef("there is nothing to look at: %w", err)
	}
	if !info.IsDir() {
		root = filepath.Clean(root)
	}

	var unread error
	sum, err := folder.Scan(ctx, root, rules, folder.Options{
		Found: func(r scan.FileResult) error {
			var text strings.Builder
			for _, f := range r.Findings {
				if f.Severity != rule.Info { // it is about a comment that suppresses findings
					continue
				}
				path := root
				if info.IsDir() {
					path = filepath.Join(root, filepath.FromSlash(f.File))
				}
				fmt.Fprintf(&text, "%s:%d:%d: %s\n", path, f.Line, f.Column, strings.TrimSpace(f.Snippet))
			}
			return show(st.Out, text.String())
		},
		Notice: func(n folder.Notice) {
			if n.Err != nil {
				unread = cmp.Or(unread, fmt.Errorf("%s: %w", terminal.Safe(n.File), n.Err))
			}
		},
	})

	return sum, cmp.Or(err, unread)
}

// price says what a rule costs.
func price(c rule.Cost) string {
	text := fmt.Sprintf("about %v for a MiB of code", c.PerMiB.Round(100*time.Nanosecond))
	if c.By != "" {
		text += fmt.Sprintf(", looked for by %q", c.By)
	}
	return strings.TrimSpace(text + ". " + c.Advice)
}

// about says what entropy asks for beside that.
func about(e rule.EntropyDocument) (text string) {
	if e.Group > 0 {
		text = fmt.Sprintf(", that of group %d", e.Group)
	}
	if e.Min > 0 {
		text += fmt.Sprintf(", with %g bits for each byte", e.Min)
	}
	return text
}
