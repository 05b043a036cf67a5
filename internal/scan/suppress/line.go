package suppress

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// pairs are how comments and texts begin and end that can end within a line.
var pairs = [...][2]string{
	{"/*", "*/"}, {"<!--", "-->"}, {"{#", "#}"}, {"<%", "%>"}, {"{%", "%}"}, {"{{", "}}"}, {"(*", "*)"}, {"{-", "-}"},
	{"[[", "]]"}, {"#|", "|#"}, {"<#", "#>"}, {`"""`, `"""`}, {"'''", "'''"}, {`"`, `"`}, {"`", "`"},
}

// openers are how comments begin that end with their line.
var openers = [...]string{"//", "--", "#", ";", "%", "!"}

// maxClosers is how many ends of comments and texts are taken off a directive.
const maxClosers = 8

// endOf returns the offset where the directive ends that starts at an offset of
// a line: where the comment or the text ends that is open there, and else at the
// end of the line without what ends a comment that began on a line before, as
// ` */`, or the text that it is in, as `",`.
func endOf(line []byte, at int) int {
	begin := at + len(Marker)
	end := len(line)
	before, quote := unquoted(line[:at])
	for _, p := range pairs {
		if k := bytes.Index(line[begin:end], []byte(p[1])); k >= 0 && isOpen(before, quote, p[0], p[1]) {
			end = begin + k
			if isDashed(p[1]) && bytes.HasSuffix(line[begin:end], []byte("--")) { // as `{{!-- … --}}`
				end -= 2
			}
		}
	}
	text := bytes.TrimRight(line[begin:end], " \t")
	for range maxClosers {
		n := closing(text)
		if n == 0 {
			break
		}
		text = bytes.TrimRight(text[:len(text)-n], " \t")
	}
	return begin + len(text)
}

// isDashed tells the ends that may have `--` before them.
func isDashed(closer string) bool { return closer == "}}" || closer == "%>" || closer == "]]" }

// isOpen says whether what opener begins has not ended at the end of a text, of
// which unquoted has returned what is given.
func isOpen(text []byte, quote, opener, closer string) bool {
	if opener == closer {
		return opener == quote
	}
	open := bytes.LastIndex(text, []byte(opener))
	return open >= 0 && bytes.LastIndex(text, []byte(closer)) < open
}

// unquoted returns a text without the quoted ones in it, as the `"` of `'"'` begins
// nothing and the `/*` of `'/*'` neither, and the quote that is open at its end. A
// single `'` without another is an apostrophe.
func unquoted(text []byte) (rest []byte, open string) {
	ended := [256]bool{} // the quotes without another one behind where we are
	for at := 0; at < len(text); {
		c := text[at]
		switch {
		case c == '\\' && at+1 < len(text):
			rest = append(rest, text[at:at+2]...)
			at += 2
			continue
		case c != '"' && c != '\'' && c != '`' || ended[c]:
			rest = append(rest, c)
			at++
			continue
		}
		quote := text[at : at+1]
		if triple := bytes.Repeat(quote, 3); c != '`' && bytes.HasPrefix(text[at:], triple) {
			quote = triple
		}
		if n := quoted(text[at:], quote); n > 0 {
			at += n
			continue
		}
		ended[c] = true
		if open == "" && (c != '\'' || len(quote) > 1) {
			open = string(quote)
		}
		rest = append(rest, quote...)
		at += len(quote)
	}
	return rest, open
}

// quoted returns the length of the quoted text that a text begins with, 0 if it
// does not end.
func quoted(text, quote []byte) int {
	for at := len(quote); at < len(text); at++ {
		switch {
		case text[at] == '\\':
			at++
		case bytes.HasPrefix(text[at:], quote):
			return at + len(quote)
		}
	}
	return 0
}

// closing returns how many bytes at the end of a directive don't belong to it.
func closing(text []byte) int {
	for _, p := range pairs {
		if len(p[1]) == 1 || !bytes.HasSuffix(text, []byte(p[1])) {
			continue
		}
		n := len(p[1])
		if isDashed(p[1]) && bytes.HasSuffix(text[:len(text)-n], []byte("--")) {
			n += 2
		}
		return n
	}
	// Quotes and brackets may belong to the reason: then they are there in pairs.
	bare := bytes.TrimRight(text, ",; \t")
	if len(bare) == 0 {
		return 0
	}
	single := false
	switch last := bare[len(bare)-1]; last {
	case '"', '\'', '`':
		single = bytes.Count(bare, []byte{last})%2 == 1
	case ')', ']', '}':
		opener := map[byte]string{')': "(", ']': "[", '}': "{"}[last]
		single = bytes.Count(bare, []byte{last}) > bytes.Count(bare, []byte(opener))
	}
	if single {
		return len(text) - len(bare) + 1
	}
	return 0
}

// Bare returns a line without the comment that is beside something else on it,
// so that what the comment accepts is recognised as what it was without. Space
// that was between them may stay. One with a mistake accepts nothing and may be
// code, so it stays.
func Bare(line []byte) []byte {
	d, ok := Parse(line)
	if !ok || d.Alone || d.Mistake != "" {
		return line
	}
	before, after := bytes.TrimRight(line[:d.Start], " \t"), bytes.TrimLeft(line[d.End:], " \t")
	for _, p := range pairs {
		opened, isOpen := bytes.CutSuffix(before, []byte(p[0]))
		closed, isClosed := bytes.CutPrefix(after, []byte(p[1]))
		if isOpen && isClosed {
			return bytes.Join([][]byte{opened, closed}, nil)
		}
	}
	for _, opener := range openers {
		if bytes.HasSuffix(before, []byte(opener)) {
			before = bytes.TrimRight(before, opener) // all of `;;` and `///`
			break
		}
	}
	return bytes.Join([][]byte{before, after}, nil)
}

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
		case isJoiner(r) && canBeJoined(before):
		case isInvisible(r):
			return true
		}
		before = r
	}
	return false
}

// canBeJoined reports whether a joiner may stand behind a character.
func canBeJoined(r rune) bool {
	return r >= utf8.RuneSelf && (!isInvisible(r) || unicode.Is(unicode.Variation_Selector, r))
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
	return r >= utf8.RuneSelf &&
		unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isJoiner tells ZWNJ and ZWJ, as Persian words and emoji have them, and variation
// selectors.
func isJoiner(r rune) bool {
	return r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Variation_Selector, r)
}
