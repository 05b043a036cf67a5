package blackbox_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// classes is the most of large classes that a pattern may have, and a literal by
// which it is found.
func classes(n int) string { return fmt.Sprintf("x%d", n) + strings.Repeat(`\PL`, 15) }

// attackSize is how much of the attack is made: PRWARDEN_ATTACK=300 is all of it.
func attackSize(t *testing.T) int {
	t.Helper()
	if text := os.Getenv("PRWARDEN_ATTACK"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		return n
	}

	return 60
}

// peakMemory is the most resident memory that the server had, in bytes.
func (s *server) peakMemory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	require.True(t, found)
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)

	return n << 10
}

// Rules of large classes, others at each review, over the API and in rules files:
// they took gigabytes once, until the server died.
func TestHostileRulesLeaveMemory(t *testing.T) {
	t.Parallel()
	size := attackSize(t)
	h := newHosts(t)
	var text strings.Builder
	for i := range size {
		fmt.Fprintf(&text, "x%d%s y%[1]d\n", i, strings.Repeat("-", 20))
	}
	base := files{"a.txt": "a\n"}
	r := h.create(t, "acme/api", base)
	r.pull(1, files{"b.txt": text.String()})
	// Other organizations are there, so the cache is not all of this one's.
	s := startServer(t, h, serverOptions{organizations: []organization{{"acme", "*/*"}, {"other", "*/*"}}})
	c := s.client(s.key(t, "acme"))
	create := func(i int, pattern string) answer {
		return c.do(t, "POST", "/v1/rules", map[string]any{
			"id": fmt.Sprintf("heavy/r%d", i), "type": "regex", "pattern": pattern, "message": "m", "severity": "low",
		})
	}

	a := create(0, strings.Repeat(`\PL`, 340))
	require.Equal(t, 400, a.status)
	assert.Contains(t, a.fields(t)["pattern"], "ranges of characters")

	for i := range size {
		require.Equal(t, 201, create(i, classes(i)).status)
	}
	for i := range 5 {
		done := c.scan(t, "acme/api", 1)
		require.Equal(t, "complete", done["status"])
		require.Equal(t, 201, create(size+i, classes(size+i)).status)
	}

	// A rules file of 64 KiB, another one at each base.
	for i := range 5 {
		var rules strings.Builder
		rules.WriteString("version: 1\nrules:\n")
		for n := 0; rules.Len() < 63<<10 && n < 10*size; n++ {
			fmt.Fprintf(&rules, "- {id: r%d, type: regex, pattern: '%s', message: m, severity: low}\n", n, classes(1000*i+n))
		}
		base := r.commit(fmt.Sprintf("refs/heads/base%d", i), r.sha("refs/heads/main"),
			files{".prwarden/rules.yml": rules.String()})
		head := r.commit(fmt.Sprintf("refs/heads/head%d", i), base, files{"b.txt": text.String()})
		a := c.do(t, "POST", "/v1/reviews", map[string]any{
			"repo": "acme/api", "pr_number": 2, "head_sha": head, "base_sha": base,
		})
		require.Equal(t, 202, a.status, a.body)
		require.Equal(t, "complete", c.wait(t, a.decode(t)["review_id"].(string))["status"])
	}

	peak := s.peakMemory(t)
	t.Logf("%d rules: at most %d MiB", size, peak>>20)
	assert.Less(t, peak, 512<<20)
}
