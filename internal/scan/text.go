package scan

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/language"
)

// form is how the content of a file can be read.
type form int

const (
	isText  form = iota // as it is: in UTF-8 or something near it
	isUTF16             // text in UTF-16
	noText              // none of these
)

// formOf says how a content can be read, and returns its text. What has no NUL is
// text, whatever bytes there are. With a byte order mark of UTF-16 or UTF-32 a content
// may look like text for the characters that it is filled up with.
func formOf(content []byte) (text []byte, how form) {
	marked := bytes.HasPrefix(content, []byte{0xff, 0xfe}) || bytes.HasPrefix(content, []byte{0xfe, 0xff})
	if bytes.IndexByte(content, 0) < 0 || !marked && looksLikeText(content) {
		return content, isText
	}
	if text, ok := decodeUTF16(content); ok {
		return text, isUTF16
	}

	return content, noText
}

// IsText says whether a content can be read as text.
func IsText(content []byte) bool {
	_, how := formOf(content)
	return how != noText
}

// looksLikeText says whether at most a tenth of a content is control characters and
// bytes that are not UTF-8.
func looksLikeText(content []byte) bool {
	strange, most := 0, len(content)/10
	for at := 0; at < len(content); {
		c, size := rune(content[at]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(content[at:])
		}
		if isControl(c) || c == utf8.RuneError && size == 1 {
			if strange++; strange > most {
				return false
			}
		}
		at += size
	}

	return true
}

// isControl tells control characters that no text has; a text may have tabs, ends
// of lines and of pages, and what colours a terminal.
func isControl(c rune) bool {
	return unicode.IsControl(c) && (c < '\b' || c > '\r') && c != '\x1b'
}

// What a content in UTF-16 may have of what no text has, as parts of a hundred.
const (
	strangeWithMark    = 25 // with a byte order mark
	strangeWithoutMark = 5
)

// decodeUTF16 decodes a content in UTF-16. Without a byte order mark the order is
// that in which most NULs, the halves of ASCII characters, come. What is no character
// becomes U+FFFD.
func decodeUTF16(content []byte) (text []byte, ok bool) {
	var order binary.ByteOrder
	most := strangeWithMark
	switch {
	case bytes.HasPrefix(content, []byte{0xff, 0xfe, 0, 0}): // UTF-32
		return nil, false
	case bytes.HasPrefix(content, []byte{0xff, 0xfe}):
		order, content = binary.LittleEndian, content[2:]
	case bytes.HasPrefix(content, []byte{0xfe, 0xff}):
		order, content = binary.BigEndian, content[2:]
	default:
		most = strangeWithoutMark
		if order = likelyOrder(content); order == nil {
			return nil, false
		}
	}

	strange, limit := 0, len(content)/2*most/100
	text = make([]byte, 0, len(content))
	for at := 0; at+1 < len(content); at += 2 {
		c := rune(order.Uint16(content[at:]))
		if utf16.IsSurrogate(c) && at+3 < len(content) {
			if pair := utf16.DecodeRune(c, rune(order.Uint16(content[at+2:]))); pair != utf8.RuneError {
				c, at = pair, at+2
			}
		}
		if isControl(c) || utf16.IsSurrogate(c) || c&0xfffe == 0xfffe {
			if strange++; strange > limit {
				return nil, false
			}
		}
		text = utf8.AppendRune(text, c)
	}
	if len(content)%2 == 1 {
		text = utf8.AppendRune(text, utf8.RuneError)
	}

	return text, true
}

// likelyOrder is the order in which a content without a mark may be in UTF-16, nil
// for neither: nearly all of its NULs are on one side of pairs of bytes, and there
// are as many as a text has of which two fifths are ASCII.
func likelyOrder(content []byte) binary.ByteOrder {
	var count [2]int
	for at, c := range content {
		if c == 0 {
			count[at%2]++
		}
	}

	least := max(2, len(content)/5)
	switch {
	case count[1] >= least && count[0] <= count[1]/20:
		return binary.LittleEndian
	case count[0] >= least && count[1] <= count[0]/20:
		return binary.BigEndian
	}

	return nil
}

// notRead says why a file that is no text was not looked at as one: its name or its
// first line, or that it mostly can be read, say that it should be text.
func notRead(path string, content []byte) (reason string) {
	line, _, _ := bytes.Cut(content[:min(len(content), 256)], []byte{'\n'})
	if language.IsText(path, line) || isMostlyPrintable(content) {
		return finding.SkipUndecodable
	}

	return finding.SkipBinary
}

// pointer is what a file of Git LFS begins with that stands for one kept elsewhere.
var pointer = []byte("version https://git-lfs.github.com/spec/")

// foreign is a declaration, in one of the first two lines, that Python reads the file
// in an encoding in which ASCII does not stand for itself.
var foreign = regexp.MustCompile(
	`(?i)\A(?:[ \t\f]*(?:#[^\r\n]*)?\r?[\n\r])?[ \t\f]*#[^\r\n]*coding[:=][ \t]*` +
		`(?:u7|(?:unicode.1.1.)?utf.?7|(?:raw.)?unicode.escape|iso.?2022|hz)`)

// elsewhere says why the text of a file is not what is run: it is kept elsewhere, or
// written in an encoding that is not decoded; "" when it is.
func elsewhere(path string, text []byte) (reason string) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch {
	case bytes.HasPrefix(text, pointer) && !language.IsText(path, nil):
		return finding.SkipBinary
	case bytes.HasPrefix(text, pointer), foreign.Match(text[:min(len(text), 1024)]):
		return finding.SkipUndecodable
	}

	return ""
}

// isMostlyPrintable says whether a content is text but for NULs, as UTF-32 is.
func isMostlyPrintable(content []byte) bool {
	nuls, strange := 0, 0
	for _, c := range content {
		switch {
		case c == 0:
			nuls++
		case c >= utf8.RuneSelf || isControl(rune(c)):
			strange++
		}
	}

	printable := len(content) - nuls - strange
	return printable >= len(content)/5 && strange <= printable/10
}
