package structure

import (
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/syntax"
)

// index is where the tokens stand that patterns have as words, by the hashes of their
// contents: in buckets of some hashes each. Brackets and ends of lines are not in it.
type index struct {
	starts []int32  // of the buckets, then the number of tokens in them
	tokens []int32  // in each bucket ascending
	hashes []uint32 // by token

	// A bit for each of some hashes of words, and of two tokens in a row. It is set when one
	// of these is in the file: most rules are ruled out by it.
	bits []uint64
}

// bitsOfToken is how many bits of an index there are for each token, at least.
const bitsOfToken = 16

func (f *File) tokenIndex() *index {
	if f.index != nil {
		return f.index
	}
	words := 0
	for _, t := range f.Tokens {
		if isWord(t.Kind) {
			words++
		}
	}
	size := 64
	for 2*size < words {
		size *= 2
	}
	x := &index{starts: make([]int32, size+1), tokens: make([]int32, words), hashes: make([]uint32, len(f.Tokens))}
	for size < len(f.Tokens)*bitsOfToken {
		size *= 2
	}
	x.bits = make([]uint64, size/64)
	f.index = x

	folds := f.Language.FoldsCase()
	last := uint32(0) // the hash of the token before, 0 for none
	for i, t := range f.Tokens {
		h := uint32(0)
		switch {
		case isWord(t.Kind):
			h = hashOf(t.Kind, f.Content(i), folds)
			x.hashes[i] = h
			x.starts[x.bucket(h)]++
			x.set(h)
		case t.Kind == syntax.Open:
			h = hashOfOpen(t.Bracket)
		}
		if last != 0 && h != 0 {
			x.set(hashOfPair(last, h))
		}
		last = h
	}

	for b := 1; b < len(x.starts); b++ { // the ends of the buckets, which become their starts
		x.starts[b] += x.starts[b-1]
	}
	for i := len(f.Tokens) - 1; i >= 0; i-- {
		if isWord(f.Tokens[i].Kind) {
			at := &x.starts[x.bucket(x.hashes[i])]
			*at--
			x.tokens[*at] = int32(i)
		}
	}

	return x
}

// isWord says whether a token has a content that patterns have as such.
func isWord(k syntax.Kind) bool { return k < syntax.Open }

func (x *index) set(hash uint32) {
	at := int(hash) & (64*len(x.bits) - 1)
	x.bits[at/64] |= 1 << (at % 64)
}

// may says whether a file may have what has a hash.
func (x *index) may(hash uint32) bool {
	at := int(hash) & (64*len(x.bits) - 1)
	return x.bits[at/64]&(1<<(at%64)) != 0
}

func (x *index) bucket(hash uint32) int { return int(hash) & (len(x.starts) - 2) }

// among is how many tokens have a hash or one of its bucket.
func (x *index) among(hash uint32) int32 {
	b := x.bucket(hash)
	return x.starts[b+1] - x.starts[b]
}

// at calls found with the tokens of a hash in order, until it says stop.
func (x *index) at(hash uint32, found func(i int) bool) {
	b := x.bucket(hash)
	for _, i := range x.tokens[x.starts[b]:x.starts[b+1]] {
		if x.hashes[i] == hash && !found(int(i)) {
			return
		}
	}
}

// mayHave says whether a file may have what has the hashes of one of some alternatives, of a
// language.
func (f *File) mayHave(l *syntax.Language, alternatives []uint32) bool {
	return !f.knows(l) || f.tokenIndex().mayHave(alternatives)
}

// mayHave says it of a language that the file's knows. A 0 ends each of the alternatives.
func (x *index) mayHave(alternatives []uint32) bool {
	missing := false
	for _, h := range alternatives {
		switch {
		case h != 0:
			missing = missing || !x.may(h)
		case !missing:
			return true
		default:
			missing = false
		}
	}

	return false
}

// knows says whether equal words have equal hashes in the file and in a language.
func (f *File) knows(l *syntax.Language) bool { return l.FoldsCase() == f.Language.FoldsCase() }

// hashOfOpen is that of what opens a bracket.
func hashOfOpen(bracket byte) uint32 { return uint32(bracket) * 0x9E3779B1 }

// hashOfPair is that of two tokens in a row, by theirs.
func hashOfPair(a, b uint32) uint32 {
	h := (a*31 ^ b) * 0x9E3779B1
	return h ^ h>>15
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
