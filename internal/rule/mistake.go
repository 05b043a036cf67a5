package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Bounds of what is said about a rules file.
const (
	maxMistakes         = 50   // that are looked for
	maxThoroughMistakes = 1000 // that are looked for when it is read thoroughly
	maxMistake          = 300  // bytes of a mistake's message: it may quote the file
	maxHint             = 300  // bytes of a hint
)

// FileError says what is wrong with a rules file.
type FileError struct {
	Mistakes []Mistake // at least one, by place
	// Cut says that the search ended when it had found as many as are looked
	// for, so there may be more.
	Cut bool
}

// Mistake is one thing that is wrong in a rules file, or that is allowed and
// probably not meant.
type Mistake struct {
	Line    int    // from 1
	Column  int    // from 1, in bytes; 0 when it is not known, or is about the whole line
	Message string // a phrase
	Hint    string // a phrase that says how to put it right; empty when that is plain
}

// Line is the line of the first mistake.
func (e *FileError) Line() int { return e.Mistakes[0].Line }

// Error names the first three mistakes, each with its line and its hint.
func (e *FileError) Error() string {
	const shown = 3
	var parts []string
	for _, m := range e.Mistakes[:min(shown, len(e.Mistakes))] {
		part := fmt.Sprintf("line %d: %s", m.Line, m.Message)
		if m.Hint != "" {
			part += " (" + m.Hint + ")"
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, "; ")
	if n := len(e.Mistakes) - shown; n > 0 {
		if text += fmt.Sprintf("; and %d more", n); e.Cut {
			text += ", perhaps others"
		}
	}
	return text
}

// cut shortens a text that quotes the file.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// byPlace sorts mistakes as their author meets them: keys come in any order,
// and so do the checks.
func byPlace(list []Mistake) []Mistake {
	return slices.SortedStableFunc(slices.Values(list), func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
