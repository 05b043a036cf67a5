// Package match finds the places in a file where rules match. It knows
// patterns, path globs and bytes, and nothing of git, reviews or severities.
//
// Rules are compiled once into a Matcher, which is immutable and safe for
// concurrent use; a Session matches one scan's files with it and holds the
// time that each rule may still spend. What a hit is, is defined by Reference,
// a slow and plain implementation that the engine is tested against.
package match

import "github.com/prwarden/prwarden/internal/match/confirm"

// Rule is what the engine needs of a rule. Hits refer to a rule by its index
// in the slice that was compiled.
type Rule struct {
	Pattern   string   // RE2, Go syntax, valid by CheckPattern
	Multiline bool     // match on the whole file instead of line by line
	Include   []string // doublestar globs, valid by CheckGlob; all files when empty
	Exclude   []string // doublestar globs, valid by CheckGlob
}

// Hit is one match. Lines and columns count from 1, columns in bytes.
type Hit struct {
	Rule      int // index of the rule
	Line      int // line of the first byte
	Column    int // of the first byte
	EndLine   int // line of the last byte
	EndColumn int // after the last byte
}

// LineRange is a run of lines, First to Last, counted from 1, both included.
type LineRange struct{ First, Last int }

// Span is a run of bytes, Start included, End not.
type Span = confirm.Span

// MaxLine is the length of a line, in bytes without its ending, over which it
// is not looked at.
const MaxLine = 16 << 10
