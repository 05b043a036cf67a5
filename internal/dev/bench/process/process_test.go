package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProcessorTime(t *testing.T) {
	t.Parallel()
	before, err := processorTime(os.Getpid())
	require.NoError(t, err)
	for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
		_ = strings.Repeat("x", 100)
	}
	after, err := FamilyTime(os.Getpid())
	require.NoError(t, err)
	assert.Greater(t, after, before)
	_, err = processorTime(1 << 27)
	assert.Error(t, err)
}

// shell stands for a program that serves.
func shell(t *testing.T, script string) (*Process, error) {
	t.Helper()
	return Start(t.Context(), "shell", filepath.Join(t.TempDir(), "log"), []string{"WHERE=127.0.0.1:1"}, "/bin/sh", "-c", script)
}

func TestProcess(t *testing.T) {
	t.Parallel()
	// It may be told to end as soon as it serves.
	const serve = `trap 'exit 0' TERM; printf 'no JSON\n{"msg":"serving",'; echo "\"http_addr\":\"$WHERE\"}" >&2; `
	p, err := shell(t, serve+`while :; do sleep 0.02; done`)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:1", p.HTTP)
	assert.False(t, p.Ended())
	_, err = p.Spent()
	require.NoError(t, err)
	require.NoError(t, p.Stop())
	assert.True(t, p.Ended())
	assert.ErrorContains(t, p.Stop(), "shell ended by itself")

	_, err = shell(t, "echo broken >&2; exit 3")
	assert.ErrorContains(t, err, "ended at start")
	assert.ErrorContains(t, err, "broken")
}

func TestOutput(t *testing.T) {
	t.Parallel()
	out, err := Output(t.Context(), []string{"WHAT=a"}, "/bin/sh", "-c", `echo " $WHAT"`)
	require.NoError(t, err)
	assert.Equal(t, "a", out)
	_, err = Output(t.Context(), nil, "/bin/sh", "-c", "echo why >&2; exit 1")
	assert.ErrorContains(t, err, "why")
}
