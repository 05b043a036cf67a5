package syntax

import (
	"go/build"
	goscanner "go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goFiles are Go files of the standard library and of this project.
func goFiles(t testing.TB, folders ...string) (files []string) {
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == "testdata" {
				return fs.SkipDir
			}
			if err == nil && strings.HasSuffix(path, ".go") {
				files = append(files, path)
			}
			return err
		}))
	}

	return files
}

// kindOf is what a token of Go is here.
func kindOf(tok token.Token) Kind {
	switch {
	case tok == token.STRING || tok == token.CHAR:
		return String
	case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
		return Number
	case tok == token.IDENT || tok.IsKeyword():
		return Name
	case tok == token.LPAREN || tok == token.LBRACK || tok == token.LBRACE:
		return Open
	case tok == token.RPAREN || tok == token.RBRACK || tok == token.RBRACE:
		return Close
	}

	return Operator
}

// Each byte has the class, and each token the place and the kind, that go/scanner says.
func TestGoAsGoScanner(t *testing.T) {
	t.Parallel()
	bytes, tokens := 0, 0
	for _, path := range goFiles(t, filepath.Join(build.Default.GOROOT, "src", "net"), filepath.Join(build.Default.GOROOT, "src", "go"),
		filepath.Join(build.Default.GOROOT, "src", "runtime"), "..") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		bytes += len(text)

		ours := Scan(languageGo, text)
		var s goscanner.Scanner
		file := token.NewFileSet().AddFile(path, -1, len(text))
		s.Init(file, text, nil, goscanner.ScanComments)
		var comments []Span
		i := 0
		newline := -1
		for {
			pos, tok, literal := s.Scan()
			if tok == token.EOF {
				break
			}
			at := int32(file.Offset(pos))
			if tok == token.SEMICOLON && literal == "\n" {
				newline = int(at)
				continue
			}
			n := int32(len(literal))
			if n == 0 || !tok.IsLiteral() && tok != token.COMMENT {
				n = int32(len(tok.String()))
			}
			if tok == token.COMMENT || tok == token.STRING && literal[0] == '`' { // literals are without \r
				n = 0
			}
			if tok == token.COMMENT {
				comments = append(comments, Span{at, at + n})
				continue
			}
			kind := kindOf(tok)
			if ours.Tokens[i].Kind == LineEnd {
				if !assert.GreaterOrEqual(t, newline, 0, "%s:%d: a line that ends nothing", path, at) {
					return
				}
				i++
			} else if newline >= 0 && kind != Close {
				assert.Fail(t, "no end of a line", "%s:%d", path, at)
				return
			}
			newline = -1
			x := ours.Tokens[i]
			if x.Start != at || n > 0 && x.End != at+n || x.Kind != kind {
				assert.Fail(t, "another token", "%s:%d: %v %q, here %v %q", path, at, tok, literal, x, text[x.Start:x.End])
				return
			}
			i++
			tokens++
		}
		if !assert.Len(t, ours.Comments, len(comments), path) {
			return
		}
		for k, c := range comments {
			if ours.Comments[k].Start != c.Start {
				assert.Fail(t, "another comment", "%s:%d", path, c.Start)
				return
			}
		}
	}
	t.Logf("%d bytes, %d tokens", bytes, tokens)
	assert.Greater(t, tokens, 100_000)
}
