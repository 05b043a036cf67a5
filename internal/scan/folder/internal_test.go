package folder

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// The order of entries is that of paths to files in them.
func TestInOrder(t *testing.T) {
	t.Parallel()
	var entries []entry
	for _, name := range []string{"a", "a-", "a.", "a0", "aa", "b", "é", "\xff", "A"} {
		entries = append(entries, entry{name + "x", regular}, entry{name, directory})
	}
	path := func(e entry) string {
		if e.kind == directory {
			return e.name + "/f"
		}
		return e.name
	}
	for _, a := range entries {
		for _, b := range entries {
			assert.Equal(t, cmp.Compare(path(a), path(b)), inOrder(a, b), "%v %v", a, b)
		}
	}
}

func TestReadAll(t *testing.T) {
	t.Parallel()
	buf := make([]byte, 8)
	content, size, err := readAll(buf, 0, strings.NewReader("1234567"))
	require.NoError(t, err)
	assert.Equal(t, "1234567", string(content))
	assert.Equal(t, int64(7), size)

	content, size, err = readAll(buf, 0, strings.NewReader(""))
	require.NoError(t, err)
	assert.NotNil(t, content, "empty is not too large")
	assert.Zero(t, size)

	content, size, err = readAll(buf, 0, strings.NewReader("it grew meanwhile"))
	require.NoError(t, err)
	assert.Nil(t, content)
	assert.Equal(t, int64(8), size)

	for _, was := range []int64{3, 5, 8} { // what it was said to have
		content, size, err = readAll(buf, was, iotest.OneByteReader(strings.NewReader("12345")))
		require.NoError(t, err)
		assert.Equal(t, "12345"[:min(was, 5)], string(content))
		assert.Equal(t, min(was, 5), size)
	}

	_, _, err = readAll(buf, 4, io.MultiReader(strings.NewReader("12"), failingReader{}))
	require.ErrorIs(t, err, fs.ErrPermission)
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, fs.ErrPermission }

// What is said to be excluded with all that is in it, is.
func TestPrunes(t *testing.T) {
	t.Parallel()
	globs := []string{"vendor/**", "**/node_modules/**", "{a,b}/c/**", "x/*.d/**", "**/*.md", "lit", "one/*", "two/**/y"}
	compile := func(globs ...string) *Rules {
		l := Loaded{File: &rule.File{Exclude: globs}}
		r, err := l.Compile(scan.SelectRepository)
		require.NoError(t, err)
		return r
	}
	r := compile(globs...)
	pruned := []string{}
	for _, dir := range []string{
		"vendor", "vendors", "vendor/x", "x/vendor", "node_modules", "a/b/node_modules", "node_modules/x/y",
		"a/c", "c", "a/c/d", "x/y.d", "x/y", "lit", "one", "one/z", "two", "two/y",
	} {
		if r.prunes(dir) {
			pruned = append(pruned, dir)
			for _, below := range []string{"/f", "/d/e/f", "/f.md"} {
				assert.True(t, r.exclude.Match(dir+below), dir+below)
			}
		}
	}
	assert.Equal(t, []string{
		"vendor", "vendor/x", "node_modules", "a/b/node_modules", "node_modules/x/y", "a/c", "a/c/d", "x/y.d",
	}, pruned)

	assert.True(t, compile("**").prunes("a"))
	assert.False(t, slices.ContainsFunc([]string{"a/{b,c/**}", "[a/**]"}, func(g string) bool {
		return compile(g).prunes("a/c")
	}))
}

// writes keeps what was written, call by call.
type writes struct{ calls []string }

func (w *writes) Write(p []byte) (int, error) {
	w.calls = append(w.calls, string(p))
	return len(p), nil
}

// The second file is done first, and its text waits for the first.
func TestOutputIsInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, told := &writes{}, []string{}
		sum := &Summary{Findings: finding.NewSummary(), Skipped: map[string]Total{}}
		w := output{sum: sum, o: Options{Out: out, Notice: func(n Notice) { told = append(told, n.Path) }}}
		first, second := &result{text: make(chan []byte)}, &result{text: make(chan []byte, 1)}
		results := make(chan *result, 2)
		results <- first
		results <- second
		close(results)
		ended := make(chan error, 1)
		go func() { ended <- w.write(t.Context(), results) }()

		second.text <- []byte("2")
		second.notices = []Notice{{Path: "2", Reason: "r", Bytes: 5}, {Path: "2b", Reason: "r", Bytes: 1}}
		close(second.text)
		synctest.Wait()
		assert.Empty(t, out.calls)

		first.text <- []byte("1")
		first.text <- []byte("1b")
		close(first.text)
		require.NoError(t, <-ended)
		assert.Equal(t, []string{"1", "1b", "2"}, out.calls)
		assert.Equal(t, []string{"2", "2b"}, told)
		assert.Equal(t, Total{Count: 2, Bytes: 6}, sum.Skipped["r"])
	})
}

// A worker holds no more text than a chunk while its file waits, and the walk goes
// no further than the window.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		long := func(dst []byte, _ string, _ []finding.Finding) []byte { return append(dst, make([]byte, chunkSize)...) }
		w := &worker{o: Options{Format: long}}
		r := &result{text: make(chan []byte, 1)}
		ended := make(chan error, 2)
		go func() { ended <- w.write(ctx, item{result: r}, make([]finding.Finding, 10*formatAtOnce)) }()
		synctest.Wait()
		assert.Len(t, r.text, 1)
		assert.Empty(t, ended)

		results := make(chan *result, filesAhead)
		walk := &walker{results: results}
		for range filesAhead {
			require.True(t, walk.tell(ctx, Notice{}))
		}
		go func() {
			walk.tell(ctx, Notice{})
			ended <- errors.New("the walk")
		}()
		synctest.Wait()
		assert.Empty(t, ended)

		cancel()
		synctest.Wait()
		assert.Len(t, ended, 2)
	})
}
