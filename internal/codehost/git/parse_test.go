package git

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPatchesRefuses(t *testing.T) {
	t.Parallel()
	const header = "diff --git a/1 b/1\n"

	for name, patch := range map[string]string{
		"no header":       "text\n",
		"no number":       "diff --git a/x b/x\n",
		"unknown line":    header + "Binary files differ\n",
		"bad hunk":        header + "@@ -x +1 @@\n",
		"huge hunk":       header + "@@ -1 +1,99999999999 @@\n",
		"short hunk":      header + "@@ -1 +1,2 @@\n-a\n+b\n",
		"cut off":         header + "@@ -1 +1 @@\n-a\n+b",
		"more than said":  header + "@@ -0,0 +1 @@\n-a\n",
		"empty hunk line": header + "@@ -1 +1 @@\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &patches{r: bufio.NewReader(strings.NewReader(patch))}
			_, _, err := p.file()
			require.Error(t, err)
			assert.NotEqual(t, io.EOF, err)
		})
	}
}

func FuzzPatches(f *testing.F) {
	f.Add(
		[]byte(
			"diff --git a/00000001 b/00000001\nindex 1..2 100644\n--- a/00000001\n+++ b/00000001\n" +
				"@@ -1,2 +1,3 @@ f\n a\n+b\n\\ No newline at end of file\n c\n",
		),
	)

	f.Add([]byte("diff --git a/2 b/2\nold mode 100644\nnew mode 100755\n@@ -0,0 +1 @@\n+x\n"))
	f.Add([]byte("diff --git a/3 b/3\n@@ -1 +0,0 @@\n-x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p := &patches{r: bufio.NewReader(bytes.NewReader(text))}
		plus := bytes.Count(text, []byte("\n+"))
		for lines := 0; ; {
			_, found, err := p.file()
			if err != nil {
				return
			}
			for i, span := range found.added {
				require.LessOrEqual(t, span.First, span.Last)
				lines += span.Last - span.First + 1
				if i > 0 && span.First == found.added[i-1].Last+1 {
					t.Fatal("ranges touch")
				}
			}
			require.LessOrEqual(t, lines, plus)
		}
	})
}

func FuzzReadRaw(f *testing.F) {
	a, b := strings.Repeat("a", oidSize), strings.Repeat("0", oidSize)
	f.Add([]byte(":100644 100644 " + a + " " + a + " M\x00path\x00"))
	f.Add([]byte(":100644 000000 " + a + " " + b + " D\x00a\x00" +
		":100644 100755 " + a + " " + a + " R086\x00old\nname\x00new\tname\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		files, err := readRaw(bufio.NewReader(bytes.NewReader(raw)), 10)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(files), min(10, bytes.Count(raw, []byte{0})/2))
		for _, file := range files {
			require.Len(t, string(file.now), oidSize)
			require.NotContains(t, file.path, "\x00")
			require.NoError(t, checkPath(file.path))
		}
	})
}

func FuzzEntryIn(f *testing.F) {
	raw := strings.Repeat("\x01", oidSize/2)
	f.Add([]byte("100644 a\x00"+raw+"40000 b\x00"+raw+"120000 c\x00"+raw), "b")
	f.Add([]byte("0100644 old\x00"+raw), "old")
	f.Add([]byte("100644 a\x00"+raw[:10]), "a")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		found, err := entryIn(string(data), name)
		if err == nil && found != (dirEntry{}) {
			require.Contains(t, string(data), " "+name+"\x00")
			_, err = parseOID(string(found.oid()))
			require.NoError(t, err)
		}
	})
}

func FuzzParseCommit(f *testing.F) {
	a := strings.Repeat("a", oidSize)
	f.Add([]byte("tree " + a + "\nparent " + a + "\nparent " + a + "\nauthor x\n\nparent y\n"))
	f.Add([]byte("parent " + a + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCommit(OID(a), data)
		if err != nil {
			require.True(t, errors.Is(err, errDamaged))
			return
		}
		require.Len(t, string(c.Tree), oidSize)
		require.LessOrEqual(t, len(c.Parents), bytes.Count(data, []byte("parent")))
	})
}

func TestHeadOfCommit(t *testing.T) {
	t.Parallel()
	tree := "tree " + strings.Repeat("a", oidSize) + "\n"
	author := "author Ann B <ann@example.com> 1700000000 +0100\ncommitter C <c@example.com> 1700000000 +0100\n"
	for name, tc := range map[string]struct{ data, subject, author string }{
		"plain":            {author + "\nAdd a cart\n\nIt has wheels.\n", "Add a cart", "Ann B"},
		"a long paragraph": {author + "\n\nAdd\na cart\n\n\nMore.", "Add a cart", "Ann B"},
		"signed":           {author + "gpgsig -----BEGIN-----\n \n iQ\n -----END-----\n\nAdd\n", "Add", "Ann B"},
		"no message":       {author, "", "Ann B"},
		"no name":          {"author <a@example.com> 1 +0000\n\nx", "x", ""},
		"no author":        {"\nx", "x", ""},
		"bytes":            {"author \xe9\x00 <> 1 +0000\n\n\x1b[31m\xff", "[31m\uFFFD", "\uFFFD"},
	} {
		c, err := parseCommit("", []byte(tree+tc.data))
		require.NoError(t, err, name)
		assert.Equal(t, []string{tc.subject, tc.author}, []string{c.Subject, c.Author}, name)
	}
}

// An index that somebody else made may have any path.
func TestBeyondLinkEnds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"/etc/passwd", "../x", "a/../../x", "/"} {
		assert.False(t, beyondLink(t.TempDir(), name), name)
	}
}
