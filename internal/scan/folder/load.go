package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// Sources say where the rules of a scan come from.
type Sources struct {
	Root       string // what is scanned
	File       string // a rules file to apply, see rule.ParseOwnFile; "" for the one in Root
	NoDefaults bool   // without the default ruleset
}

// Loaded is the rules of a scan and where they come from.
type Loaded struct {
	Rules *Rules
	// File is the path of the rules file that is applied; "" when there is none.
	File string
	// Irregular says that Root has a rules file that is not applied, because a
	// symbolic link is on the way to it, or it is no file: a review does not
	// see such a one either.
	Irregular bool
	// Unknown are ids under `disable` that are not those of default rules.
	Unknown []rule.Disabled
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

// Load reads and compiles rules. A rules file with mistakes is a *RulesError.
// It fails with ErrNoRules when no rule is left, and with ctx's error.
func Load(ctx context.Context, s Sources) (*Loaded, error) {
	builtIn := sync.OnceValues(defaults.Load) // takes as long as a thousand rules
	var ahead sync.WaitGroup
	if !s.NoDefaults {
		ahead.Go(func() { _, _ = builtIn() })
	}
	l := &Loaded{}
	file, err := l.file(ctx, s)
	ahead.Wait()
	if err != nil {
		return nil, err
	}
	if s.NoDefaults && len(file.Disable) == 0 {
		return l, l.compile(file.Rules, file.Exclude)
	}
	defaultRules, err := builtIn()
	if err != nil {
		return nil, err
	}

	known := map[string]bool{}
	for _, r := range defaultRules {
		known[r.FullID()] = true
	}
	off := map[string]bool{}
	for _, d := range file.Disable {
		off[rule.FullID(d.ID)] = true
		if !known[rule.FullID(d.ID)] {
			l.Unknown = append(l.Unknown, d)
		}
	}
	rules := file.Rules
	if !s.NoDefaults {
		err := file.CheckClashes(func(id string) (rule.Origin, bool) { return rule.OriginDefault, known[id] })
		if err != nil {
			return nil, broken(l.File, err)
		}
		for _, r := range defaultRules {
			if !off[r.FullID()] {
				rules = append(rules, r)
			}
		}
	}
	return l, l.compile(rules, file.Exclude)
}

func (l *Loaded) compile(rules []rule.Rule, exclude []string) (err error) {
	if len(rules) == 0 {
		return ErrNoRules
	}
	l.Rules, err = Compile(rules, exclude)
	return err
}

// file reads the rules file that applies. Without one it is empty.
func (l *Loaded) file(ctx context.Context, s Sources) (*rule.File, error) {
	parse, limit := rule.ParseOwnFile, rule.MaxOwnFileSize
	if l.File = s.File; l.File == "" {
		parse, limit = rule.ParseFile, rule.MaxFileSize
		if err := l.find(s.Root); err != nil || l.File == "" {
			return &rule.File{}, err
		}
	}
	f, err := os.Open(l.File)
	if err != nil {
		return nil, fmt.Errorf("the rules file can't be read: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("the rules file can't be read: %w", err)
	}
	file, err := parse(ctx, data)
	return file, broken(l.File, err)
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
	l.File = path
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
