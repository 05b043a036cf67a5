// Package rules is what the subcommands of `prwarden rules` do: they check,
// test, try and explain rules, for people who write them.
package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
)

// The formats of what commands print.
const (
	OutputText = "text"
	OutputJSON = "json"
)

// Look is how a command prints.
type Look struct {
	Output string // OutputText or OutputJSON
	Color  string // see terminal.Colors
}

func (l Look) check() error {
	if l.Output != OutputText && l.Output != OutputJSON {
		return cli.Usagef("--output: %q is not a format; use %s or %s", l.Output, OutputText, OutputJSON)
	}
	return cli.CheckColor(l.Color)
}

// page is where text for people goes.
type page struct {
	w     *cli.Checked
	paint terminal.Painter
	width int
	live  bool // a terminal, whose lines break anywhere
}

func newPage(st cli.Streams, l Look) page {
	return page{
		w:     &cli.Checked{To: st.Out},
		paint: terminal.Painter(terminal.Colors(st.Out, l.Color, st.Lookup)),
		width: terminal.Width(st.Out, st.Lookup("COLUMNS")),
		live:  terminal.Is(st.Out),
	}
}

// printf prints lines of Safe parts, none of which a CI service takes for a
// command.
func (p page) printf(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprint(p.w, terminal.GuardLine(line))
	}
}

// end says whether all was printed.
func (p page) end() error { return p.w.End() }

// wrapped prints text in lines that fit, each after a lead.
func (p page) wrapped(lead, text string) {
	for _, line := range terminal.Wrap(terminal.Safe(text), p.width-terminal.Columns(lead)) {
		p.printf("%s%s\n", lead, line)
	}
}

// hint prints how to put something right, behind a lead. On a terminal it is
// broken between words; elsewhere a line is easier to search for.
func (p page) hint(lead, text string) {
	const word = "hint:"
	lines := []string{terminal.Safe(text)}
	if p.live {
		lines = terminal.Wrap(lines[0], p.width-len(lead)-len(word)-1)
	}
	p.printf("%s%s %s\n", p.paint.Text(terminal.Faint, lead), p.paint.Text(terminal.Cyan, word), lines[0])
	for _, line := range lines[1:] {
		p.printf("%s%s\n", strings.Repeat(" ", len(lead)+len(word)+1), line)
	}
}

// writeJSON writes a value for programs, safe to print.
func writeJSON(w io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, terminal.SafeJSON(data))
	return err
}

// localFile is the path of the rules file of the folder that a command runs in.
func localFile() string { return filepath.FromSlash(rule.FilePath) }

// ofRepository says whether a path is that of a repository's rules file, which
// has tighter bounds than other rules files.
func ofRepository(path string) bool {
	path = filepath.ToSlash(filepath.Clean(path))
	return path == rule.FilePath || strings.HasSuffix(path, "/"+rule.FilePath)
}

// hasLocalFile reports whether the folder has a rules file, or something else
// where one would be.
func hasLocalFile() bool {
	_, err := os.Lstat(localFile())
	return err == nil
}

// read reads a rules file, which must be a regular file: reading another might
// not end. Where a repository has its rules file it must not be a symbolic link
// either: a scan doesn't follow one there, and it may lead to a secret.
func read(path string) ([]byte, error) {
	path = filepath.Clean(path)
	look := os.Stat
	if ofRepository(path) {
		look = os.Lstat
		if info, err := os.Lstat(filepath.Dir(path)); err == nil && !info.IsDir() {
			return nil, cli.Usagef("the rules file can't be read: %s is no folder, "+
				"and a symbolic link is not followed there", terminal.Safe(filepath.Dir(path)))
		}
	}

	info, err := look(path)
	if err != nil {
		if path == localFile() && errors.Is(err, fs.ErrNotExist) {
			return nil, cli.Usagef("there is no %s here; name the rules file", path)
		}
		return nil, cli.Usagef("the rules file can't be read: %w", err)
	}

	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, cli.Usagef("the rules file can't be read: %s is a symbolic link, which is not followed there",
			terminal.Safe(path))
	case !info.Mode().IsRegular():
		return nil, cli.Usagef("the rules file can't be read: %s is no regular file", terminal.Safe(path))
	}

	f, err := os.Open(path)
	if err != nil {
		return nil, cli.Usagef("the rules file can't be read: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, rule.MaxLocalFileSize+1))
	if err != nil {
		return nil, cli.Usagef("the rules file can't be read: %w", err)
	}
	return data, nil
}

// origins says for messages whose rule has an id.
func origins(list []rule.Rule) func(id string) (rule.Origin, bool) {
	byID := make(map[string]rule.Origin, len(list))
	for _, r := range list {
		byID[r.FullID()] = r.Origin
	}
	return func(id string) (rule.Origin, bool) {
		o, ok := byID[id]
		return o, ok
	}
}
