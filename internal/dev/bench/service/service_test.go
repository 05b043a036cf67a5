package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCodeHost(t *testing.T) {
	t.Parallel()
	h, err := newCodeHost(t.Context(), t.TempDir(), 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close()) })
	refs := func(repo string) string {
		cmd := exec.CommandContext(t.Context(), "git", "ls-remote", strings.ReplaceAll(h.url, "{repo}", repo))
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	first := refs("acme/shop")
	assert.Contains(t, first, "refs/heads/main")
	assert.Contains(t, first, "refs/pull/1/head")
	asked := len(h.answers)
	assert.Positive(t, asked)
	assert.Equal(t, first, refs("other/name"), "it has the same under every name")
	assert.Len(t, h.answers, asked, "and asks git once")
}

func TestMedian(t *testing.T) {
	t.Parallel()
	same := func(f float64) float64 { return f }
	assert.Zero(t, median(nil, same))
	assert.Equal(t, 2.0, median([]float64{3, 1, 2}, same))
	assert.Equal(t, 2.5, median([]float64{4, 1, 2, 3}, same))
}

func TestResultsAsText(t *testing.T) {
	t.Parallel()
	r := &results{
		began: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), took: time.Minute,
		reads: []*reading{{
			database: "SQLite", protocol: "REST", findings: 20, bytes: 8_558,
			ours: []sample{{rate: 900, server: 250 * time.Microsecond, database: 50 * time.Microsecond}},
			bare: []sample{{rate: 1_000, server: 200 * time.Microsecond, database: 70 * time.Microsecond}},
		}},
		accepts: []accepting{
			{database: "SQLite", waiting: 5_000, callers: 1, p50: time.Millisecond},
			{database: "Postgres", callers: 16}, {database: "Postgres", callers: 1},
		},
		ceilings: []ceiling{{clients: 16, rate: 20_000.4, latency: 790 * time.Microsecond}},
		starts:   []starting{{database: "SQLite", way: "w", samples: 3, p50: 2 * time.Millisecond}},
		scaling:  []scaling{{scanners: 1, reviews: 10, took: 10 * time.Second}, {scanners: 2, reviews: 20, took: 10 * time.Second}},
	}
	text := r.text("a machine")
	for _, want := range []string{
		"| SQLite | REST | 20 | 8,558 | 900 | 1,000 | 0.90 | 250 | 200 | 0.80 | 300 | 270 | 0.90 |",
		"| pgbench, one insert a transaction | 16 |  | 0.79 (mean) |  | 20,000 |",
		"| POST /v1/reviews on SQLite | 1 | 5,000 | 1.00 |",
		"| SQLite | w | 3 | 2.00 |",
		"| 2 | 20 | 2.00 | 2.00 × |",
	} {
		assert.Contains(t, text, want)
	}
	one, many := strings.Index(text, "Postgres | 1 |"), strings.Index(text, "Postgres | 16 |")
	assert.Less(t, one, many, "few callers first")
}
