package codehost_test

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// numbered is a text of n lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of a text that is long enough to be found again\n", i)
	}

	return b.String()
}

func with(files Files, more Files) Files {
	all := maps.Clone(files)
	maps.Copy(all, more)
	return all
}

func TestChangedLines(t *testing.T) {
	t.Parallel()
	long := numbered(30)
	module := func(digit string) Files { return Files{"s": {Mode: "160000", Text: strings.Repeat(digit, 40)}} }
	ignored := Text(".gitmodules", "[submodule \"s\"]\n\tpath = s\n\turl = https://example.com/s\n\tignore = all\n")
	one := func(path string, lines map[int]string) []seen { return []seen{{path: path, lines: lines}} }
	wide := strings.Repeat("x", 100_000)

	tests := map[string]struct {
		base, head Files
		want       []seen
	}{
		"modified": {
			Text("a", "1\n2\n3\n"), Text("a", "1\nx\n3\ny\n"), one("a", map[int]string{2: "x", 4: "y"}),
		},
		"two hunks": {
			Text("a", numbered(9)), Text("a", "0\n"+numbered(9)+"x\n"), one("a", map[int]string{1: "0", 11: "x"}),
		},
		"added":              {Text(), Text("dir/a", "1\n2\n"), one("dir/a", map[int]string{1: "1", 2: "2"})},
		"deleted":            {Text("a", "1\n", "b", "2\n"), Text("a", "1\n"), []seen{}},
		"empty":              {Text("a", "1\n"), Text("a", "1\n"), []seen{}},
		"only removed lines": {Text("a", "1\n2\n3\n"), Text("a", "1\n3\n"), one("a", nil)},
		"removed lines like names of files": {
			Text("a", "-- a\n--- x\n"), Text("a", "++ b\n"), one("a", map[int]string{1: "++ b"}),
		},
		"no newline at end": {Text("a", "1\n2"), Text("a", "1\n2\n3"), one("a", map[int]string{2: "2", 3: "3"})},
		"CRLF":              {Text("a", "1\r\n2\r\n"), Text("a", "1\r\nx\r\n"), one("a", map[int]string{2: "x\r"})},
		"CR only":           {Text("a", "1\n"), Text("a", "1\n2\r3\n"), one("a", map[int]string{2: "2\r3"})},
		"long lines": {
			Text("a", wide+"\n"), Text("a", wide+"y\n"+wide+"z\n"), one("a", map[int]string{1: wide + "y", 2: wide + "z"}),
		},
		"not UTF-8": {
			Text("a\xff", "1\n"), Text("a\xff", "1\n\xfe\xff\n"), one("a\xff", map[int]string{2: "\xfe\xff"}),
		},
		"text like a patch": {
			Text("a", "x\n"),
			Text("a", "x\ndiff --git a/00000000 b/00000000\n@@ -1 +1 @@\n--- a\n+++ b\n\\ No newline at end of file\n"),
			one("a", map[int]string{
				2: "diff --git a/00000000 b/00000000", 3: "@@ -1 +1 @@", 4: "--- a", 5: "+++ b",
				6: `\ No newline at end of file`,
			}),
		},
		"renamed": {Text("old/name", long), Text("new/name", long), one("new/name", nil)},
		"renamed and changed": {
			Text("old", long, "z", "z\n"), Text("new", strings.Replace(long, "line 7 ", "LINE 7 ", 1), "z", "z\n"),
			one("new", map[int]string{8: "LINE 7 of a text that is long enough to be found again"}),
		},
		"symlink": {
			Text("a", "1\n"), Files{"a": {Text: "1\n"}, "l": {Mode: "120000", Text: "/etc/passwd"}},
			one("l", map[int]string{1: "/etc/passwd"}),
		},
		"file to symlink of the same content": {
			Text("a", "target"), Files{"a": {Mode: "120000", Text: "target"}}, one("a", map[int]string{1: "target"}),
		},
		"file to directory": {Text("a", "1\n"), Text("a/b", "2\n"), one("a/b", map[int]string{1: "2"})},
		"directory to file": {Text("a/b", "1\n", "a/c", "2\n"), Text("a", "3\n"), one("a", map[int]string{1: "3"})},

		"submodule":          {Text(), module("1"), []seen{{path: "s", submodule: true}}},
		"submodule moved on": {module("1"), module("2"), []seen{{path: "s", submodule: true}}},
		"submodule that is ignored": {
			with(ignored, module("1")), with(ignored, module("2")), []seen{{path: "s", submodule: true}},
		},

		"binary": {Text("a", "\x00\n1\n"), Text("a", "\x00\n1\n2\x00\n"), one("a", map[int]string{3: "2\x00"})},
		"odd names": {
			Text("z", "1\n"), Text("z", "1\n", "a b", "1\n", "new\nline", "2\n", "tab\tx", "3\n",
				`quote"back\slash`, "4\n", "ünï", "5\n", "-rf", "6\n", "b/ b", "7\n", " ", "8\n"),
			[]seen{
				{path: " ", lines: map[int]string{1: "8"}}, {path: "-rf", lines: map[int]string{1: "6"}},
				{path: "a b", lines: map[int]string{1: "1"}}, {path: "b/ b", lines: map[int]string{1: "7"}},
				{path: "new\nline", lines: map[int]string{1: "2"}},
				{path: `quote"back\slash`, lines: map[int]string{1: "4"}},
				{path: "tab\tx", lines: map[int]string{1: "3"}}, {path: "ünï", lines: map[int]string{1: "5"}},
			},
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New(t)
			base, head := r.Change(test.base, test.head)
			c := open(t, r)
			assert.Equal(t, base, c.BaseSHA())
			assert.Equal(t, head, c.HeadSHA())
			assert.Equal(t, test.want, files(t, c))
			agrees(t, r)
		})
	}
}

func TestLargeFiles(t *testing.T) {
	t.Parallel()
	const large = 1 << 20
	r := New(t)
	full := strings.Repeat("0123456789abcde\n", large/16)
	r.Change(Text("a", "1\n"), Text("a", "1\n2\n", "full", full, "over", full+"\n"))
	c, err := source(t, fileHost(r), func(l *git.Limits) { l.ScannedSize = large }).Open(t.Context(), target)
	require.NoError(t, err)
	defer c.Close()
	var got []scan.File

	for file, err := range c.Files(t.Context()) {
		require.NoError(t, err)
		got = append(got, scan.File{Path: file.Path, Size: file.Size, TooLarge: file.TooLarge, Added: file.Added})
		assert.Equal(t, file.Path == "over", file.Content == nil)
	}

	assert.Equal(t, []scan.File{
		{Path: "a", Size: 4, Added: []scan.LineRange{{First: 2, Last: 2}}},
		{Path: "full", Size: large, Added: []scan.LineRange{{First: 1, Last: large / 16}}},
		{Path: "over", Size: large + 1, TooLarge: true},
	}, got)
}

func TestManyFiles(t *testing.T) {
	t.Parallel()
	r := New(t)
	base, head := Files{}, Files{}

	for i := range 300 {
		text := numbered(10 + i%7)
		base[fmt.Sprintf("d%d/f%d", i%5, i)] = File{Text: text}
		switch i % 4 {
		case 0:
			head[fmt.Sprintf("d%d/f%d", i%5, i)] = File{Text: text + "more\n"}
		case 1:
			head[fmt.Sprintf("moved/%d", i)] = File{Text: "first\n" + text}
		case 2:
			head[fmt.Sprintf("d%d/f%d", i%5, i)] = File{Text: "x\n" + text}
		}
	}

	r.Change(base, head)
	agrees(t, r)
}

func TestFilesCanBeLeft(t *testing.T) {
	t.Parallel()
	r := New(t)
	r.Change(Text(), Text("a", "1\n", "b", "2\n", "c", "3\n"))
	c := open(t, r)

	for file, err := range c.Files(t.Context()) {
		require.NoError(t, err)
		assert.Equal(t, "a", file.Path)
		break
	}

	assert.NoError(t, c.Close())
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		base, head Files
		limit      int
		want       string // at base
		found      bool
	}{
		"at the base":   {Text(rule.FilePath, "base\n"), Text(rule.FilePath, "head\n"), 100, "base\n", true},
		"exactly limit": {Text(rule.FilePath, "base\n"), Text(), 5, "base\n", true},
		"over limit":    {Text(rule.FilePath, "base\n"), Text(), 4, "base\n", true},
		"cut":           {Text(rule.FilePath, "base\n"), Text(), 2, "bas", true},
		"none":          {Text("a", "1\n"), Text(rule.FilePath, "head\n"), 100, "", false},
		"directory":     {Text(rule.FilePath+"/x", "1\n"), Text(rule.FilePath, "head\n"), 100, "", false},
		"below a file":  {Text(path.Dir(rule.FilePath), "1\n"), Text(), 100, "", false},
		"symlink":       {Files{rule.FilePath: {Mode: "120000", Text: "other"}}, Text(), 100, "", false},
		"submodule":     {Files{rule.FilePath: {Mode: "160000", Text: strings.Repeat("1", 40)}}, Text(), 100, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New(t)
			r.Change(test.base, test.head)
			c := open(t, r)
			defer c.Close()
			data, found, err := c.ReadFile(t.Context(), scan.Base, rule.FilePath, test.limit)
			require.NoError(t, err)
			assert.Equal(t, test.want, string(data))
			assert.Equal(t, test.found, found)

			data, found, err = c.ReadFile(t.Context(), scan.Head, rule.FilePath, 100)
			require.NoError(t, err)
			assert.Equal(t, test.head[rule.FilePath].Text, string(data))
			assert.Equal(t, test.head[rule.FilePath].Text != "", found)
		})
	}
}

// What a file was before is told when other rules may have looked at it then.
// A large file of which only the mode changes adds nothing that is not looked at.
func TestModeOfLargeFile(t *testing.T) {
	t.Parallel()
	full := numbered(30)
	r := New(t)
	r.Change(Text("a", full), Files{"a": {Mode: "100755", Text: full}})
	c, err := source(t, fileHost(r), func(l *git.Limits) { l.ScannedSize = 64 }).Open(t.Context(), target)
	require.NoError(t, err)
	defer c.Close()

	for file, err := range c.Files(t.Context()) {
		require.NoError(t, err)
		assert.False(t, file.TooLarge)
	}
}

func TestBefore(t *testing.T) {
	t.Parallel()
	long, script := numbered(30), "#!/bin/sh\n"+numbered(30)
	for name, tt := range map[string]struct {
		base, head Files
		want       *scan.Before
		content    bool // can be read
	}{
		"moved":           {Text("docs/a", long), Text("src/a", long), &scan.Before{Path: "docs/a"}, true},
		"moved by case":   {Text("A", long), Text("a", long), &scan.Before{Path: "A"}, true},
		"moved with mode": {Text("a", long), Files{"b": {Mode: "100755", Text: long}}, &scan.Before{Path: "a"}, true},
		"moved and edited": {
			Text("a.txt", long), Text("a.py", "#!/bin/sh\n"+long), &scan.Before{Path: "a.txt", FirstLine: []byte("line 0")}, true,
		},
		"another first line": {
			Text("a", script), Text("a", strings.Replace(script, "sh", "bash", 1)),
			&scan.Before{Path: "a", FirstLine: []byte("#!/bin/sh\n")}, true,
		},
		"a first line before": {
			Text("a", script), Text("a", "x\n"+script), &scan.Before{Path: "a", FirstLine: []byte("#!/bin/sh\n")}, true,
		},
		"a NUL is gone":     {Text("a", long+"\x00\n"), Text("a", long+"x\n"), &scan.Before{Path: "a", Binary: true}, true},
		"a NUL is gone far": {Text("a", long+strings.Repeat("x", 1<<20)+"\x00\n"), Text("a", long), &scan.Before{Path: "a", Binary: true}, true},
		"another line":      {Text("a", long), Text("a", strings.Replace(long, "line 7 ", "", 1)), nil, true},
		"the second line":   {Text("a", "1\n2\n"), Text("a", "1\nx\n"), nil, true},
		"new":               {Text("b", "1\n"), Text("b", "1\n", "a", long), nil, true},
		"only removed":      {Text("a", "1\n2\n3\n"), Text("a", "1\n3\n"), nil, true},
		"only the mode":     {Text("a", long), Files{"a": {Mode: "100755", Text: long}}, nil, false},
	} {
		r := New(t)
		r.Change(tt.base, tt.head)
		c := open(t, r)
		for f, err := range c.Files(t.Context()) {
			require.NoError(t, err, name)
			if tt.want != nil && tt.want.FirstLine != nil {
				require.NotNil(t, f.Before, name)
				assert.True(t, strings.HasPrefix(string(f.Before.FirstLine), string(tt.want.FirstLine)), name)
				f.Before.FirstLine = tt.want.FirstLine
			}
			assert.Equal(t, tt.want, f.Before, name)
			assert.Equal(t, tt.content, f.Content != nil, name)
		}
		require.NoError(t, c.Close())
	}
}

// A link that is added or changed is looked at as the file that it leads to, as far as
// this is one of the head.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := func(to string) File { return File{Mode: "120000", Text: to} }
	base := Files{
		"notes.txt": {Text: "code\n"}, "a/b/deep.txt": {Text: "deep\n"}, "dir": link("a/b"), "chain": link("dir/deep.txt"),
		"sub": {Mode: "160000", Text: strings.Repeat("1", 40)}, "loop": link("loop"),
	}
	r := New(t)
	r.Change(base, with(base, Files{"x": link("notes.txt"), "y": link("./notes.txt")}))
	for _, f := range files(t, open(t, r)) {
		assert.Empty(t, f.lines, f.path)
	}

	dangling := map[string]string{
		"a": "a", "sub": "sub", "sub/x": "sub/x", "loop": "loop", "notes.txt/x": "notes.txt/x", "none": "none", "a/../new/x": "new/x",
	}
	for to, want := range map[string]string{ // "" for none
		"notes.txt":                   "notes.txt",
		"./a/..//a/b/../../notes.txt": "notes.txt",
		"a/b/deep.txt":                "a/b/deep.txt",
		"dir/deep.txt":                "a/b/deep.txt",
		"chain":                       "a/b/deep.txt",
		"dir/../../notes.txt":         "notes.txt",

		"../notes.txt": "", "/notes.txt": "", "a": "", "sub": "", "sub/x": "", "loop": "", "notes.txt/x": "", "none": "", "a/../new/x": "",
		strings.Repeat("./", 3000) + "notes.txt": "",
	} {
		for _, before := range []Files{base, with(base, Files{"app.py": link("before")})} {
			r := New(t)
			r.Change(before, with(base, Files{"app.py": link(to)}))
			c := open(t, r)
			for f, err := range c.Files(t.Context()) {
				require.NoError(t, err)
				assert.Equal(t, "app.py", f.Path)
				assert.Equal(t, cmp.Or(want, dangling[to]), f.LinkTo, to)
				if want == "" {
					assert.Equal(t, to, string(f.Content))
					assert.NotEmpty(t, f.Added, to)
					continue
				}
				assert.Equal(t, base[want].Text, string(f.Content), to)
				assert.Equal(t, &scan.Before{Path: want}, f.Before, to)
				assert.Empty(t, f.Added, to)
			}
			require.NoError(t, c.Close())
		}
	}
}

// What links lead through need not be here, and one to a file that is too large is too
// large itself.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	base := Files{"small": {Text: "1\n"}, "large": {Text: numbered(30)}}
	for i := range 50 {
		base[fmt.Sprint("to/", i)] = File{Mode: "120000", Text: "../small"}
	}
	head := with(base, Files{"x": {Mode: "120000", Text: "large"}})
	for i := range 50 {
		head[fmt.Sprint("a/", i)] = File{Mode: "120000", Text: fmt.Sprint("../to/", i)}
	}
	r := New(t)
	r.Change(base, head)
	c, err := source(t, fileHost(r), func(l *git.Limits) { l.ScannedSize = 500 }).Open(t.Context(), target)
	require.NoError(t, err)
	for f, err := range c.Files(t.Context()) {
		require.NoError(t, err)
		if assert.Equal(t, f.Path == "x", f.TooLarge, f.Path); !f.TooLarge {
			assert.Equal(t, &scan.Before{Path: "small"}, f.Before, f.Path)
		}
	}
	require.NoError(t, c.Close())
}
