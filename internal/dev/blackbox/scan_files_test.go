package blackbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever scans says by the umask who may read new reports, as with every
// program.
func TestScanWritesFilesByTheUmask(t *testing.T) {
	t.Parallel()
	for umask, want := range map[string]os.FileMode{"077": 0o600, "027": 0o640, "002": 0o664} {
		t.Run(umask, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.js"), []byte("eval(x)\n"), 0o600))
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `umask "$0" && exec "$@"`, umask,
				binary, "scan", "--all", ".", "--fail-on", "none", "--output", "sarif=r.sarif", "--output", "json=r.json")
			cmd.Dir, cmd.Env = dir, env(t.TempDir())
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			for _, file := range []string{"r.sarif", "r.json"} {
				info, err := os.Stat(filepath.Join(dir, file))
				require.NoError(t, err)
				assert.Equal(t, want, info.Mode(), file)
			}
		})
	}
}

// A report to what is open goes there, and does not take the place of the
// system's name for it.
func TestScanWritesToStreams(t *testing.T) {
	t.Parallel()
	// Not /dev/stdout, which root might replace.
	for _, name := range []string{"/dev/fd/1", "/proc/self/fd/1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.js"), []byte("eval(x)\n"), 0o600))
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			require.NoError(t, err)
			defer out.Close()
			cmd := exec.CommandContext(t.Context(), binary, "scan", "--all", ".", "--fail-on", "none", "--output", "json="+name)
			cmd.Dir, cmd.Env, cmd.Stdout = dir, env(t.TempDir()), out
			require.NoError(t, cmd.Run())
			text, err := os.ReadFile(out.Name())
			require.NoError(t, err)
			assert.Contains(t, string(text), "security/no-eval")
		})
	}
}
