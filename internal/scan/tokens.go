package scan

import (
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// tokens is the text as its languages read it.
func (s *fileScan) tokens() *syntax.Text { return s.tokensOf(s.lines.Text()).Text }

// tokensOf is the text, or what it was before, as its languages read it.
func (s *fileScan) tokensOf(text []byte) *structure.File {
	for _, known := range s.read {
		if known.IsOf(text) {
			return known
		}
	}
	read := structure.NewFile(syntax.Scan(syntax.Of(languagesOf(s.file.Path, text)), text))
	s.read = append(s.read, read)

	return read
}

// languagesOf are those of a file, with those of code in its markup.
func languagesOf(path string, text []byte) []string {
	all := language.Of(path, text)

	return append(all, language.Inside(all, text)...)
}
