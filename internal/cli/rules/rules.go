// Package rules is what the subcommands of `prwarden rules` do: they check,
// test, try and explain rules, for people who write them.
package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// The formats of what commands print.
const (
	OutputText = "text"
	OutputJSON = "json"
)

func checkOutput(output string) error {
	if output != OutputText && output != OutputJSON {
		return cli.Usagef("--output: %q is not a format; use %s or %s", output, OutputText, OutputJSON)
	}
	return nil
}

// show prints lines so that nothing in them drives a terminal or is a command to
// a CI service.
func show(w io.Writer, text string) error {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "    ")) {
		b.WriteString(terminal.GuardLine(terminal.Safe(strings.TrimRight(line, "\r\n"))) + "\n")
	}

	checked := cli.Checked{To: w}
	fmt.Fprint(&checked, b.String())
	return checked.End()
}

// showJSON prints a value for programs, safe to print.
func showJSON(w io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	checked := cli.Checked{To: w}
	fmt.Fprintln(&checked, terminal.SafeJSON(data))
	return checked.End()
}

// load reads the default ruleset and a rules file. The path is "" for the one of
// the folder, which there may be none of. A file called as a repository calls it
// is read as a repository's: with tighter bounds, and not behind a symbolic link.
// A file with mistakes is a *folder.RulesError.
func load(ctx context.Context, path string) (*folder.Loaded, error) {
	from := folder.Sources{Root: ".", File: path}
	if clean := filepath.Clean(path); strings.HasSuffix("/"+filepath.ToSlash(clean), "/"+rule.FilePath) {
		from = folder.Sources{Root: filepath.Dir(filepath.Dir(clean))}
	}

	l, err := folder.Load(ctx, from)
	var mistakes *folder.RulesError
	switch {
	case errors.As(err, &mistakes):
		return nil, err
	case err != nil:
		return nil, &cli.UsageError{Err: err}
	case l.Irregular:
		return nil, cli.Usagef("the rules file can't be read: %s is no regular file, or behind a symbolic link",
			filepath.Join(from.Root, filepath.FromSlash(rule.FilePath)))
	case path != "" && l.Path == "":
		return nil, cli.Usagef("the rules file can't be read: there is no %s", terminal.Safe(path))
	}

	return l, nil
}

// errNoFile says that a command needs a rules file.
func errNoFile() error {
	return cli.Usagef("there is no %s here; name the rules file", rule.FilePath)
}
