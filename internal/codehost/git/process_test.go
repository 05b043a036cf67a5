package git_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/codehost/git"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
)

// TestEnvironmentIsNotInherited has variables that would break or redirect
// every git command. It can't be parallel because it sets them.
func TestEnvironmentIsNotInherited(t *testing.T) {
	for _, name := range []string{
		"GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_GLOBAL", "GIT_EXEC_PATH",
		"GIT_SSH_COMMAND", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PROXY_COMMAND", "HTTP_PROXY", "HOME",
		"XDG_CONFIG_HOME", "GIT_TRACE", "GIT_NAMESPACE", "GIT_DIFF_OPTS",
	} {
		t.Setenv(name, "/nonexistent")
	}

	r := New(t)
	r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	assert.Equal(t, "1\n", openAdded(t, newStore(t, t.TempDir()), request(r, 1)))
}

func TestMemoryLimitHolds(t *testing.T) {
	t.Parallel()
	r := New(t)
	r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	s := newStore(t, t.TempDir(), func(l *git.Limits) { l.Memory = 1 << 20 })
	p := request(r, 1)
	_, err := s.Open(t.Context(), p)
	assert.Error(t, err)
}
