package corpus_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
)

func TestLoadTakesWhatAReviewLooksAt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/b.go":      "package b\n",
		"a/empty":     "",
		"a/image":     "GIF\x00",
		"a/late":      string(bytes.Repeat([]byte("text\n"), 2000)) + "\x00",
		"a/large":     string(bytes.Repeat([]byte("text\n"), 1<<18)),
		"a/long":      "short\n" + string(bytes.Repeat([]byte("x"), 16<<10+1)) + "\nshort\n",
		"a/longest":   string(bytes.Repeat([]byte("x"), 16<<10)) + "\nshort\n",
		"a/.git/HEAD": "ref: refs/heads/main\n",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	c, err := corpus.Load(dir)
	require.NoError(t, err)
	var names []string
	for _, f := range c.Files {
		names = append(names, f.Path)
	}
	assert.Equal(t, []string{"a/b.go", "a/late", "a/longest"}, names)
	assert.Equal(t, 3, c.Skipped, "binary, large and long")

	_, err = corpus.Load(t.TempDir())
	assert.Error(t, err, "a benchmark of nothing has no speed")
}

func TestResize(t *testing.T) {
	t.Parallel()
	c := corpus.Corpus{Files: []corpus.File{
		{Path: "a", Text: make([]byte, 10)}, {Path: "b", Text: make([]byte, 20)}, {Path: "c", Text: make([]byte, 30)},
	}}
	assert.EqualValues(t, 60, c.Bytes())
	assert.EqualValues(t, 30, c.Resize(11).Bytes())
	large := c.Resize(130)
	assert.EqualValues(t, 130, large.Bytes())
	assert.Equal(t, "copy1/a", large.Files[3].Path)
	assert.Equal(t, "copy2/a", large.Files[6].Path)
}

func TestSpreadKeepsEveryFile(t *testing.T) {
	t.Parallel()
	for n := 1; n < 50; n++ {
		c := corpus.Corpus{Files: make([]corpus.File, n)}
		for i := range c.Files {
			c.Files[i].Path = string(rune('A' + i))
		}
		assert.ElementsMatch(t, c.Files, c.Spread().Files, "%d files", n)
	}
}

func TestPack(t *testing.T) {
	t.Parallel()
	c := corpus.Corpus{Files: []corpus.File{{Path: "a", Text: []byte("one\n")}, {Path: "b/c", Text: []byte{0xff, 0}}}}
	path := filepath.Join(t.TempDir(), "pack")
	require.NoError(t, corpus.WritePack(path, c))
	got, err := corpus.MapPack(path)
	require.NoError(t, err)
	assert.Equal(t, c, got)

	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, n := range []int{1, 4, 6, len(data) - 1} {
		require.NoError(t, os.WriteFile(path, data[:n], 0o600))
		_, err := corpus.MapPack(path)
		assert.Error(t, err, "%d bytes", n)
	}
}
