package scan

import (
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/syntax"
)

// tokens is the text as its languages read it.
func (s *fileScan) tokens() *syntax.Text { return s.tokensOf(s.lines.Text()) }

// tokensOf is the text, or what it was before, as its languages read it.
func (s *fileScan) tokensOf(text []byte) *syntax.Text {
	for _, known := range s.read {
		if len(known.Bytes) == len(text) && (len(text) == 0 || &known.Bytes[0] == &text[0]) {
			return known
		}
	}
	read := syntax.Scan(syntax.Of(languagesOf(s.file.Path, match.SplitLines(text))), text)
	s.read = append(s.read, read)

	return read
}

// languagesOf are those of a file, with those of code in its markup.
func languagesOf(path string, lines match.Lines) []string {
	var first []byte
	if lines.Count() > 0 {
		first = lines.Line(1)
	}
	all := language.Of(path, first)

	return append(all, language.Inside(all, lines.Text())...)
}
