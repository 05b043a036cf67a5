// Package terminal shows text to people: it knows whether there is a terminal
// and how wide it is, and makes text from strangers safe to print.
package terminal

import (
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// DefaultWidth is the width, in columns, where none is known.
const DefaultWidth = 100

// minWidth is the least width that output is fitted into.
const minWidth = 40

// Is reports whether w is a terminal.
func Is(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the width of w, in columns: a terminal's own, else the one in
// COLUMNS, else DefaultWidth.
func Width(w any, columns string) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, minWidth)
		}
	}
	if n, err := strconv.Atoi(columns); err == nil && n > 0 {
		return max(n, minWidth)
	}
	return DefaultWidth
}

// Safe returns text with everything that is not plainly visible written as
// escape sequences of Go strings, so that the content of a repository can't
// drive the terminal, fake lines, or turn the reading direction.
func Safe(text string) string {
	var b strings.Builder
	var room [16]byte
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i])|0x100, 16)[1:])
		case unicode.IsPrint(r):
			b.WriteString(text[i : i+n])
		default:
			quoted := strconv.AppendQuoteRuneToASCII(room[:0], r)
			b.Write(quoted[1 : len(quoted)-1])
		}
		i += n
	}
	return b.String()
}

// SafeJSON returns a JSON text in which no string holds anything that is not
// plainly visible, nor a mark of a command to a CI service; it means the same.
func SafeJSON(text []byte) string {
	var b strings.Builder
	b.Grow(len(text))
	for len(text) > 0 {
		n := plain(text)
		b.Write(text[:n])
		if text = text[n:]; len(text) == 0 {
			break
		}
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16Units(r) {
			b.WriteString(`\u` + strconv.FormatUint(uint64(unit)|0x10000, 16)[1:])
		}
	}
	return EscapeMarks(b.String(), `\u005b`)
}

// plain is how much of a JSON text, from its begin, is plainly visible ASCII,
// which nearly all of it is.
func plain(text []byte) int {
	for i, c := range text {
		if (c < ' ' || c > '~') && c != '\n' {
			return i
		}
	}
	return len(text)
}

func utf16Units(r rune) []uint16 {
	if r < 0x10000 {
		return []uint16{uint16(r)}
	}
	r -= 0x10000
	return []uint16{uint16(0xD800 + r>>10), uint16(0xDC00 + r&0x3FF)}
}

// Columns is how many columns a terminal takes for text that is Safe.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x80 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Wrap breaks text, which must be Safe, into lines of at most columns columns,
// between words where it can.
func Wrap(text string, columns int) []string {
	columns = max(columns, 2)
	var lines []string
	line, used := "", 0
	flush := func() {
		lines = append(lines, line)
		line, used = "", 0
	}
	for _, word := range strings.Fields(text) {
		n := Columns(word)
		if used > 0 && used+1+n > columns {
			flush()
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		for _, r := range word {
			if w := runeColumns(r); used+w > columns {
				flush()
				line, used = string(r), w
			} else {
				line, used = line+string(r), used+w
			}
		}
	}
	if used > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// Pad returns text filled up with spaces to columns columns.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-Columns(text), 0))
}
