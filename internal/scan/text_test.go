package scan

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// A text that was decoded is UTF-8, and whether a place is in a comment doesn't depend on
// the places that were asked about before it.
func FuzzText(f *testing.F) {
	f.Add("a.go", []byte("x // y\n\"z\""))
	f.Add("a.py", []byte("\xff\xfea\x00b\x00\n\x00"))
	f.Add("a.html", []byte("<!-- a --> <%# b %>"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		text, how := formOf(content)
		if how == isUTF16 && !utf8.Valid(text) {
			t.Fatal("not UTF-8")
		}
		if bytes.IndexByte(content, 0) < 0 && how != isText {
			t.Fatal("no NUL, no text")
		}
		l := newLexer(name, content)
		for at := range content {
			got := l.inComment(at)
			if len(content) < 200 {
				if once := newLexer(name, content); once.inComment(at) != got {
					t.Fatalf("%d: %v", at, got)
				}
			}
		}
	})
}
