package difftest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// Result is the comparison of one pull request.
type Result struct {
	Counts   map[string]int // what was compared, by what it is
	Failed   bool           // there are no files to compare
	Problems []string       // where the two differ
}

// maxProblems is how many differences of a pull request are described.
const maxProblems = 10

func (r *Result) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Compare opens a pull request through source and compares it with what plain
// git says in the repository at dir.
func Compare(ctx context.Context, source scan.Source, dir string, target scan.Target) (_ *Result, err error) {
	r := &Result{Counts: map[string]int{"pull requests": 1}}
	want, err := plainEnds(ctx, dir, target.Number)
	if err != nil {
		return nil, err
	}
	change, err := source.Open(ctx, target)
	var failure *scan.Failure
	switch {
	case errors.As(err, &failure):
		r.Failed = true
		if failure.Code == scan.CodeRepositoryInvalid && want.Failure == "" {
			if _, _, _, err := plainDiff(ctx, dir, want.Base, want.Head); err != nil {
				r.Counts["broken for plain git too"]++
				return r, nil
			}
		}
		r.Counts["failures"]++
		if failure.Code != want.Failure {
			r.problem("failed with %v, should be %q", failure, want.Failure)
		}
		return r, nil
	case err != nil:
		return nil, err
	}
	defer func() { err = errors.Join(err, change.Close()) }()
	if got := (ends{Head: change.HeadSHA(), Base: change.BaseSHA()}); got != want {
		r.problem("ends are %+v, should be %+v", got, want)
		return r, nil
	}
	lines, _, paths, err := plainDiff(ctx, dir, want.Base, want.Head)
	if err != nil {
		return nil, err
	}
	before, err := plainBefore(ctx, dir, want.Base, want.Head)
	if err != nil {
		return nil, err
	}
	return r, r.compare(ctx, dir, change, lines, paths, before)
}

func (r *Result) compare(
	ctx context.Context, dir string, change scan.Change, lines Lines, paths []string, before map[string]earlier,
) error {
	var got []string
	for file, err := range change.Files(ctx) {
		if err != nil {
			return err
		}
		got = append(got, file.Path)
		want := lines[file.Path]
		delete(lines, file.Path)
		switch {
		case file.Submodule:
			continue
		case file.TooLarge:
			r.Counts["files that are too large"]++
			continue
		}
		if to, err := plainLink(ctx, dir, change.HeadSHA(), file.Path); err != nil {
			return err
		} else if to != "" {
			if r.Counts["links"]++; file.Before == nil || file.Before.Path != to || len(file.Added) > 0 {
				r.problem("%q is not looked at as %q, to which it leads", file.Path, to)
			}
			continue
		}
		r.compareFile(file, want)
		if old, _ := file.Old(); len(file.Removed) > 0 &&
			strings.TrimSuffix(string(old), "\n") != strings.TrimSuffix(before[file.Path].content, "\n") {
			r.problem("%q has other removed lines", file.Path)
		}
	}

	slices.Sort(paths)
	if !slices.Equal(got, paths) {
		r.problem("files are %q, should be %q", got, paths)
	}
	if change.FileCount() != len(paths) {
		r.problem("there are %d files, should be %d", change.FileCount(), len(paths))
	}
	for path, left := range lines {
		if len(left) > 0 {
			r.problem("%q has %d added lines that were not seen", path, len(left))
		}
	}

	r.Counts["files"] += len(got)
	return nil
}

func (r *Result) compareFile(file *scan.File, want map[int]string) {
	content := strings.Split(string(file.Content), "\n")
	seen := 0
	for _, span := range file.Added {
		for n := span.First; n <= span.Last; n++ {
			seen++
			text, added := want[n]
			switch {
			case n > len(content):
				r.problem("%q has no line %d", file.Path, n)
			case !added:
				r.problem("%q line %d is not added", file.Path, n)
			case content[n-1] != text:
				r.problem("%q line %d is %q, should be %q", file.Path, n, content[n-1], text)
			}
		}
	}

	if seen != len(want) {
		r.problem("%q has %d added lines, should be %d", file.Path, seen, len(want))
	}
	r.Counts["added lines"] += seen
}
