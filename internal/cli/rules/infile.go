package rules

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/kind"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/structure"
)

// inFile says whether a rule looks at a file, as JSON has it.
type inFile struct {
	Path  string `json:"path"`
	Looks bool   `json:"looks"`
	Why   string `json:"why,omitempty"` // why not
}

// in says whether the rule looks at a file of the folder, and why not.
func (k known) in(file string) (*inFile, error) {
	path := filepath.ToSlash(filepath.Clean(file))
	if !filepath.IsLocal(file) {
		return nil, cli.Usagef("%s is not in this folder; name a file as the repository has it", file)
	}
	text, err := readFile(file)
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	out := &inFile{Path: path, Why: k.silence(path, text)}
	out.Looks = out.Why == ""

	return out, nil
}

// readFile reads a file that is not too large for a scan.
func readFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read

	text, err := io.ReadAll(io.LimitReader(f, scan.MaxFileSize+1))
	if err == nil && len(text) > scan.MaxFileSize {
		err = errors.New(file + " is too large for a scan")
	}

	return text, err
}

// silence says why the rule does not look at a file; "" when it does.
func (k known) silence(path string, text []byte) string {
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	has := language.Of(path, first)
	has = append(has, language.Inside(has, text)...)
	isSpoken := func(name string) bool {
		name, _ = language.Canonical(name)
		return slices.Contains(has, name)
	}
	switch {
	case k.Disabled:
		return "the rule is disabled"
	case match.NewGlobs(k.excludedFiles).Match(path):
		return "the rules file excludes the file from all rules"
	case len(k.Languages) > 0 && !slices.ContainsFunc(k.Languages, isSpoken):
		return "the file has none of the rule's languages"
	case len(k.Include) > 0 && !match.NewIncludes(k.Include).Match(path):
		return "no include of the rule matches its path"
	case match.NewGlobs(k.Exclude).Match(path):
		return "an exclude of the rule matches its path"
	}

	var whys []string
	for _, one := range kind.SetOf(k.Skip).Each() {
		if why := kind.Why(path, text, one); why != "" {
			whys = append(whys, "the rule skips "+one.String()+" files, and "+why)
		}
	}

	return strings.Join(whys, "; ")
}

// text says it to people.
func (f inFile) text() string {
	if f.Looks {
		return "The rule looks at " + f.Path + ".\n"
	}

	return "The rule does not look at " + f.Path + ": " + f.Why + ".\n"
}

// conditions are conditions as JSON, a line each.
func conditions(list []structure.Condition) (all []string) {
	for _, c := range list {
		all = append(all, string(rule.CompactJSON(c)))
	}

	return all
}
