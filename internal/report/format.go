package report

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/report/sarif"
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

// format is one way to write a report.
type format struct {
	name  string
	write func(io.Writer, Report, Style) error
	// shares tells that it is lines of text, which may stand beside others.
	shares bool
	// results tells that it can't say that a review has failed: without findings
	// its readers close those that they know.
	results bool
}

func formats() []format {
	return []format{
		{name: Table, write: writeTable, shares: true},
		{name: JSON, write: writeJSON},
		{name: SARIF, write: writeSARIF, results: true},
		{name: GitHub, write: writeGitHub, shares: true},
		{name: GitLab, write: writeGitLab, results: true},
		{name: JUnit, write: writeJUnit},
	}
}

// Formats are the names of all formats.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

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
// `FORMAT=FILE`. Without any it is a table. On one console only formats that are
// lines of text can be together.
func ParseOutputs(texts []string) ([]Output, error) {
	if len(texts) == 0 {
		return []Output{{Format: Table}}, nil
	}
	var list []Output
	var console []format
	taken := map[string]bool{}
	for _, text := range texts {
		name, file, toFile := strings.Cut(text, "=")
		all := formats()
		i := slices.IndexFunc(all, func(f format) bool { return f.name == name })
		place := "file " + filepath.Clean(file)
		if !toFile {
			place = "format " + name
		}
		switch {
		case i < 0:
			return nil, fmt.Errorf("%q is not a format; use %s, each alone or as FORMAT=FILE", name,
				strings.Join(Formats(), ", "))
		case toFile && file == "":
			return nil, fmt.Errorf("%q has no file after the =", text)
		case taken[place]:
			return nil, fmt.Errorf("two outputs have the %s", place)
		case !toFile:
			console = append(console, all[i])
		}
		taken[place] = true
		list = append(list, Output{Format: name, File: file})
	}

	for _, f := range console {
		if len(console) > 1 && !f.shares {
			return nil, fmt.Errorf("the format %s can't share standard output with another; write it to a file with %s=FILE",
				f.name, f.name)
		}
	}
	return list, nil
}

// Told reports whether the outputs tell people on the console how it ended.
func Told(outputs []Output) bool {
	return slices.Contains(outputs, Output{Format: Table})
}

// Write writes a report to each of the outputs. Those without a file go to the
// console, after the files, since its reader may go away. Files appear whole or
// not at all. SARIF and GitLab's format can only show complete reviews: for
// others Write removes the file of an earlier call.
func Write(outputs []Output, r Report, console io.Writer, style Style) error {
	var errs []error
	var last []format
	for _, o := range outputs {
		for _, f := range formats() {
			switch {
			case f.name != o.Format:
			case f.results && !r.complete():
				errs = append(errs, removeFile(o.File))
			case o.File == "":
				last = append(last, f)
			default:
				err := writeFile(o.File, func(w io.Writer) error { return f.write(w, r, Style{Width: terminal.DefaultWidth}) })
				if err != nil {
					errs = append(errs, fmt.Errorf("%s=%s: %w", o.Format, terminal.Safe(o.File), err))
				}
			}
		}
	}

	for _, f := range last {
		errs = append(errs, f.write(console, r, style))
	}
	return errors.Join(errs...)
}

// removeFile removes the report of an earlier call, if there is one.
func removeFile(name string) error {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || isStream(name) {
		return nil
	}
	return os.Remove(name)
}

// isStream reports whether a name is the system's for something that is open,
// which may be a file, but is called otherwise.
func isStream(name string) bool {
	name = filepath.ToSlash(filepath.Clean(name))
	return name == "/dev/stdout" || name == "/dev/stderr" || strings.HasPrefix(name, "/dev/fd/") ||
		strings.HasPrefix(name, "/proc/")
}

// writeFile writes a file beside its place and then moves it there. What is
// there and no regular file, such as a pipe, is written to itself, and so is
// /dev/stdout. Who may read a file is as for every new one, or as it was.
func writeFile(name string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(name); err == nil && (!info.Mode().IsRegular() || isStream(name)) {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}

	f, err := createBeside(name)
	if err != nil {
		return err
	}
	err = write(f)
	if old, missing := os.Lstat(name); err == nil && missing == nil && old.Mode().IsRegular() {
		err = f.Chmod(old.Mode().Perm())
	}

	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// createBeside makes a file with another name in the same folder. Unlike those of
// os.CreateTemp it has the mode that the umask leaves.
func createBeside(name string) (f *os.File, err error) {
	dir, base := filepath.Split(name)
	for range 100 {
		f, err = os.OpenFile(filepath.Join(dir, fmt.Sprintf(".%s.%08x", base, rand.Uint32())),
			os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			break
		}
	}
	return f, err
}

func writeSARIF(w io.Writer, r Report, _ Style) error {
	guarded := newGuard(w)
	return errors.Join(sarif.Write(guarded, sarif.Input{
		Review: r.Review, Rules: r.Rules, Version: r.Version,
		RepositoryURI: r.RepositoryURI, OmitSuppressed: r.OmitSuppressed,
	}), guarded.Flush())
}
