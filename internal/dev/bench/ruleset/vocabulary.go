package ruleset

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// use is how often a name is used in a text.
type use struct {
	all   int // times that it stands in the text
	calls int // of these, times before an opening parenthesis
}

// Vocabulary is the names of a text, with how often they are used.
type Vocabulary struct {
	names   map[string]use // identifiers, and pairs of them with a dot between
	folded  map[string]use // identifiers in lower case
	buckets map[bucket][]string
	words   [other + 1][]string // that names consist of, by how they are written
	grams   []uint32            // how often four letters follow each other, by hash
}

// gramBits is the size of the table of grams, as a power of two.
const gramBits = 22

// bucket holds names that rules would find about equally often.
type bucket struct {
	all, calls, length int
	dotted, folded     bool
}

// NewVocabulary counts the names in texts.
func NewVocabulary(texts ...[]byte) *Vocabulary {
	v := &Vocabulary{
		names:   map[string]use{},
		folded:  map[string]use{},
		buckets: map[bucket][]string{},
		grams:   make([]uint32, 1<<gramBits),
	}
	for _, text := range texts {
		v.count(text)
	}
	seen := map[string]bool{}
	for name, u := range v.names {
		fold := strings.ToLower(name)
		f := v.folded[fold]
		v.folded[fold] = use{all: f.all + u.all, calls: f.calls + u.calls}
		for _, word := range pieces(name) {
			if len(word) > 2 && !seen[word] {
				seen[word] = true
				v.words[kindOf(word)] = append(v.words[kindOf(word)], word)
			}
		}
	}
	for _, words := range v.words {
		slices.Sort(words)
	}
	for name, u := range v.names {
		b := bucketOf(name, u, false)
		v.buckets[b] = append(v.buckets[b], name)
	}
	for name, u := range v.folded {
		b := bucketOf(name, u, true)
		v.buckets[b] = append(v.buckets[b], name)
	}
	for _, names := range v.buckets {
		slices.Sort(names)
	}
	return v
}

func (v *Vocabulary) count(text []byte) {
	for i := 0; i+4 <= len(text); i++ {
		v.grams[gram(text[i:])]++
	}
	before := "" // the name that the next one follows after a dot
	for i := 0; i < len(text); {
		if !isWord(text[i]) {
			i++
			before = ""
			continue
		}
		start := i
		for i < len(text) && isWord(text[i]) {
			i++
		}
		if '0' <= text[start] && text[start] <= '9' {
			before = ""
			continue
		}
		name := string(text[start:i])
		call := 0
		if rest := bytes.TrimLeft(text[i:min(len(text), i+8)], " \t"); len(rest) > 0 && rest[0] == '(' {
			call = 1
		}
		add(v.names, name, call)
		if before != "" {
			add(v.names, before+"."+name, call)
		}
		before = ""
		if i < len(text) && text[i] == '.' {
			before = name
			i++
		}
	}
}

func add(names map[string]use, name string, call int) {
	u := names[name]
	u.all++
	u.calls += call
	names[name] = u
}

// use is how often name stands in the text; in any case if folded.
func (v *Vocabulary) use(name string, folded bool) use {
	if folded {
		return v.folded[strings.ToLower(name)]
	}
	return v.names[name]
}

// like returns the names that are used about as often as name and are about as
// long, or else those that are used about as often.
func (v *Vocabulary) like(name string, folded bool) []string {
	b := bucketOf(name, v.use(name, folded), folded)
	names := v.buckets[b]
	for far := 1; len(names) < 20 && far < 8; far++ {
		for _, length := range []int{b.length - far, b.length + far} {
			near := b
			near.length = length
			names = append(slices.Clip(names), v.buckets[near]...)
		}
	}
	return names
}

// rarity is how often those four letters of name stand in the text that do so
// least, in any case, as a power of two; 0 when they never do.
func (v *Vocabulary) rarity(name string) int {
	if len(name) < 4 {
		return -1
	}
	least := ^uint32(0)
	for i := 0; i+4 <= len(name); i++ {
		least = min(least, v.grams[gram([]byte(name[i:i+4]))])
	}
	return bits.Len32(least)
}

// gram hashes the first four bytes of text, letters in any case.
func gram(text []byte) uint32 {
	return (binary.LittleEndian.Uint32(text) | 0x20202020) * 0x9e3779b1 >> (32 - gramBits)
}

func bucketOf(name string, u use, folded bool) bucket {
	return bucket{
		all:    bits.Len(uint(u.all)),
		calls:  bits.Len(uint(u.calls)),
		length: len(name) / 4,
		dotted: strings.Contains(name, "."),
		folded: folded,
	}
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}
