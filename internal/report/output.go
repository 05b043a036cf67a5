package report

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// The formats.
const (
	Table  = "table"
	JSON   = "json"
	SARIF  = "sarif"
	GitHub = "github"
	GitLab = "gitlab"
	JUnit  = "junit"
)

// Formats are the names of all formats.
func Formats() []string { return []string{Table, JSON, SARIF, GitHub, GitLab, JUnit} }

// Style is how text for people looks.
type Style struct {
	Width int // columns
	Color bool
}

// Output says in which format to write, and to where.
type Output struct {
	Format string
	File   string // "" for the console
}

// ParseOutputs reads outputs as command lines have them, `FORMAT` or
// `FORMAT=FILE`, where the file - is the console. Without any it is a table. On
// one console only formats that are lines of text can be together.
func ParseOutputs(texts []string) ([]Output, error) {
	if len(texts) == 0 {
		return []Output{{Format: Table}}, nil
	}

	var list []Output
	var console []string
	taken := map[string]bool{}
	for _, text := range texts {
		name, file, toFile := strings.Cut(strings.TrimSuffix(text, "=-"), "=")
		place := "file " + filepath.Clean(file)
		if !toFile {
			place = "format " + name
			console = append(console, name)
		}

		switch {
		case !slices.Contains(Formats(), name):
			return nil, fmt.Errorf("%q is not a format; use %s, each alone or as FORMAT=FILE", name,
				strings.Join(Formats(), ", "))
		case toFile && file == "":
			return nil, fmt.Errorf("%q has no file after the =", text)
		case taken[place]:
			return nil, fmt.Errorf("two outputs have the %s", place)
		}
		taken[place] = true
		list = append(list, Output{Format: name, File: file})
	}

	for _, name := range console {
		if len(console) > 1 && name != Table && name != GitHub {
			return nil, fmt.Errorf("the format %s can't share standard output with another; write it to a file with %s=FILE",
				name, name)
		}
	}
	return list, nil
}

// Write writes a report to each of the outputs. Those without a file go to the
// console, after the files, since its reader may go away. In SARIF and GitLab's
// format a review that isn't complete would look like one without findings: for
// such a review Write removes the file of an earlier call.
//
// What doesn't count for its low confidence is in JSON only, where it is named so.
func Write(outputs []Output, r Report, console io.Writer, style Style) error {
	var errs []error
	var printed []string
	for _, o := range outputs {
		if !r.complete() && (o.Format == SARIF || o.Format == GitLab) {
			errs = append(errs, o.Remove())
			continue
		}
		if o.File != "" {
			style := Style{Width: terminal.DefaultWidth}
			if err := writeFile(o.File, r, o.Format, style); err != nil {
				errs = append(errs, fmt.Errorf("%s=%s: %w", o.Format, terminal.Safe(o.File), err))
			}
			continue
		}

		text, err := r.text(o.Format, style)
		errs = append(errs, err)
		printed = append(printed, text)
	}

	for _, text := range printed {
		_, err := io.WriteString(console, text)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// text is the report in a format.
func (r Report) text(format string, style Style) (string, error) {
	switch format {
	case JSON:
		return r.json()
	case SARIF:
		return r.sarif()
	case GitHub:
		return r.annotations(), nil
	case GitLab:
		return r.codeQuality()
	case JUnit:
		return r.junit()
	}
	return r.table(style), nil
}

// Remove removes the report of an earlier call, if the output has one. What may be
// more than a report stays.
func (o Output) Remove() error {
	if info, err := os.Lstat(o.File); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return os.Remove(o.File)
}

// writeFile writes a report to a file. The file is replaced as a whole, so that
// nobody reads a half one, and so is a link that a repository may have brought
// along. The system's names for what is open, and pipes, are written to.
func writeFile(name string, r Report, format string, style Style) error {
	text, err := r.text(format, style)
	if err != nil {
		return err
	}

	info, missing := os.Lstat(name)
	special := missing == nil && info.Mode().Type()&^os.ModeSymlink != 0
	if special || isOpen(filepath.Clean(name)) {
		return os.WriteFile(name, []byte(text), 0o666)
	}

	temp := filepath.Join(filepath.Dir(name), ".prwarden-"+rand.Text()) // os.CreateTemp's can be read by the owner only
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if missing == nil && info.Mode().IsRegular() {
		err = f.Chmod(info.Mode().Perm())
	}
	_, failed := f.WriteString(text)
	if err = errors.Join(err, failed, f.Close()); err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// isOpen reports whether a name is the system's for what is open.
func isOpen(name string) bool {
	return name == "/dev/stdout" || name == "/dev/stderr" ||
		strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/")
}
