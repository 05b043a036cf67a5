package suppress

import (
	"bytes"
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
		case isDisruptive(r):
			return true
		case isJoiner(r) && before >= utf8.RuneSelf && (!isInvisible(before) || unicode.Is(unicode.Variation_Selector, before)):
		case isInvisible(r):
			return true
		}
		before = r
	}
	return false
}

// hidden says whether what is before a text on its line, or behind it, keeps a
// reader from seeing the text as it is: a terminal may erase, overwrite or conceal
// it, and a control of direction reverse it. A character without a width right
// before it could make another word of it. Other ones beside it hide only
// themselves.
func hidden(before, behind []byte) bool {
	if bytes.ContainsFunc(before, isDisruptive) || bytes.ContainsFunc(behind, isDisruptive) {
		return true
	}
	last, _ := utf8.DecodeLastRune(bytes.TrimPrefix(before, []byte("\ufeff"))) // the first line of a file may have a BOM
	return isInvisible(last)
}

// isDisruptive tells characters that may change how others on their line are
// shown: those that control terminals, end lines for some, or set the direction.
func isDisruptive(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
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
