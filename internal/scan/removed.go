package scan

import (
	"bytes"
	"context"
	"slices"

	"github.com/prwarden/prwarden/internal/match"
)

// Removed is lines that a file had before.
type Removed struct {
	Line int    // of the file, before which they stood
	Text []byte // with their endings
}

func (f *File) removedSize() (size int) {
	for _, r := range f.Removed {
		size += len(r.Text)
	}

	return size
}

// seams are the lines before which lines were removed.
func (f *File) seams() []int {
	seams := make([]int, len(f.Removed))
	for i, r := range f.Removed {
		seams[i] = r.Line
	}

	return seams
}

// Old returns the text of the file as it was before, and by line the numbers that those
// had which were not added.
func (f *File) Old() (text []byte, numbers []int) {
	lines, added, removed := match.SplitLines(f.Content), f.Added, f.Removed
	count, number := lines.Count(), 1
	numbers = make([]int, count+1)
	size := len(f.Content)
	for _, r := range removed {
		size += len(r.Text)
	}
	text = make([]byte, 0, size)
	kept := 0 // where the lines begin that are the same and not there yet
	keep := func(n, behind int) {
		text = append(text, f.Content[kept:lines.Start(n)]...)
		kept = lines.Start(behind)
	}
	for n := 1; n <= count+1; n++ {
		for ; len(removed) > 0 && removed[0].Line == n; removed = removed[1:] {
			keep(n, n)
			text = append(text, removed[0].Text...)
			number += bytes.Count(removed[0].Text, []byte{'\n'})
		}
		for len(added) > 0 && added[0].Last < n {
			added = added[1:]
		}
		switch {
		case n > count:
		case len(added) > 0 && n >= added[0].First:
			keep(n, n+1)
		default:
			numbers[n] = number
			number++
		}
	}
	text = append(text, f.Content[kept:]...)

	return text, numbers
}

// isNew returns what says whether no match of a multiline rule started on a line, which
// was not added, before other lines were removed.
func (s *fileScan) isNew(ctx context.Context, file *match.File) func(rule, line int) bool {
	var old match.Lines
	var numbers []int
	started := map[int][]int{} // lines by rule

	return func(rule, line int) bool {
		lines, known := started[rule]
		if !known {
			if len(started) == 0 {
				text, was := s.file.Old()
				old, numbers = match.SplitLines(text), was
			}
			note := func(_, line int, _ func() bool) int {
				lines = append(lines, line)
				return listSuppressed
			}
			alone := file.Subset(func(i int) bool { return i == rule })
			// Where it is stopped, matches rather count as new.
			_, _ = alone.MatchApart(ctx, old, []LineRange{{First: 1, Last: old.Count()}}, 0, note)
			started[rule] = lines
		}
		_, found := slices.BinarySearch(lines, numbers[line])

		return !found
	}
}
