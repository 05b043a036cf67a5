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
	numbers = make([]int, lines.Count()+1)
	for n, number := 1, 1; n < len(numbers); n++ {
		for ; len(removed) > 0 && removed[0].Line == n; removed = removed[1:] {
			number += bytes.Count(removed[0].Text, []byte{'\n'})
		}
		for len(added) > 0 && added[0].Last < n {
			added = added[1:]
		}
		if len(added) == 0 || n < added[0].First {
			numbers[n] = number
			number++
		}
	}

	return f.appendOld(nil, lines), numbers
}

// appendOld appends the text of the file as it was before. The lines are those that it has now.
func (f *File) appendOld(text []byte, lines match.Lines) []byte {
	added, content := f.Added, lines.Text()
	text = slices.Grow(text, len(content)+f.removedSize())
	kept := 0 // where the lines begin that are the same and not there yet
	keep := func(n, behind int) {
		text = append(text, content[kept:max(kept, lines.Start(n))]...)
		kept = max(kept, lines.Start(behind))
	}
	for _, r := range f.Removed {
		for ; len(added) > 0 && added[0].First < r.Line; added = added[1:] {
			keep(added[0].First, added[0].Last+1)
		}
		keep(r.Line, r.Line)
		text = append(text, r.Text...)
	}
	for _, a := range added {
		keep(a.First, a.Last+1)
	}

	return append(text, content[kept:]...)
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
