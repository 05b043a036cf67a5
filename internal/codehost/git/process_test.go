package git_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// openURL makes this test binary open a repository and do nothing else, so
// that a test can kill it.
const openURL = "GITREPO_TEST_OPEN_URL"

func TestMain(m *testing.M) {
	url := os.Getenv(openURL)
	if url == "" {
		m.Run()
		return
	}
	limits := git.DefaultLimits()
	limits.LowSpeed = 2 * time.Second // then what git started itself ends, too
	s, err := git.New(git.Options{Dir: os.Getenv("GITREPO_TEST_DIR"), Limits: limits})
	if err == nil {
		target := scan.Target{Host: organization.Host{}.WithDefaults(), Repo: Name, Number: 1}
		_, err = s.Open(context.Background(), target, git.Remote{URL: url})
	}
	fmt.Fprintln(os.Stderr, "was not killed:", err)
}

// TestKilledProcessLeavesNoGit kills the process that runs git without warning
// while a server keeps git waiting.
func TestKilledProcessLeavesNoGit(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		asked <- struct{}{}
		<-q.Context().Done()
	}))
	t.Cleanup(server.Close)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), openURL+"="+server.URL+"/x.git", "GITREPO_TEST_DIR="+t.TempDir())
	require.NoError(t, child.Start())
	<-asked
	require.NotEmpty(t, gits(t, server.URL))
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	require.Eventually(t, func() bool { return len(gits(t, server.URL)) == 0 }, 5*time.Minute, 10*time.Millisecond)
}

// gits are the processes of git that were told of url.
func gits(t *testing.T, url string) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	var found []string
	for _, dir := range dirs {
		env, _ := os.ReadFile(filepath.Join(dir, "environ")) // it may have ended
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if strings.Contains(string(env), url) && strings.Contains(string(args), "git") && !strings.Contains(
			string(env), openURL,
		) {
			found = append(found, string(args))
		}
	}
	return found
}

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
	_, err := s.Open(t.Context(), p.target, p.remote)
	assert.Error(t, err)
}
