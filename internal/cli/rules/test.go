package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// TestInput is what `rules test` was asked for.
type TestInput struct {
	File    string   // a rules file; "" for the one of the folder
	Samples []string // files and folders
}

// suite is the rules that samples may name, and what came of the samples.
type suite struct {
	rules       map[string]rule.Rule // by full id
	samples     int
	annotations int
	failures    []failure
}

// failure is something in a sample that did not pass.
type failure struct {
	path    string
	line    int
	message string
}

// Test runs the cases of the rules in a file, and compares what rules find in
// samples with what their annotations say. It fails with cli.ErrFound when
// something does not pass.
func Test(ctx context.Context, st cli.Streams, in TestInput) error {
	l, err := load(ctx, in.File) // which runs the cases
	var mistakes *folder.RulesError
	switch {
	case errors.As(err, &mistakes):
		return cmp.Or(show(st.Out, newBroken(mistakes).text()), cli.ErrFound)
	case err != nil:
		return err
	case l.Path == "":
		return errNoFile()
	}

	s := &suite{rules: rule.ByID(slices.Concat(l.Defaults, l.File.Rules))}
	cases := 0
	for _, r := range l.File.Rules {
		cases += len(r.Cases.Match) + len(r.Cases.NoMatch)
	}

	for _, path := range in.Samples {
		if err := s.path(ctx, path); err != nil {
			return err
		}
	}

	if n := len(s.failures); n > 0 {
		var text strings.Builder
		for _, f := range s.failures {
			fmt.Fprintf(&text, "%s:%d: %s\n", f.path, f.line, f.message)
		}
		fmt.Fprintf(&text, "FAIL: %s.\n", terminal.Count(n, "failure"))
		return cmp.Or(show(st.Out, text.String()), cli.ErrFound)
	}

	return show(st.Out, fmt.Sprintf("PASS: %s with %s, %s with %s.\n",
		terminal.Count(len(l.File.Rules), "rule"), terminal.Count(cases, "case"),
		terminal.Count(s.samples, "sample"), terminal.Count(s.annotations, "annotation")))
}

func (s *suite) fail(path string, line int, format string, args ...any) {
	s.failures = append(s.failures, failure{path, line, fmt.Sprintf(format, args...)})
}

// path tests a sample, or those of a folder: its files with annotations.
func (s *suite) path(ctx context.Context, root string) error {
	before := s.samples
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case !entry.Type().IsRegular(): // reading it might not end
			return nil
		}

		info, err := entry.Info()
		if err != nil || info.Size() > scan.MaxFileSize {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil || !scan.IsText(content) {
			return err
		}
		return s.sample(ctx, path, string(content))
	})

	if err != nil {
		return cli.Usagef("the sample can't be read: %w", err)
	}
	if s.samples == before { // it was named to be tested
		s.fail(root, 1, "there is no annotation; write `prwarden: expect ID` in a comment "+
			"on the line before one that the rule must match")
	}

	return nil
}

// spot is a rule on a line of a sample.
type spot struct {
	id   string // full
	line int
}

// sample matches the rules that a sample names on it.
func (s *suite) sample(ctx context.Context, path, text string) error {
	first := len(s.failures)
	expected, annotated := s.annotationsOf(path, text)
	if len(annotated) == 0 {
		return nil
	}
	s.samples++
	s.annotations += len(annotated)

	named := map[string]bool{}
	for at := range expected {
		named[at.id] = true
	}

	hit := map[spot]bool{}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		r := s.rules[id] // its paths are for repositories: a sample may be anywhere
		hits, _, err := rule.Try(ctx, r, language.Of(path, []byte(text)), text, len(text)+1)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			s.fail(path, 1, "%s: %v", id, err)
		}
		for _, h := range hits {
			at := spot{id, h.Line}
			hit[at] = true
			want, known := expected[at]
			switch {
			case annotated[h.Line], want:
			case known:
				s.fail(path, h.Line, "%s must not match here, and does", id)
			default:
				s.fail(path, h.Line, "%s matches here, and no annotation says so", id)
			}
		}
	}

	for at, want := range expected {
		if want && !hit[at] {
			s.fail(path, at.line, "%s must match here, and does not", at.id)
		}
	}

	slices.SortFunc(s.failures[first:], func(a, b failure) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.message, b.message))
	})
	return nil
}

// annotationsOf returns what the annotations of a sample expect, and the lines
// that hold one. In any comment, they say that rules must or must not match the
// next line that holds none:
//
//	prwarden: expect ID[, ID]
//	prwarden: ok ID[, ID]
func (s *suite) annotationsOf(path, text string) (expected map[spot]bool, annotated map[int]bool) {
	marker := regexp.MustCompile(`\bprwarden:[ \t]*(expect|ok)\b[ \t]*((?:[\w./-]+(?:[ \t]*,[ \t]*)?)*)`)
	expected, annotated = map[spot]bool{}, map[int]bool{}
	waiting := map[string]bool{} // what is expected of the next line, by full id
	n := 0
	for line := range strings.Lines(text) {
		n++
		m := marker.FindStringSubmatch(line)
		if m == nil {
			for id, want := range waiting {
				expected[spot{id, n}] = want
			}
			clear(waiting)
			continue
		}

		annotated[n] = true
		for given := range strings.SplitSeq(strings.TrimSuffix(m[2], "--"), ",") {
			given = strings.TrimSpace(given)
			_, ok := s.rules[rule.FullID(given)]
			switch {
			case given == "":
				s.fail(path, n, "an id of a rule is missing: `prwarden: %s ID` or `prwarden: %s ID, ID`", m[1], m[1])
			case !ok:
				s.fail(path, n, "there is no rule %q; `prwarden rules list` shows them", given)
			default:
				waiting[rule.FullID(given)] = m[1] == "expect"
			}
		}
	}

	if len(waiting) > 0 {
		s.fail(path, n, "no line follows that the annotation could be about")
	}
	return expected, annotated
}
