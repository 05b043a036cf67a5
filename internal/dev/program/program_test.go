package program_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// TestStart has a shell stand for a program that serves.
func TestStart(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	shell, err := filepath.Rel(here, "/bin/sh") // as a path from where the caller works
	require.NoError(t, err)
	options := func(script string) program.Options {
		return program.Options{
			Path: shell, Args: []string{"-c", script}, Env: []string{"WHERE=127.0.0.1:1"}, Dir: t.TempDir(),
		}
	}

	serving := options(`trap 'exit 0' TERM; echo no JSON >&2; ` +
		`echo "{\"msg\":\"serving\",\"http_addr\":\"$WHERE\"}" >&2; while :; do sleep 0.02; done`)
	p, err := program.Start(t.Context(), serving)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:1", p.HTTP)
	require.NoError(t, p.Stop())
	assert.ErrorContains(t, p.Stop(), "ended by itself")
	log, err := os.ReadFile(serving.LogFile())
	require.NoError(t, err)
	assert.Contains(t, string(log), "no JSON\n")

	_, err = program.Start(t.Context(), options("echo broken >&2; exit 3"))
	assert.ErrorContains(t, err, "ended before it served")
	assert.ErrorContains(t, err, "broken")
}
