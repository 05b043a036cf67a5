package git

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNewNeedsGit(t *testing.T) {
	t.Parallel()
	for says, wrong := range map[string]string{
		"git version 2.35.9\n":               "2.36 or newer",
		"git version 1.9.1\n":                "2.36 or newer",
		"git version 2.36.0\n":               "",
		"git version 2.51.0 (Apple Git-1)\n": "",
		"git version 3.0\n":                  "",
		"something else\n":                   "for its version",
	} {
		err := checkVersion(says)
		if wrong == "" {
			assert.NoError(t, err, says)
			continue
		}
		assert.ErrorContains(t, err, wrong)
	}
	_, err := New(Options{Dir: t.TempDir(), Git: "/nonexistent/git", Limits: DefaultLimits()})
	assert.Error(t, err)
}
