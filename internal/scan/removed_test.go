package scan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/scan"
)

// diffed is a file whose added lines begin with "+", those that are gone with "-", and
// the others with " ".
func diffed(path, text string) scan.File {
	f := scan.File{Path: path}
	line := 1
	for one := range strings.Lines(text) {
		if one[0] == '-' {
			f.Removed = append(f.Removed, scan.Removed{Line: line, Text: []byte(one[1:])})
			continue
		}
		if one[0] == '+' {
			f.Added = append(f.Added, scan.LineRange{First: line, Last: line})
		}
		f.Content = append(f.Content, one[1:]...)
		line++
	}

	return f
}

// A match of a multiline rule that comes to be when lines are removed is found, and one
// that was there before is not.
func TestRemovedLines(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"between its lines":     {" a\n-#\n b\n", []string{"f:1 custom/m"}},
		"some of them":          {" x\n-x\n a\n-#\n-#\n b\n-x\n a\n-#\n b\n", []string{"f:2 custom/m", "f:4 custom/m"}},
		"it was there":          {" a\n-\n b\n", []string{}},
		"another was there":     {" a\n-b\n-#\n b\n", []string{}},
		"it was there, below":   {"-x\n+y\n+y\n-#\n a\n-\n b\n-\n a\n-#\n b\n", []string{"f:5 custom/m"}},
		"only beside it":        {"-#\n a\n b\n-#\n", []string{}},
		"added, too":            {" a\n-#\n+b\n", []string{"f:1 custom/m"}},
		"a line rule":           {" c\n-#\n c\n", []string{}},
		"a text with NULs":      {" a\n-\n b\n \x00" + strings.Repeat("x", 99) + "\n", []string{"f:1 custom/m"}},
		"after another removal": {"-b\n a\n-#\n b\n", []string{"f:1 custom/m"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, &pull{files: []scan.File{diffed("f", tt.text)}},
				regex("m", `a\s+b`, multiline), regex("l", "c"), regex("other", "a[^b]+b", multiline, languages("python")))
			assert.Equal(t, tt.want, places(got))
			assert.Empty(t, got.Skips)
		})
	}
}

// A removal is no reason to say that what is no text was not looked at.
func TestRemovedFromBinary(t *testing.T) {
	t.Parallel()
	got := run(t, &pull{files: []scan.File{diffed("f", " "+strings.Repeat("\x80\x00\x01", 99)+"\n-x\n")}}, regex("m", "a"))
	assert.Empty(t, got.Skips)
}

func TestOld(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "",
		" a\n":                         "a\n",
		"-a\n-b\n c\n+d\n-e\n f\n-g\n": "a\nb\nc\ne\nf\ng\n",
		"+a\n+b\n":                     "",
		"-a\n+a\n b":                   "a\nb",
	} {
		f := diffed("f", text)
		old, numbers := f.Old()
		assert.Equal(t, want, string(old), text)
		now, was := match.SplitLines(f.Content), match.SplitLines(old)
		for n, number := range numbers {
			if number > 0 {
				assert.Equal(t, string(now.Line(n)), string(was.Line(number)), text)
			}
		}
	}
}
