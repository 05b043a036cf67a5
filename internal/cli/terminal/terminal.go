// Package terminal shows text to people: it knows whether there is a terminal
// and how wide it is, and makes text from strangers safe to print.
package terminal

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
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
	b.Grow(len(text))

	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case unicode.IsPrint(r):
			b.WriteString(text[:n])
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}

	return b.String()
}

// SafeJSON returns a JSON text in which no string holds anything that is not
// plainly visible, nor a mark of a command to a CI service. It means the same.
func SafeJSON(text []byte) string {
	var b strings.Builder
	b.Grow(len(text))

	for len(text) > 0 {
		n := visibleASCII(text)
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
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}

	return EscapeMarks(b.String(), `\u005b`)
}

// visibleASCII returns how many bytes at the start of a JSON text are visible
// ASCII, which nearly all of it is.
func visibleASCII(text []byte) int {
	for i, c := range text {
		if (c < ' ' || c > '~') && c != '\n' {
			return i
		}
	}
	return len(text)
}

// Columns returns how many columns a terminal takes for text that is Safe.
func Columns(text string) int { return displaywidth.String(text) }

// Cut returns text, which must be Safe, cut to at most columns columns. An
// ellipsis shows that something is missing.
func Cut(text string, columns int) string { return displaywidth.TruncateString(text, columns, "…") }

// Wrap breaks text, which must be Safe, into lines of at most columns columns.
// It breaks between words where it can, and never at a hyphen: identifiers and
// flags have hyphens, and people copy them.
func Wrap(text string, columns int) []string {
	columns = max(columns, 2)
	var lines []string
	line := ""

	for word := range strings.FieldsSeq(text) {
		if line != "" && Columns(line)+1+Columns(word) <= columns {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = ""
		for letters := displaywidth.StringGraphemes(word); letters.Next(); {
			if line != "" && Columns(line)+letters.Width() > columns {
				lines = append(lines, line)
				line = ""
			}
			line += letters.Value()
		}
	}

	return append(lines, line)
}

// Pad returns text filled up with spaces to columns columns.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-Columns(text), 0))
}

// Count says how many there are of something, such as "1 file" and "2 files".
func Count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
