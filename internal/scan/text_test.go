package scan

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// A text that was decoded is UTF-8.
func FuzzText(f *testing.F) {
	f.Add("a.go", []byte("x // y\n\"z\""))
	f.Add("a.py", []byte("\xff\xfea\x00b\x00\n\x00"))
	f.Add("a.html", []byte("<!-- a --> <%# b %>"))
	f.Fuzz(func(t *testing.T, _ string, content []byte) {
		text, how := formOf(content)
		if how == isUTF16 && !utf8.Valid(text) {
			t.Fatal("not UTF-8")
		}
		if bytes.IndexByte(content, 0) < 0 && how != isText {
			t.Fatal("no NUL, no text")
		}
	})
}
