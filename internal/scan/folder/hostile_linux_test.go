package folder_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// Links that lead to no file of the folder are text, as git has them. What is no
// file is not opened: a FIFO would wait for ever.
func TestScanOfWhatIsNoFile(t *testing.T) {
	t.Parallel()
	outside := tree(t, map[string]string{"f": "needle"})
	root := tree(t, map[string]string{"a/f": "needle"})

	for link, target := range map[string]string{
		"a/up": "..", "a/self": "self", "loop": "a/loop", "a/loop": "../loop",
		"file": "a/f", "out": outside, "dangling": "no/needle/there",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, link)))
	}

	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644))
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(root, "s"), Net: "unix"})
	require.NoError(t, err)
	defer socket.Close()

	r := do(t, root, compile(t, nil, needle("n", "needle|^a/l", rule.High)), folder.Options{})
	assert.Equal(t, "a/f:1:1 custom/n\ndangling:1:4 custom/n\nloop:1:1 custom/n\n", r.text)
	assert.Equal(t,
		[]folder.Notice{notice(folder.SkipSpecial, "fifo"), notice(folder.SkipSpecial, "s")},
		r.notices)

	// The folder itself may be a link, as whoever named it wanted it.
	require.NoError(t, os.Symlink(root, filepath.Join(outside, "link")))
	again := do(t, filepath.Join(outside, "link"), compile(t, nil, needle("n", "needle|^a/l", rule.High)),
		folder.Options{})
	assert.Equal(t, r.text, again.text)

	fifo := do(t, filepath.Join(root, "fifo"), compile(t, nil, needle("n", "x", rule.High)), folder.Options{})
	assert.Equal(t, []folder.Notice{notice(folder.SkipSpecial, "fifo")}, fifo.notices)
}

// A file of the folder that a link leads to is matched by the rules that don't look at
// it under its own path.
func TestScanOfLinks(t *testing.T) {
	t.Parallel()
	outside := tree(t, map[string]string{"f": "needle"})
	root := tree(t, map[string]string{"a/notes.txt": "needle", "large.txt": strings.Repeat("needle ", 100)})
	for link, target := range map[string]string{
		"a/app.py": "notes.txt", "b.py": "a/app.py", "c.py": "d/notes.txt", "d": "a", "c.txt": "a/notes.txt",
		"out.py": filepath.Join(outside, "f"), "large.py": "large.txt",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, link)))
	}
	python := needle("n", "needle", rule.High)
	python.Languages = []string{"python"}

	r := do(t, root, compile(t, nil, python), folder.Options{MaxFileSize: 600})
	assert.Equal(t, "a/app.py:1:1 custom/n\na/app.py:1:1 meta/link-to-other\n"+
		"b.py:1:1 custom/n\nb.py:1:1 meta/link-to-other\nc.py:1:1 custom/n\nc.py:1:1 meta/link-to-other\n"+
		"large.py:1:1 meta/link-to-other\n", r.text)
	assert.Equal(t, []folder.Notice{
		notice(finding.SkipFileTooLarge, "large.py"), notice(finding.SkipFileTooLarge, "large.txt"),
	}, r.notices)
}

func TestScanOfStrangePaths(t *testing.T) {
	t.Parallel()
	names := []string{"\x01\xff", "a\nb", "\x1b[2J", "a\\b", "-rf", " ", "~", "\xc3\x28/\xff/x", "…"}
	files := map[string]string{}

	for _, n := range names {
		files[n] = "needle"
	}

	r := do(t, tree(t, files), compile(t, nil, needle("n", "needle", rule.High)), folder.Options{})

	for _, n := range names {
		assert.Contains(t, r.text, n+":1:1 custom/n\n")
	}

	assert.Equal(t, len(names), r.sum.Findings[rule.High])
}

// What can't be read is told, and the rest is scanned. A path that is too long
// can't be read by root either.
func TestScanOfADeepTree(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": "needle", "z": "needle"})
	top, err := os.OpenRoot(root)
	require.NoError(t, err)
	name := strings.Repeat("d", 200)
	at := top

	for range 25 {
		require.NoError(t, at.Mkdir(name, 0o755))
		require.NoError(t, at.WriteFile("f", []byte("needle"), 0o644))
		below, err := at.OpenRoot(name)
		require.NoError(t, err)
		require.NoError(t, at.Close())
		at = below
	}

	require.NoError(t, at.Close())

	r := do(t, root, compile(t, nil, needle("n", "needle", rule.High)), folder.Options{})
	assert.Contains(t, r.text, "\nz:1:1 custom/n\n")
	assert.Equal(t, r.sum.Findings[rule.High], r.sum.Scanned)
	require.Len(t, r.notices, 1)
	assert.Equal(t, folder.Unreadable, r.notices[0].Reason)
	assert.Equal(t, syscall.ENAMETOOLONG, r.notices[0].Err)
	// PATH_MAX counts the folder and the NUL, so one level more or less fits.
	assert.InDelta(t, 4096/201+2, r.sum.Scanned, 2)
}

// Files that the system makes up as they are read say that they are empty.
func TestScanOfAFileWithoutASize(t *testing.T) {
	t.Parallel()
	r := do(t, "/proc/self/status", compile(t, nil, needle("n", "^Name:", rule.High)), folder.Options{})
	assert.Equal(t, "status:1:1 custom/n\n", r.text)
}
