package structure

import (
	"slices"

	"github.com/prwarden/prwarden/internal/syntax"
)

// File is a text with what finders remember of it. It is for one goroutine at a time.
type File struct {
	*syntax.Text
	index   *index
	depth   []int32
	segment []int32
	vary    []int32
	lists   map[listKey]listOf
	kept    int // places in lists
}

// listKey is a pattern in a language.
type listKey struct {
	language *syntax.Language
	pattern  string
}

// listOf is the places of a pattern, with the steps that it took to find them.
type listOf struct {
	*list
	steps int
}

// NewFile returns a text for finders.
func NewFile(t *syntax.Text) *File { return &File{Text: t} }

// depths is how many brackets are around each token.
func (f *File) depths() []int32 {
	if f.depth == nil {
		f.nest()
	}

	return f.depth
}

// segments is for each token the first one of the run of tokens, with the brackets in it,
// that no end of a statement or of brackets is in.
func (f *File) segments() []int32 {
	if f.segment == nil {
		f.nest()
	}

	return f.segment
}

func (f *File) nest() {
	f.depth, f.segment = make([]int32, len(f.Tokens)+1), make([]int32, len(f.Tokens))
	starts := []int32{0} // of the segments that are open
	for i, t := range f.Tokens {
		top := len(starts) - 1
		if t.Kind == syntax.Close && t.Pair >= 0 && top > 0 {
			starts = starts[:top]
			top--
		}
		f.depth[i], f.segment[i] = int32(top), starts[top]
		switch {
		case t.Kind == syntax.Open && t.Pair >= 0:
			starts = append(starts, int32(i)+1)
		case t.Kind == syntax.Close && t.Pair < 0, t.Kind == syntax.LineEnd,
			t.Kind == syntax.Operator && string(f.Of(i)) == ";":
			starts[top] = int32(i) + 1
		}
	}
}

// starts calls try with the tokens with which a match of a pattern may begin, in order.
func (s *search) starts(p *pattern, try func(i int) bool) {
	if s.plain || !s.file.knows(p.language) {
		for i := range s.tokens {
			if !try(i) {
				return
			}
		}
		return
	}

	if !s.file.mayHave(p.language, p.needs) {
		return
	}
	if p.elements[0].kind == literal {
		s.file.tokenIndex().at(p.hashes[0], try)
		return
	}
	for _, i := range s.before(p) {
		if !try(int(i)) {
			return
		}
	}
}

// before is the tokens of the segments in which a word of a pattern stands that is in the
// segment in which a match begins, up to the last such word.
func (s *search) before(p *pattern) []int32 {
	x := s.file.tokenIndex()
	anchor, least := uint32(0), int32(-1)
	for _, k := range p.anchors {
		h := p.hashes[k]
		if n := x.among(h); least < 0 || n < least {
			anchor, least = h, n
		}
	}
	if least < 0 {
		all := make([]int32, len(s.tokens))
		for i := range all {
			all[i] = int32(i)
		}
		s.step(len(all))
		return all
	}

	segments := s.file.segments()
	reached := map[int32]int32{} // by the start of a segment
	var all []int32
	x.at(anchor, func(i int) bool {
		start := segments[i]
		from, ok := reached[start]
		if !ok {
			from = start
		}
		for ; from <= int32(i) && s.step(1); from = int32(s.after(int(from))) {
			all = append(all, from)
		}
		reached[start] = from

		return s.step(1)
	})
	slices.Sort(all)

	return all
}

// after is the token behind a token, or behind the brackets that it opens.
func (s *search) after(i int) int {
	if t := s.tokens[i]; t.Kind == syntax.Open && t.Pair > int32(i) {
		return int(t.Pair) + 1
	}

	return i + 1
}
