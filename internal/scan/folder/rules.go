package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// Sources say where the rules of a scan come from.
type Sources struct {
	Root       string // what is scanned
	File       string // a rules file to apply, see rule.ParseLocalFile; "" for the one in Root
	NoDefaults bool   // without the default ruleset

	Given *Given // stands for the rules file in Root

	Organization []rule.Rule // rules that a server has; valid
}

// Given is a rules file that is somewhere else than on the disk.
type Given struct {
	Name string
	Data []byte // nil when there is none
}

// Loaded is the rules of a scan and where they come from.
type Loaded struct {
	// Defaults is the default ruleset; empty without it.
	Defaults []rule.Rule

	// Organization is the rules that a server has.
	Organization []rule.Rule

	// File is the rules file; without one it is empty. Its ids are not those of
	// Defaults and Organization.
	File *rule.File

	// Path is of the rules file that is applied; "" when there is none.
	Path string

	// Irregular says that Root has a rules file that is not applied, because a
	// symbolic link is on the way to it, or it is no file: a review does not
	// see such a one either.
	Irregular bool
}

// RulesError says that a rules file has mistakes.
type RulesError struct {
	Path string
	Err  *rule.FileError
}

// Error has the first mistakes, each with its line.
func (e *RulesError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// ErrNoRules says that there is nothing to look for.
var ErrNoRules = errors.New("there are no rules to apply")

// Load reads rules. A rules file with mistakes is a *RulesError. It fails with
// ErrNoRules when there is no rule, and with ctx's error.
func Load(ctx context.Context, s Sources) (*Loaded, error) {
	l := &Loaded{Organization: s.Organization}
	if err := l.read(ctx, s); err != nil {
		return nil, err
	}
	switch {
	case s.NoDefaults && len(l.File.Rules)+len(l.Organization) == 0:
		return nil, ErrNoRules
	case !s.NoDefaults:
		rules, err := defaults.Load()
		if err != nil {
			return nil, err
		}
		l.Defaults = rules
	}

	known := map[string]rule.Origin{}
	for _, r := range slices.Concat(l.Defaults, l.Organization) { // others go before default rules
		known[r.FullID()] = r.Origin
	}
	err := l.File.CheckClashes(func(id string) (rule.Origin, bool) { origin, ok := known[id]; return origin, ok })

	return l, broken(l.Path, err)
}

// read reads the rules file that applies.
func (l *Loaded) read(ctx context.Context, s Sources) (err error) {
	l.File, l.Path = &rule.File{}, s.File
	parse := rule.ParseFile
	var data []byte
	switch {
	case s.File != "":
		parse = rule.ParseLocalFile
		data, err = readUpTo(s.File, rule.MaxLocalFileSize+1)
	case s.Given == nil:
		if l.Path, l.Irregular, err = find(s.Root); l.Path != "" {
			data, err = readUpTo(l.Path, rule.MaxFileSize+1)
		}
	case s.Given.Data != nil:
		l.Path, data = s.Given.Name, s.Given.Data
	}

	if err != nil || data == nil {
		return err
	}
	l.File, err = parse(ctx, data)

	return broken(l.Path, err)
}

func readUpTo(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the rules file can't be read: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, fmt.Errorf("the rules file can't be read: %w", err)
	}

	return data, nil
}

// find looks for the rules file of the folder at root; "" for none.
func find(root string) (path string, irregular bool, err error) {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return "", false, err
	}

	path = filepath.Join(root, filepath.FromSlash(rule.FilePath))
	folder, err := os.Lstat(filepath.Dir(path))
	if err == nil && folder.IsDir() {
		var file fs.FileInfo
		if file, err = os.Lstat(path); err == nil && file.Mode().IsRegular() {
			return path, false, nil
		}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", false, fmt.Errorf("the rules file can't be read: %w", err)
	}

	return "", err == nil, nil
}

// broken gives mistakes their file.
func broken(path string, err error) error {
	if mistakes, ok := errors.AsType[*rule.FileError](err); ok {
		return &RulesError{Path: path, Err: mistakes}
	}

	return err
}

// Rules is what a scan looks for, compiled. It is immutable.
type Rules struct {
	scanner *scan.Scanner
	request scan.Request
	exclude match.Globs
	pruned  match.Globs // those of exclude that match all in a directory they match, so it need not be readable
	locks   bool        // some rules may look at files that are excluded
}

// Compile prepares the rules that were loaded, or those of them that are of a
// ruleset, see scan.Request.Ruleset, by a policy; nil for policy.Default.
func (l *Loaded) Compile(ruleset string, by *policy.Policy) (*Rules, error) {
	scanner := scan.NewScanner(nil, scan.Options{}) // it opens nothing
	rules := slices.Concat(l.Defaults, l.Organization)
	set, err := scanner.AddRules(context.Background(), "", rule.Digest(rules), rules)
	if err != nil {
		return nil, err
	}

	whole := slices.DeleteFunc(slices.Clone(l.File.Exclude), func(glob string) bool {
		return glob != "**" && !strings.HasSuffix(glob, "/**")
	})
	return &Rules{
		scanner: scanner,
		// Not all rules of an organization are known here.
		request: scan.Request{Ruleset: ruleset, Rules: set, File: l.File, OtherRules: true, Policy: by},
		exclude: match.NewGlobs(l.File.Exclude),
		pruned:  match.NewGlobs(whole),
		locks:   by != nil && len(by.Locked.Rules)+len(by.Locked.Rulesets) > 0,
	}, nil
}
