package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/chaos/faults"
	"github.com/prwarden/prwarden/internal/dev/chaos/world"
)

// program is the path of prwarden, built by TestMain.
var program string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "prwarden-chaos-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "prwarden")
	if err := buildProgram(context.Background(), program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// short is what the short form has in both worlds. What takes longer than it
// may, freezes over a lease for one, is the long form's.
func short(t *testing.T, database world.Kind, servers int) settings {
	t.Helper()
	return settings{
		Dir: t.TempDir(), Binary: program, Database: database, Servers: servers, Scanners: 3, Workers: 3, Clients: 8, Repos: 2, Pulls: 40,
		Reviews: 50, Faults: 5 * time.Second, Settle: 5 * time.Minute, MostPassing: 0.5, Spare: 1, Hurry: database == world.Postgres,
		Schedule: faults.Options{Seed: 1, Servers: servers, Scanners: 3, KillEvery: time.Second, CutEvery: 2 * time.Second},
	}
}

func TestShortStormOnPostgres(t *testing.T) {
	t.Parallel()
	s := short(t, world.Postgres, 2)
	s.Schedule.CrashEvery, s.Schedule.HoldEvery = 4*time.Second, 2*time.Second
	storm(t, s)
}

func TestShortStormOnSQLite(t *testing.T) {
	t.Parallel()
	storm(t, short(t, world.SQLite, 1))
}

// storm makes a run and holds it to all invariants. How long recoveries take is
// for the long form, on a machine that does nothing else.
func storm(t *testing.T, s settings) {
	t.Helper()
	var text bytes.Buffer
	report, err := execute(t.Context(), s, &text)
	require.NoError(t, err, text.String())
	report.print(&text)
	assert.True(t, report.Held(), text.String())
	assert.GreaterOrEqual(t, report.Accepted, s.Reviews)
	assert.Positive(t, report.Ended["complete"])
	assert.NotEmpty(t, report.Faults)
	t.Log(text.String())
}
