package structure

import "github.com/prwarden/prwarden/internal/syntax"

// Finders are the finders of many rules for files in a language. It has what all of them
// need in one piece of memory, since most rules are ruled out by that in most files: to
// fetch each finder would take longer than to ask it. It is immutable.
type Finders struct {
	needs []uint32
	from  []int32 // by rule, where its part of needs begins; then the length of needs
}

// NewFinders returns finders, by rule, for files in a language; nil is one that finds nothing.
func NewFinders(l *syntax.Language, all []*Finder) *Finders {
	x := &Finders{from: make([]int32, 1, len(all)+1)}
	for _, f := range all {
		switch {
		case f == nil:
		case f.language.FoldsCase() == l.FoldsCase():
			x.needs = append(x.needs, f.needs...)
		default:
			x.needs = append(x.needs, 0) // hashes of words in one language say nothing of the other
		}
		x.from = append(x.from, int32(len(x.needs)))
	}

	return x
}

// MayFind says whether a file in the language has words that a match of a rule needs.
func (x *Finders) MayFind(file *File, rule int) bool {
	return file.tokenIndex().mayHave(x.needs[x.from[rule]:x.from[rule+1]])
}
