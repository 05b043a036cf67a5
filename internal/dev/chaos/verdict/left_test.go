package verdict_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/chaos/verdict"
)

func TestProcesses(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	found, err := verdict.Processes(dir)
	require.NoError(t, err)
	assert.Empty(t, found)

	for name, cmd := range map[string]*exec.Cmd{
		"works there": exec.CommandContext(t.Context(), "cat"),
		// It waits without a child, which would have these arguments, too,
		// until it runs another program.
		"names it": exec.CommandContext(t.Context(), "sh", "-c", "read line; echo; read line; exit 0", dir+"/file"),
	} {
		if name == "works there" {
			cmd.Dir = dir
		}
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		// A program that was just started has no arguments yet; one that answers has.
		_, err = io.WriteString(stdin, "\n")
		require.NoError(t, err)
		_, err = io.ReadFull(stdout, make([]byte, 1))
		require.NoError(t, err)
		found, err := verdict.Processes(dir)
		require.NoError(t, err)
		assert.NotEmpty(t, found, name)
		found, err = verdict.Processes(dir, cmd.Process.Pid)
		require.NoError(t, err)
		assert.Empty(t, found, name)
		require.NoError(t, stdin.Close())
		require.NoError(t, cmd.Wait())
	}
}

func TestTemporaryFiles(t *testing.T) {
	t.Parallel()
	cache, temporary := t.TempDir(), t.TempDir()
	pack := filepath.Join(cache, "repositories", "x", "1.git", "objects", "pack")
	require.NoError(t, os.MkdirAll(pack, 0o755))
	for _, name := range []string{"pack-1.pack", "lock", "size"} {
		require.NoError(t, os.WriteFile(filepath.Join(pack, name), nil, 0o600))
	}
	found, err := verdict.TemporaryFiles([]string{cache}, []string{temporary})
	require.NoError(t, err)
	assert.Empty(t, found)
	var want []string
	for _, path := range []string{
		filepath.Join(pack, "tmp_pack_x"), filepath.Join(cache, "shallow.lock"), filepath.Join(cache, ".gitconfig-1"), filepath.Join(temporary, "anything"),
	} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		want = append(want, path)
	}
	found, err = verdict.TemporaryFiles([]string{cache}, []string{temporary})
	require.NoError(t, err)
	assert.ElementsMatch(t, want, found)
}

func TestReadUsage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("# HELP go_goroutines Number.\ngo_goroutines 42\nprocess_open_fds 17\ngo_goroutines_x 9\n"))
	}))
	t.Cleanup(server.Close)
	u, err := verdict.ReadUsage(t.Context(), strings.TrimPrefix(server.URL, "http://"))
	require.NoError(t, err)
	assert.Equal(t, verdict.Usage{Goroutines: 42, Files: 17}, u)

	empty := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(empty.Close)
	_, err = verdict.ReadUsage(t.Context(), strings.TrimPrefix(empty.URL, "http://"))
	assert.ErrorContains(t, err, "have no go_goroutines")
}
