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
	from := func(r io.Reader) func([]byte) (int, error) { return r.Read }
	content, size, err := readAll(buf, 0, from(strings.NewReader("1234567")))
	require.NoError(t, err)
	assert.Equal(t, "1234567", string(content))
	assert.Equal(t, int64(7), size)

	content, size, err = readAll(buf, 0, from(strings.NewReader("")))
	require.NoError(t, err)
	assert.NotNil(t, content, "empty is not too large")
	assert.Zero(t, size)

	content, size, err = readAll(buf, 0, from(strings.NewReader("it grew meanwhile")))
	require.NoError(t, err)
	assert.Nil(t, content)
	assert.Equal(t, int64(8), size)

	for _, was := range []int64{3, 5, 8} { // what it was said to have
		content, size, err = readAll(buf, was, from(iotest.OneByteReader(strings.NewReader("12345"))))
		require.NoError(t, err)
		assert.Equal(t, "12345"[:min(was, 5)], string(content))
		assert.Equal(t, min(was, 5), size)
	}

	_, _, err = readAll(buf, 4, from(io.MultiReader(strings.NewReader("12"), failingReader{})))
	require.ErrorIs(t, err, fs.ErrPermission)
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, fs.ErrPermission }

// writes keeps what was written, call by call.
type writes struct{ calls []string }

func (w *writes) Write(p []byte) (int, error) {
	w.calls = append(w.calls, string(p))
	return len(p), nil
}

func newTestOrder(t *testing.T, o Options) (*order, *Summary) {
	t.Helper()
	sum := &Summary{Findings: map[rule.Severity]int{}, Skipped: map[string]Total{}}
	_, cancel := context.WithCancelCause(t.Context())
	return newOrder(o, sum, cancel), sum
}

func text(s string) result { return result{text: []byte(s)} }

func TestOrder(t *testing.T) {
	t.Parallel()
	out := &writes{}
	var told []string
	o, sum := newTestOrder(t, Options{Out: out, Notice: func(n Notice) { told = append(told, n.Path) }})
	buf := []byte("2")
	o.done(2, result{text: buf, notices: []Notice{{Path: "2"}}})
	buf[0] = 'x' // the worker uses it again
	o.done(3, result{notices: []Notice{{Path: "3", Reason: "r", Bytes: 5}, {Path: "3b", Reason: "r", Bytes: 1}}})
	o.done(1, text("1"))
	assert.Empty(t, out.calls)
	assert.Empty(t, told)
	o.done(0, text("0"))
	assert.Equal(t, []string{"0", "1", "2"}, out.calls)
	assert.Equal(t, []string{"2", "3", "3b"}, told)
	assert.Equal(t, Total{Count: 2, Bytes: 6}, sum.Skipped["r"])
	o.done(4, text("4"))
	assert.Equal(t, "4", out.calls[3])
	assert.Zero(t, o.bytes)
	assert.Equal(t, [window]*result{}, o.parked)
}

// A worker with much text waits until there is room, or it has its turn.
func TestOrderBoundsWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &writes{}
		o, _ := newTestOrder(t, Options{Out: out})
		big := strings.Repeat("b", maxParked)
		o.done(2, text(big))
		returned := make([]bool, 5)
		for _, n := range []int{1, 3, 4} {
			go func() {
				o.done(n, text(big))
				returned[n] = true
			}()
		}
		synctest.Wait()
		assert.Equal(t, make([]bool, 5), returned)
		assert.Equal(t, maxParked, o.bytes)
		o.done(0, text("a"))
		synctest.Wait()
		assert.True(t, returned[1] && returned[3] && returned[4])
		assert.Len(t, out.calls, 5)
		assert.Zero(t, o.bytes)
	})
}

// The walk waits for a file that takes long, and everything ends when the scan
// does.
func TestOrderBoundsWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, _ := newTestOrder(t, Options{Out: &writes{}})
		require.True(t, o.admit(window-1))
		results := make(chan bool, 1)
		go func() { results <- o.admit(window) }()
		synctest.Wait()
		assert.Empty(t, results)
		o.done(0, result{})
		assert.True(t, <-results)

		go func() { results <- o.admit(window + 1) }()
		synctest.Wait()
		o.stop()
		assert.False(t, <-results)
		assert.False(t, o.wait(5))
		assert.False(t, o.wait(1), "also for the file that has its turn")
		o.done(1, text("x"))
	})
}

// The end of the output ends the scan.
func TestOrderFails(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	require.NoError(t, r.CloseWithError(full))
	o := newOrder(Options{Out: w}, &Summary{Skipped: map[string]Total{}}, cancel)
	o.done(0, text("x"))
	assert.Equal(t, full, context.Cause(ctx))
}

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
	for _, dir := range []string{"vendor", "vendors", "vendor/x", "x/vendor", "node_modules", "a/b/node_modules", "node_modules/x/y", "a/c", "c", "a/c/d", "x/y.d", "x/y", "lit", "one", "one/z", "two", "two/y"} {
		if r.prunes(dir) {
			pruned = append(pruned, dir)
			for _, below := range []string{"/f", "/d/e/f", "/f.md"} {
				assert.True(t, r.exclude.Match(dir+below), dir+below)
			}
		}
	}
	assert.Equal(t, []string{"vendor", "vendor/x", "node_modules", "a/b/node_modules", "node_modules/x/y", "a/c", "a/c/d", "x/y.d"}, pruned)

	assert.True(t, compile("**").prunes("a"))
	assert.False(t, slices.ContainsFunc([]string{"a/{b,c/**}", "[a/**]"}, func(g string) bool {
		return compile(g).prunes("a/c")
	}))
}
