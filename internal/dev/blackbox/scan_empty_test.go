package blackbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whoever scans without any change is told what else there is to scan. A hook is
// not: that there is nothing to look at is no news to it.
func TestScanOfNoChanges(t *testing.T) {
	t.Parallel()
	r := worktree(t)
	const hint = "There was no changed file to look at; --base REF scans what a branch changes, --all every file.\n"
	for name, tt := range map[string]struct {
		args []string
		told bool
	}{
		"work tree": {nil, true},
		"staged":    {[]string{"--staged"}, false},
		"commits":   {[]string{"--base", "HEAD"}, false},
	} {
		code, out, errOut := scanIn(t, r.dir, nil, tt.args...)
		assert.Equal(t, 0, code, errOut)
		assert.Contains(t, out, "No findings in ", name)
		if tt.told {
			assert.Contains(t, errOut, hint, name)
		} else {
			assert.NotContains(t, errOut, hint, name)
		}
	}
}
