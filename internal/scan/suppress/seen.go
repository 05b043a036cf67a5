package suppress

import (
	"unicode"
	"unicode/utf8"
)

// hides says whether a text has characters that a reader does not see, or that
// change the order of others. Those that join letters or choose how one looks are
// fine behind letters and symbols that need them, which no ASCII character does.
func hides(text []byte) bool {
	for before := rune(0); len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case unicode.IsControl(r) && r != '\t', r == '\u2028', r == '\u2029':
			return true
		case isJoiner(r) && before >= utf8.RuneSelf && (!isInvisible(before) || unicode.Is(unicode.Variation_Selector, before)):
		case isInvisible(r):
			return true
		}
		before = r
	}
	return false
}

// isInvisible tells characters that show nothing and take no room: those of
// Unicode's Default_Ignorable_Code_Point, of which Go has the parts, and the few
// others that format.
func isInvisible(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isJoiner tells ZWNJ and ZWJ, as Persian words and emoji have them, and variation
// selectors.
func isJoiner(r rune) bool {
	return r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Variation_Selector, r)
}
