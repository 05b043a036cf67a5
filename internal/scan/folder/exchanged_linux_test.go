package folder

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// A file is exchanged after its directory was read and before it is opened.
func TestFilesThatAreExchanged(t *testing.T) {
	t.Parallel()
	special := Notice{Skip: finding.Skip{File: "z", Reason: SkipSpecial}}

	for name, tt := range map[string]struct {
		change func(path string) error
		want   Notice
	}{
		"now a FIFO":      {func(z string) error { return syscall.Mkfifo(z, 0o644) }, special},
		"now a directory": {func(z string) error { return os.Mkdir(z, 0o755) }, special},
		"now a link": {
			func(z string) error { return os.Symlink("/etc/passwd", z) },
			Notice{Skip: finding.Skip{File: "z", Reason: Unreadable}, Err: syscall.ELOOP},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			z := filepath.Join(t.TempDir(), "z")
			require.NoError(t, tt.change(z))
			_, _, err := read(z, 0, 1<<20)
			require.Error(t, err)
			assert.Equal(t, tt.want, failed("z", err))
		})
	}
}

// What is removed after its directory was read is no fault.
func TestFilesThatAreRemoved(t *testing.T) {
	t.Parallel()
	l := Loaded{File: &rule.File{}}
	rules, err := l.Compile("", nil)
	require.NoError(t, err)

	w := walker{rules: rules, yield: func(f *scan.File) bool { t.Errorf("%s: %v", f.Path, f.Err); return true }}
	z := filepath.Join(t.TempDir(), "z")
	assert.True(t, w.entry(z, "z", 0))
	assert.True(t, w.directory(z, "z"))
}
