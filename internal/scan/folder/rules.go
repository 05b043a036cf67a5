package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// Sources say where the rules of a scan come from.
type Sources struct {
	Root       string // what is scanned
	File       string // a rules file to apply, see rule.ParseLocalFile; "" for the one in Root
	NoDefaults bool   // without the default ruleset

	// Given stands for the rules file in Root, where what counts is not the one
	// on the disk.
	Given *Given
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

	// File is the rules file; without one it is empty. Its ids are not those of
	// Defaults.
	File *rule.File

	// Path is of the rules file that is applied; "" when there is none.
	Path string

	// Irregular says that Root has a rules file that is not applied, because a
	// symbolic link is on the way to it, or it is no file: a review does not
	// see such a one either.
	Irregular bool

	// Unknown are ids under `disable` and `override` that are not those of
	// default rules.
	Unknown []Unknown
}

// Unknown is an id in a rules file that no default rule has.
type Unknown struct {
	ID       string
	Line     int
	Override bool // it is under `override`
}

// RulesError says that a rules file has mistakes.
type RulesError struct {
	Path string
	Err  *rule.FileError
}

// Error has the first mistakes, each with its line.
func (e *RulesError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the mistakes.
func (e *RulesError) Unwrap() error { return e.Err }

// ErrNoRules says that there is nothing to look for.
var ErrNoRules = errors.New("there are no rules to apply")

// Load reads rules. A rules file with mistakes is a *RulesError. It fails with
// ErrNoRules when no rule is left, and with ctx's error.
func Load(ctx context.Context, s Sources) (*Loaded, error) {
	l := &Loaded{}
	if err := l.read(ctx, s); err != nil {
		return nil, err
	}
	if s.NoDefaults && len(l.File.Rules) == 0 {
		return nil, ErrNoRules
	}
	if s.NoDefaults && len(l.File.Disable)+len(l.File.Overrides) == 0 {
		return l, nil
	}

	rules, err := defaults.Load()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, r := range rules {
		known[r.FullID()] = true
	}
	for _, d := range l.File.Disable {
		if !known[rule.FullID(d.ID)] {
			l.Unknown = append(l.Unknown, Unknown{ID: d.ID, Line: d.Line})
		}
	}
	for _, o := range l.File.Overrides {
		if !known[rule.FullID(o.ID)] {
			l.Unknown = append(l.Unknown, Unknown{ID: o.ID, Line: o.Line, Override: true})
		}
	}
	if s.NoDefaults {
		return l, nil
	}

	l.Defaults = rules
	err = l.File.CheckClashes(func(id string) (rule.Origin, bool) { return rule.OriginDefault, known[id] })
	if err != nil {
		return nil, broken(l.Path, err)
	}
	// Each id is disabled once at most.
	if len(l.File.Rules) == 0 && len(l.File.Disable)-len(l.Unknown) == len(rules) {
		return nil, ErrNoRules
	}

	return l, nil
}

// read reads the rules file that applies.
func (l *Loaded) read(ctx context.Context, s Sources) (err error) {
	parse, limit := rule.ParseLocalFile, rule.MaxLocalFileSize
	if l.Path = s.File; l.Path == "" {
		parse, limit = rule.ParseFile, rule.MaxFileSize
		switch {
		case s.Given == nil:
			if err := l.find(s.Root); err != nil {
				return err
			}
		case s.Given.Data != nil:
			l.Path = s.Given.Name
			l.File, err = parse(ctx, s.Given.Data)
			return broken(l.Path, err)
		}
		if l.Path == "" {
			l.File = &rule.File{}
			return nil
		}
	}
	f, err := os.Open(l.Path)
	if err != nil {
		return fmt.Errorf("the rules file can't be read: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return fmt.Errorf("the rules file can't be read: %w", err)
	}
	l.File, err = parse(ctx, data)
	return broken(l.Path, err)
}

// find looks for the rules file of the folder at root.
func (l *Loaded) find(root string) error {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return err
	}
	path := filepath.Join(root, filepath.FromSlash(rule.FilePath))
	for _, step := range []struct {
		path    string
		regular bool
	}{{filepath.Dir(path), false}, {path, true}} {
		switch info, err := os.Lstat(step.path); {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("the rules file can't be read: %w", err)
		case step.regular && !info.Mode().IsRegular(), !step.regular && !info.IsDir():
			l.Irregular = true
			return nil
		}
	}
	l.Path = path
	return nil
}

// broken gives mistakes their file.
func broken(path string, err error) error {
	var mistakes *rule.FileError
	if errors.As(err, &mistakes) {
		return &RulesError{Path: path, Err: mistakes}
	}
	return err
}

// Rules is what a scan looks for, compiled. It is immutable.
type Rules struct {
	scanner *scan.Scanner
	request scan.Request
	exclude match.Globs
	pruned  match.Globs // those of exclude that match all that is in a directory they match
}

// Compile prepares the rules that were loaded, or those of them that a selection
// leaves.
func (l *Loaded) Compile(selection scan.Selection) (*Rules, error) {
	scanner := scan.NewScanner(nil, scan.Options{}) // it opens nothing
	set, err := scanner.AddRules(rule.Digest(l.Defaults), l.Defaults)
	if err != nil {
		return nil, err
	}
	r := &Rules{
		scanner: scanner,
		// An organization's rules are not known here.
		request: scan.Request{Selection: selection, Rules: set, File: l.File, OtherRules: true},
		exclude: match.NewGlobs(l.File.Exclude),
	}
	r.pruned = match.NewGlobs(slices.DeleteFunc(slices.Clone(l.File.Exclude), func(glob string) bool {
		return glob != "**" && !strings.HasSuffix(glob, "/**")
	}))
	_, err = r.single(Options{}) // so that what can't be compiled is known now
	return r, err
}

// single is for the files of one worker.
func (r *Rules) single(o Options) (*scan.Single, error) {
	request := r.request
	request.Budget, request.PlacesOnly = o.Budget, o.PlacesOnly
	if request.MaxFindings = MaxFindings; o.PlacesOnly {
		request.MaxFindings = MaxPlaces
	}
	return r.scanner.NewSingle(request)
}

// prunes says whether all in a directory is excluded, so that it need not be
// read: what `x/**` matches as a directory it matches with all that is in it.
func (r *Rules) prunes(directory string) bool { return r.pruned.Match(directory) }
