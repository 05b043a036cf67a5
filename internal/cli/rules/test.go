package rules

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// TestInput is what `rules test` was asked for.
type TestInput struct {
	File    string   // a rules file; "" for the default ruleset and the folder's file
	Samples []string // files and folders
	Verbose bool     // tell also what passed
	Look    Look
}

// failure is something that did not pass, as JSON has it.
type failure struct {
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// tested is a rule with its cases, or a sample with its annotations, as JSON has
// it.
type tested struct {
	Kind     string    `json:"kind"` // "rule" or "sample"
	Name     string    `json:"name"` // a full id, or a path
	File     string    `json:"file,omitempty"`
	Checks   int       `json:"checks"` // cases, or annotations
	Rules    int       `json:"rules,omitempty"`
	Failures []failure `json:"failures"`

	lines []string // of File
}

// The kinds of what is tested.
const (
	kindRule   = "rule"
	kindSample = "sample"
)

// suite is the rules that are there, and what was tested.
type suite struct {
	rules    map[string]rule.Rule // by full id
	ids      []string
	samples  []*sample
	sources  []source
	results  []tested
	untested []string // rules without cases that no sample names
	began    time.Time
}

// source is a group of rules whose cases are run.
type source struct {
	file  string // "" for the default ruleset
	list  []rule.Rule
	from  *rule.File // nil for the default ruleset
	lines []string
}

// Test runs the cases of rules, and compares what rules find in samples with
// what their annotations say. It fails with cli.ErrFound when something does
// not pass.
func Test(ctx context.Context, st cli.Streams, in TestInput) error {
	if err := in.Look.check(); err != nil {
		return err
	}
	s := &suite{rules: map[string]rule.Rule{}, began: time.Now()}
	p := newPage(st, in.Look)
	if err := s.load(ctx, st, in, p); err != nil {
		return err
	}
	if err := s.readSamples(in.Samples); err != nil {
		return err
	}

	if err := s.cases(ctx); err != nil {
		return err
	}
	for _, x := range s.samples {
		result, err := s.sample(ctx, x)
		if err != nil {
			return err
		}
		s.results = append(s.results, result)
	}
	s.findUntested()

	var err error
	if in.Look.Output == OutputJSON {
		err = s.writeJSON(st.Out)
	} else {
		s.print(p, in.Verbose)
		err = p.end()
	}
	if err == nil && slices.ContainsFunc(s.results, func(t tested) bool { return len(t.Failures) > 0 }) {
		return cli.ErrFound
	}
	return err
}

// load reads the rules. A file with mistakes is told as `rules check` does, and
// fails with cli.ErrFound.
func (s *suite) load(ctx context.Context, st cli.Streams, in TestInput, p page) error {
	builtIn, err := defaults.Load()
	if err != nil {
		return err
	}
	for _, r := range builtIn {
		s.rules[r.FullID()] = r
	}

	path := in.File
	if path == "" {
		s.sources = append(s.sources, source{list: builtIn})
		if hasLocalFile() {
			path = localFile()
		}
	}

	if path != "" {
		data, err := read(path)
		if err != nil {
			return err
		}
		c, file, err := check(ctx, path, data, builtIn, rule.Reading{NoCases: true})
		if err != nil {
			return err
		}
		if !c.Valid {
			if in.Look.Output == OutputJSON {
				err = writeJSON(st.Out, map[string]any{"files": []checkedFile{c}})
			} else {
				c.Problems = slices.DeleteFunc(c.Problems, func(x problem) bool { return x.Severity == isWarning })
				c.print(p)
				err = p.end()
			}
			if err == nil {
				err = cli.ErrFound
			}
			return err
		}
		s.sources = append(s.sources, source{file: path, list: file.Rules, from: file, lines: c.lines})
		for _, r := range file.Rules {
			s.rules[r.FullID()] = r
		}
	}

	for id := range s.rules {
		s.ids = append(s.ids, id)
	}
	slices.Sort(s.ids)
	return nil
}

// cases runs the cases of all rules.
func (s *suite) cases(ctx context.Context) error {
	for _, src := range s.sources {
		for i, r := range src.list {
			t := tested{Kind: kindRule, Name: r.FullID(), File: src.file, Failures: []failure{}, lines: src.lines}
			t.Checks = len(r.Cases.Match) + len(r.Cases.NoMatch)
			failed, err := rule.FailedCases(ctx, r)
			if err != nil {
				return err
			}
			for _, f := range failed {
				x := failure{Message: f.Field + ": " + f.Message, Hint: f.Hint}
				if src.from != nil {
					x.Line = src.from.FieldLine(i, f.Field)
				}
				t.Failures = append(t.Failures, x)
			}
			s.results = append(s.results, t)
		}
	}
	return nil
}

// findUntested notes the rules of the file that nothing was tried on.
func (s *suite) findUntested() {
	named := map[string]bool{}
	for _, x := range s.samples {
		for _, id := range x.rules() {
			named[id] = true
		}
	}
	for _, t := range s.results {
		if t.Kind == kindRule && t.Checks == 0 && !named[t.Name] {
			s.untested = append(s.untested, t.Name)
		}
	}
}

// hintAnnotate says how to make a file a sample.
const hintAnnotate = "write `prwarden: expect ID` in a comment on the line before one that the rule must match"

// readSamples reads the annotated files. Of a folder they are those that have an
// annotation.
func (s *suite) readSamples(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return cli.Usagef("the sample can't be read: %w", err)
		case info.IsDir():
			err = s.readFolder(path)
		default:
			err = s.readFile(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) readFile(path string) error {
	x, err := s.readSample(path)
	switch {
	case err != nil:
		return err
	case x == nil:
		return cli.Usagef("%s is binary or over 1 MiB: rules don't look at it", terminal.Safe(path))
	case x.empty():
		x.fail(1, "the sample has no annotation", hintAnnotate)
	}
	s.samples = append(s.samples, x)
	return nil
}

func (s *suite) readFolder(folder string) error {
	before := len(s.samples)
	err := walk(folder, func(path string) error {
		x, err := s.readSample(path)
		if err == nil && x != nil && !x.empty() {
			s.samples = append(s.samples, x)
		}
		return err
	})

	if err == nil && len(s.samples) == before { // it was named to be tested
		x := &sample{path: folder}
		x.fail(0, "no file in the folder has an annotation", hintAnnotate)
		s.samples = append(s.samples, x)
	}
	return err
}

// readSample reads the annotations of a file, or returns nil for one at which
// rules don't look.
func (s *suite) readSample(path string) (*sample, error) {
	content, err := readSource(path)
	if err != nil {
		return nil, cli.Usagef("the sample can't be read: %w", err)
	}
	if content == nil {
		return nil, nil
	}
	return parseSample(path, content, s.ids), nil
}

// readSource reads a file that rules look at, or returns nil for another.
func readSource(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // reading it might not end
		return nil, fmt.Errorf("%s is no regular file", terminal.Safe(path))
	}

	if info.Size() > scan.MaxFileSize {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if err != nil || scan.IsBinary(content) {
		return nil, err
	}
	return append([]byte{}, content...), nil
}

// walk calls do with the path of each regular file below a folder, in order. The
// folder itself may be a symbolic link.
func walk(root string, do func(path string) error) error {
	there, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	return filepath.WalkDir(there, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git" && path != there && entry.IsDir():
			return filepath.SkipDir
		case entry.Type().IsRegular() && entry.Name() != ".git":
			relative, err := filepath.Rel(there, path)
			if err != nil {
				return err
			}
			return do(filepath.Join(root, relative))
		}
		return nil
	})
}

// sample matches the rules that a sample names on it.
func (s *suite) sample(ctx context.Context, x *sample) (tested, error) {
	ids := x.rules()
	t := tested{
		Kind: kindSample, Name: x.path, File: x.path, Checks: len(x.annotations), Rules: len(ids),
		Failures: append([]failure{}, x.mistakes...), lines: x.lines,
	}
	compiled := make([]match.Rule, len(ids))
	for i, id := range ids { // paths are for repositories: a sample may be anywhere
		compiled[i] = match.Rule{Pattern: s.rules[id].Pattern, Multiline: s.rules[id].Multiline}
	}
	m, err := match.Compile(compiled)
	if err != nil {
		return t, err
	}
	found, err := matchLines(ctx, m, "", match.SplitLines([]byte(strings.Join(x.lines, "\n")+"\n")))
	if err != nil {
		return t, err
	}

	for _, i := range found.Stopped {
		t.Failures = append(t.Failures, failure{Message: ids[i] + " takes more than 2 seconds on this file"})
	}
	hit := map[annotation]bool{}
	for _, h := range found.Hits {
		hit[annotation{id: ids[h.Rule], target: h.Line}] = true
		if f := x.judge(ids[h.Rule], h); f != nil {
			t.Failures = append(t.Failures, *f)
		}
	}
	for _, a := range x.annotations {
		if a.want && a.target > 0 && !hit[annotation{id: a.id, target: a.target}] {
			t.Failures = append(t.Failures, failure{Line: a.target, Message: a.id + " must match here, and does not"})
		}
	}

	slices.SortStableFunc(t.Failures, func(a, b failure) int { return a.Line - b.Line })
	return t, nil
}

// judge says what is wrong with a hit of a rule, or returns nil.
func (s *sample) judge(id string, h match.Hit) *failure {
	want, known := s.expects(id, h.Line)
	code, annotated := s.on[h.Line]
	switch {
	case annotated && h.Column <= code:
		return &failure{
			Line: h.Line, Message: id + " matches here, beside an annotation, which is about the next line",
			Hint: "write the annotation on a line of its own, before the one that it is about",
		}
	case annotated, want:
		return nil
	case known:
		return &failure{Line: h.Line, Message: id + " must not match here, and does"}
	}

	return &failure{
		Line: h.Line, Message: id + " matches here, and no annotation says so",
		Hint: "if it should, write `prwarden: expect " + id + "` on the line before",
	}
}
