// Package terminal shows text to people: it knows whether there is a terminal
// and how wide it is, and makes text from strangers safe to print.
package terminal

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

const (
	// DefaultWidth is the width, in columns, where none is known.
	DefaultWidth = 100
	// minWidth is the least width that output is fitted into.
	minWidth = 40
)

// Is reports whether w is a terminal.
func Is(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the width of w, in columns: a terminal's own, else the one in
// COLUMNS, else DefaultWidth.
func Width(w any, columns string) int {
	n, _ := strconv.Atoi(columns)
	if f, ok := w.(*os.File); ok {
		if own, _, err := term.GetSize(int(f.Fd())); err == nil && own > 0 {
			n = own
		}
	}

	if n <= 0 {
		return DefaultWidth
	}
	return max(n, minWidth)
}

// Color is how a text stands out.
type Color string

// The colours, as parameters of the escape sequence that selects them. They are
// of the eight that every terminal has, in its own shades.
const (
	Strong Color = "1"
	Faint  Color = "2"
	Bad    Color = "1;31"
	Good   Color = "1;32"
	Red    Color = "31"
	Yellow Color = "33"
	Cyan   Color = "36"
)

// Painter puts colours on text, or leaves it as it is when it is false.
type Painter bool

// Text returns a text, which must be Safe, in a colour.
func (p Painter) Text(c Color, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// The words for when to use colours.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// Colors says whether to use colours on w. With ColorAuto it is for a terminal
// that can show them, unless NO_COLOR (https://no-color.org) is set. Consoles of
// Windows may show the escape sequences instead.
func Colors(w any, when string, lookup func(name string) string) bool {
	if when != ColorAuto {
		return when == ColorAlways
	}
	return Is(w) && lookup("NO_COLOR") == "" && lookup("TERM") != "dumb" && runtime.GOOS != "windows"
}

// visible says whether a character can be seen. Variation selectors and fillers count as
// printable in Unicode, but names with and without them look the same.
func visible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
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
		case visible(r):
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

	for _, r := range string(text) {
		if r == '\n' || visible(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}

	return EscapeMarks(b.String(), `\u005b`)
}

// mark is what CI services take for the begin of a command wherever it is in a
// line: `##[` GitHub's runner, Gitea's and Forgejo's, `##vso[` Azure Pipelines,
// `##teamcity[` TeamCity, `##octopus[` Octopus Deploy. Any other word between is
// taken for one of a service that isn't known here.
var mark = regexp.MustCompile(`(##\w*)\[`)

// EscapeMarks returns a text in which bracket, which is what its format has for a
// `[`, stands in each mark of a command to a CI service.
func EscapeMarks(text, bracket string) string {
	if !strings.Contains(text, "##") {
		return text
	}
	return mark.ReplaceAllString(text, "${1}"+bracket)
}

// GuardLine returns a line of text, made of Safe parts, as one that no CI service
// takes for a command: it has no mark of one, nor does it begin with `::` after
// white space, for which GitHub's runner and those made like it look.
func GuardLine(line string) string {
	if rest := strings.TrimLeft(line, " "); strings.HasPrefix(rest, "::") {
		line = line[:len(line)-len(rest)] + `\x3a` + rest[1:]
	}
	return EscapeMarks(line, `\x5b`)
}

// GuardLines does so with each line of a text.
func GuardLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(GuardLine(line))
	}
	return b.String()
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
