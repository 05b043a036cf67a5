package finding

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The most bytes of the title and the author of a pull request.
const (
	MaxTitle  = 300
	MaxAuthor = 100
)

// Line makes a text of others one line of valid UTF-8 with at most so many bytes:
// line breaks become spaces, and other control characters are left out.
func Line(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, Shown(text[:min(len(text), 4*most)])) // more is never needed

	line := strings.Join(strings.Fields(text), " ")
	if len(line) > most {
		end := most
		for !utf8.RuneStart(line[end]) {
			end--
		}
		line = strings.TrimSpace(line[:end])
	}

	return line
}
