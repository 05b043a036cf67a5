package git

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/gittest"
)

// TestLateEndOfStderr has commands whose stderr stays open after their end, as
// it seems to be on a machine that is too busy to read it.
func TestLateEndOfStderr(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		says   string
	}{
		"success": {"exit 0", ""},
		"failure": {"echo 'fatal: words' >&2; exit 128", "fatal: words"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &git{path: gittest.Script(t, "sleep 600 >/dev/null &\n"+test.script+"\n"), limits: DefaultLimits()}
			p, err := g.start(t.Context(), t.TempDir(), newCommand("version"))
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, killGroup(p.cmd.Process)) })
			p.cmd.WaitDelay = 100 * time.Millisecond
			_, err = io.ReadAll(p.stdout)
			require.NoError(t, err)
			// What it says is read in time, whatever else there is to do.
			require.Eventually(t, func() bool {
				return strings.Contains(
					p.stderr.String(), test.says,
				)
			}, 5*time.Minute, time.Millisecond)
			err = p.wait(t.Context())
			if test.says == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.says)
		})
	}
}
