package world

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shell is a process that runs a script.
func shell(t *testing.T, script string) (*Process, *Logs) {
	t.Helper()
	logs := newLogs()
	p := &Process{Name: "server0", Dir: t.TempDir(), binary: "/bin/sh", args: []string{"-c", script}, logs: logs}
	require.NoError(t, startProcess(p))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), plenty)
		defer cancel()
		_ = p.Stop(ctx) // most tests did so
	})
	return p, logs
}

const serve = `trap 'exit 0' TERM; echo '{"msg":"serving"}' >&2; while :; do sleep 0.05; done`

func waiting(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), plenty)
	t.Cleanup(cancel)
	return ctx
}

// state is the letter that the kernel gives a process.
func state(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	require.NoError(t, err)
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
}

func TestProcessIsStartedAgain(t *testing.T) {
	t.Parallel()
	p, _ := shell(t, serve)
	require.NoError(t, p.WaitServing(waiting(t)))
	first := p.PID()
	assert.Equal(t, first, p.Kill())
	require.NoError(t, p.WaitServing(waiting(t)))
	assert.NotEqual(t, first, p.PID(), "the life that was killed does not serve")
	assert.NotZero(t, p.PID())
	lives, failed := p.Lives()
	assert.Equal(t, 2, lives)
	assert.Zero(t, failed, "a kill is not the process's own end")
	require.NoError(t, p.Stop(waiting(t)))
	require.NoError(t, p.Stop(waiting(t)))
	assert.Zero(t, p.PID())
	assert.Zero(t, p.Kill())
}

func TestProcessThatEndsItself(t *testing.T) {
	t.Parallel()
	p, logs := shell(t, `echo 'prwarden: no database' >&2; exit 3`)
	require.Eventually(t, func() bool { _, failed := p.Lives(); return failed >= 2 }, plenty, time.Millisecond)
	assert.Contains(t, p.LogTail(), "no database")
	assert.Empty(t, logs.Strange())
	assert.Positive(t, logs.Errors()["server: prwarden: …"])
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	p, _ := shell(t, serve)
	require.NoError(t, p.WaitServing(waiting(t)))
	pid := p.Freeze()
	require.Equal(t, p.PID(), pid)
	assert.True(t, p.Frozen())
	require.Eventually(t, func() bool { return state(t, pid) == "T" }, plenty, time.Millisecond)
	p.Thaw()
	assert.False(t, p.Frozen())
	require.Eventually(t, func() bool { return state(t, pid) != "T" }, plenty, time.Millisecond)
	p.Freeze()
	require.NoError(t, p.Stop(waiting(t)), "a frozen process can be stopped")
}

func TestStopTellsWhatWentWrong(t *testing.T) {
	t.Parallel()
	stubborn, _ := shell(t, `trap '' TERM; echo '{"msg":"serving"}' >&2; while :; do sleep 0.05; done`)
	require.NoError(t, stubborn.WaitServing(waiting(t)))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, stubborn.Stop(ctx), "did not stop")

	failing, _ := shell(t, `trap 'exit 3' TERM; echo '{"msg":"serving"}' >&2; while :; do sleep 0.05; done`)
	require.NoError(t, failing.WaitServing(waiting(t)))
	require.ErrorContains(t, failing.Stop(waiting(t)), "exit status 3")
}

func TestLogs(t *testing.T) {
	t.Parallel()
	l := newLogs()
	for line, serving := range map[string]bool{
		`{"level":"INFO","msg":"serving"}` + "\n":                                                 true,
		`{"level":"INFO","msg":"request","status":202}` + "\n":                                    false,
		`{"level":"INFO","msg":"scan ended","review_id":"rev_a","status":"complete"}` + "\n":      false,
		`{"level":"INFO","msg":"scan ended","review_id":"rev_b","status":"failed"}` + "\n":        false,
		`{"level":"ERROR","msg":"claiming reviews failed"}` + "\n":                                false,
		"panic: index out of range\n":                                                             false,
		`{"level":"INFO","msg":"cut of`:                                                           false,
		"\n":                                                                                      false,
		"prwarden: database prwarden on 127.0.0.1 can't be opened: the database is starting up\n": false,
	} {
		assert.Equal(t, serving, l.take("server1", line), line)
	}
	assert.Equal(t, map[string]int{"rev_a": 1}, l.Completed())
	assert.Equal(t, map[string]int{"server: claiming reviews failed": 1, "server: prwarden: …": 1}, l.Errors())
	assert.Equal(t, []string{"server1: panic: index out of range"}, l.Strange())
}
