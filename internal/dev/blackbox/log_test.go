package blackbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every duration in the log says by its name what it counts.
func TestLogHasUnits(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	require.Equal(t, 404, c.do(t, "GET", "/v1/reviews/rev_none", "").status)

	logged := func() bool { return strings.Contains(s.logged(), `"duration_ms":`) }
	require.Eventually(t, logged, eventually, tick, "the request is not in the log")
	for line := range strings.Lines(s.logged()) {
		assert.NotContains(t, line, `"duration":`)
		assert.NotRegexp(t, `"[a-z_]*(after|took|wait|elapsed)":\d`, line)
	}
}
