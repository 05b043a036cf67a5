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
