package publish

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSnippet is how much of a line of code a comment shows, in characters.
const maxSnippet = 300

// plain is a text of a repository without what could change how the text around it is
// read: line ends, control characters, and marks that turn the order of characters.
func plain(s string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\v' || r == '\f' || r == '\u0085':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return utf8.RuneError
		}

		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))

	return strings.TrimSpace(clean)
}

// prose is a text of somebody else as Markdown that is only read: it has no hidden links,
// images, HTML, mentions, references or commands. An address that it shows may be a link.
func prose(s string) string {
	var b strings.Builder
	runes := []rune(plain(s))
	for i, r := range runes {
		switch {
		case strings.ContainsRune("\\`*_{}[]()!|~", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '/' && i == 0, strings.ContainsRune("#+-=", r) && i == 0: // a command, a heading or a list
			b.WriteRune('\u200b')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		if strings.ContainsRune("@#!$%&~^", r) { // mentions, and references to issues, labels and people
			b.WriteRune('\u200b')
		}
	}

	return b.String()
}

// code is a text in a line of code that nothing in it can end.
func code(s string) string {
	s = plain(s)
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}

	return fence + s + fence
}

// block is a text in a block of code that nothing in it can end.
func block(s string) string {
	return fenced("", cut(strings.TrimRight(plain(s), " "), maxSnippet))
}

// fenced is lines in a block of code of a kind that nothing in them can end.
func fenced(kind, text string) string {
	fence := strings.Repeat("`", max(longestRun(text)+1, 3))
	if text != "" {
		text += "\n"
	}

	return fence + kind + "\n" + text + fence
}

// longestRun is how many backticks there are at most in a row.
func longestRun(s string) (longest int) {
	run := 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}

	return longest
}

// short is a commit as people write it.
func short(sha string) string { return sha[:min(len(sha), 12)] }

// place names a line of a file.
func place(file string, line int) string {
	if line > 0 {
		return code(fmt.Sprintf("%s:%d", file, line))
	}

	return code(file)
}
