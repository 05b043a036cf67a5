package spelling

import (
	"bytes"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// frequent are words of many English sentences. Each has a bit of its own: other languages
// have these, too. A word that they rarely have has the bits of enough words.
var frequent = func() map[string]uint32 {
	const (
		shared = "a all an as at be for has in is me new no of on or so use was we"
		sure   = "about after already and any are because been before between but by can could did does each error " +
			"every from have here how if into it its just more must need not only our same should since some such " +
			"than that the their them then there these they this those through to until used using were what when " +
			"where whether which while who will with without would you your"
	)
	words := map[string]uint32{}
	for i, word := range strings.Fields(shared) {
		words[word] = 1 << i
	}
	for word := range strings.FieldsSeq(sure) {
		words[word] = 1<<32 - 1<<(32-enough)
	}

	return words
}()

// enough is how many different frequent words an English text has.
const enough = 3

const (
	// maxFrequent is how many letters the longest frequent word has.
	maxFrequent = 8
	// maxShort is how many other words a comment has, at most, that needs no frequent one.
	maxShort = 5
	// reach is how many bytes before and behind a word are looked at, at most.
	reach = 200
)

// isEnglish reports whether a line may be English, by what it has beside a misspelt word that
// begins at an offset: no letter but those of ASCII, and a frequent word that other languages
// rarely have, or three that they have, too. A short line that begins as a comment needs none.
//
// Without that, words of other languages would be found that look like misspelt ones, such as
// those of Spanish for problems and tendencies, and names.
func isEnglish(line []byte, from int) bool {
	others, found := 0, uint32(0) // bits of frequent words
	for i := 0; i < len(line); {
		start, end := nextWord(line, i)
		if hasForeign(line[i:start]) {
			return false
		}
		i = end
		if start == end || start == from {
			continue
		}
		others++
		if end-start > maxFrequent || !isBounded(line, start, end) {
			continue
		}
		var lower [maxFrequent]byte
		found |= frequent[string(lower[:copyLower(lower[:], line[start:end])])]
	}

	return bits.OnesCount32(found) >= enough || others <= maxShort && beginsComment(line)
}

// nextWord is the next run of letters in a line, at or behind an offset.
func nextWord(line []byte, at int) (from, to int) {
	for at < len(line) && class[line[at]]&letter == 0 {
		at++
	}
	from = at
	for at < len(line) && class[line[at]]&letter != 0 {
		at++
	}

	return from, at
}

// copyLower copies a word in lower case, and returns how many letters it has.
func copyLower(into, word []byte) int {
	for i, c := range word {
		into[i] = c | 0x20
	}

	return len(word)
}

// hasForeign reports whether a text has a letter that is not one of ASCII.
func hasForeign(text []byte) bool {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r >= utf8.RuneSelf && r != utf8.RuneError && unicode.IsLetter(r) {
			return true
		}
		text = text[size:]
	}

	return false
}

// beginsComment reports whether a line begins as comments do in most languages, and not as a
// list or a heading below the first does in Markdown.
func beginsComment(line []byte) bool {
	text := bytes.TrimLeft(line, " \t")
	for _, mark := range []string{"//", "# ", "-- ", "/*"} {
		if bytes.HasPrefix(text, []byte(mark)) {
			return true
		}
	}

	return false
}
