package suppress

import "bytes"

// pairs are how comments and texts begin and end that can end within a line.
var pairs = [...][2]string{
	{"/*", "*/"}, {"<!--", "-->"}, {"{#", "#}"}, {"<%", "%>"}, {"{%", "%}"}, {"{{", "}}"}, {"(*", "*)"}, {"{-", "-}"},
	{"[[", "]]"}, {"#|", "|#"}, {"<#", "#>"}, {`"""`, `"""`}, {"'''", "'''"}, {`"`, `"`}, {"`", "`"},
}

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
