package structure

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/syntax"
)

// File is a text with what finders remember of it. It is for one goroutine at a time.
type File struct {
	*syntax.Text
	index   *index
	depth   []int32
	segment []int32
	vary    []int32
}

// NewFile returns a text for finders.
func NewFile(t *syntax.Text) *File { return &File{Text: t} }

// index is where the tokens stand that patterns have as words, by the hashes of their
// contents: in buckets of some hashes each. Brackets and ends of lines are not in it.
type index struct {
	starts []int32 // of the buckets, then the number of tokens
	hashes []uint32
	tokens []int32 // in each bucket ascending
}

func (f *File) tokenIndex() *index {
	if f.index != nil {
		return f.index
	}
	isWord := func(t syntax.Token) bool { return t.Kind < syntax.Open }
	words := 0
	for _, t := range f.Tokens {
		if isWord(t) {
			words++
		}
	}
	size := 64
	for size < words {
		size *= 2
	}
	x := &index{starts: make([]int32, size+1), hashes: make([]uint32, words), tokens: make([]int32, words)}
	folds := f.Language.FoldsCase()
	all := make([]uint32, 0, words)
	for i, t := range f.Tokens {
		if isWord(t) {
			h := hashOf(t.Kind, f.Content(i), folds)
			all = append(all, h)
			x.starts[x.bucket(h)]++
		}
	}
	for b := range size { // the ends of the buckets, which become their starts
		x.starts[b+1] += x.starts[b]
	}
	for i := len(f.Tokens) - 1; i >= 0; i-- {
		if isWord(f.Tokens[i]) {
			words--
			at := &x.starts[x.bucket(all[words])]
			*at--
			x.hashes[*at], x.tokens[*at] = all[words], int32(i)
		}
	}
	f.index = x

	return x
}

func (x *index) bucket(hash uint32) int { return int(hash) & (len(x.starts) - 2) }

// among is how many tokens have a hash or one of its bucket.
func (x *index) among(hash uint32) int32 {
	b := x.bucket(hash)
	return x.starts[b+1] - x.starts[b]
}

// has says whether a token has a hash.
func (x *index) has(hash uint32) bool {
	b := x.bucket(hash)
	return slices.Contains(x.hashes[x.starts[b]:x.starts[b+1]], hash)
}

// at calls found with the tokens of a hash in order, until it says stop.
func (x *index) at(hash uint32, found func(i int) bool) {
	b := x.bucket(hash)
	for k := x.starts[b]; k < x.starts[b+1]; k++ {
		if x.hashes[k] == hash && !found(int(x.tokens[k])) {
			return
		}
	}
}

// hashOf is equal for contents that are the same.
func hashOf(kind syntax.Kind, content []byte, folds bool) uint32 {
	h := uint32(2166136261) ^ uint32(kind)
	if !folds || kind != syntax.Name {
		for _, c := range content {
			h = (h ^ uint32(c)) * 16777619
		}
		return h ^ h>>15
	}

	for len(content) > 0 {
		r, n := utf8.DecodeRune(content)
		least := r
		for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
			least = min(least, x)
		}
		h = (h ^ uint32(least)) * 16777619
		content = content[n:]
	}

	return h ^ h>>15
}

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

// knows says whether the hashes of a file are equal to those of a pattern for equal words.
func (f *File) knows(p *pattern) bool { return p.language.FoldsCase() == f.Language.FoldsCase() }

// hasWords says whether a file has all words of a pattern, or is not known to.
func (f *File) hasWords(p *pattern) bool {
	return !f.knows(p) || !slices.ContainsFunc(p.hashes, func(h uint32) bool { return !f.tokenIndex().has(h) })
}

// may says whether a file has the words that each place of a condition needs.
func (f *File) may(n *node) bool {
	return (n.pattern == nil || f.hasWords(n.pattern)) &&
		!slices.ContainsFunc(n.all, func(sub *node) bool { return !f.may(sub) }) &&
		(len(n.any) == 0 || slices.ContainsFunc(n.any, f.may)) &&
		(n.inside == nil || f.may(n.inside)) && (n.has == nil || f.may(n.has))
}

// starts calls try with the tokens with which a match of a pattern may begin, in order.
func (s *search) starts(p *pattern, try func(i int) bool) {
	if s.plain || !s.file.knows(p) {
		for i := range s.tokens {
			if !try(i) {
				return
			}
		}
		return
	}

	if !s.file.hasWords(p) {
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
