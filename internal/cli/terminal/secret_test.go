package terminal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

func TestReadPassword(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"violet Harbor\n": "violet Harbor", "a b \r\nmore": "a b ", "plain": "plain", "": "", "\nsecond": "",
	} {
		path := filepath.Join(t.TempDir(), "password")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		f, err := os.Open(path)
		require.NoError(t, err)
		got, err := terminal.ReadPassword(t.Context(), f, t.Output())
		require.NoError(t, f.Close())
		assert.Equal(t, want, got)
		if want == "" {
			require.EqualError(t, err, "there is no password in the input")
		} else {
			require.NoError(t, err)
		}
	}
}
