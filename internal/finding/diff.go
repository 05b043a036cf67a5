package finding

// Diff is what a review's commits change in some files.
type Diff struct {
	Files []FileDiff
	Done  int // how many of the paths that were asked for were looked at
}

// FileDiff is what is changed in a file, with what rules mask hidden.
type FileDiff struct {
	Path      string // at head, of a deleted one as it was; bytes, not always UTF-8
	OldPath   string // when it was another; "" otherwise
	Change    Change
	Added     int // lines, those too that are in no hunk
	Removed   int // likewise
	Hunks     []Hunk
	Truncated bool   // lines were left out
	NotShown  string // why there are no lines: SkipBinary, SkipFileTooLarge or SkipSubmodule; "" when there are
}

// Change is what became of a file.
type Change string

// The changes.
const (
	FileAdded    Change = "added"
	FileModified Change = "modified"
	FileRenamed  Change = "renamed"
	FileDeleted  Change = "deleted"
)

// Hunk is lines of a file that follow each other.
type Hunk struct {
	OldStart int // number of the first line before, or of that behind them
	NewStart int // likewise at head
	Section  string
	Lines    []DiffLine
}

// DiffLine is a line of a hunk.
type DiffLine struct {
	Kind      LineKind
	Text      string     // masked, valid UTF-8
	Masked    []TextSpan // of Text
	NoNewline bool       // the file ends with it, without a line ending
	Cut       bool       // its end is left out
}

// LineKind says on which sides of a diff a line is.
type LineKind int

// The kinds.
const (
	LineContext LineKind = 1 + iota
	LineAdded
	LineRemoved
)

// TextSpan is a part of a text: bytes Start, from 0, up to but without End.
type TextSpan struct{ Start, End int }

// Size estimates the memory that the diff takes, in bytes.
func (d Diff) Size() int64 {
	size := 256
	for _, f := range d.Files {
		size += 256 + len(f.Path) + len(f.OldPath)
		for _, h := range f.Hunks {
			size += 128 + len(h.Section)
			for _, l := range h.Lines {
				size += 80 + len(l.Text) + 16*len(l.Masked)
			}
		}
	}

	return int64(size)
}
