package sariftest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A check that passes everything would be none.
func TestCheck(t *testing.T) {
	t.Parallel()
	const start, end = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[`, `]}]}`
	require.NoError(t, check([]byte(start+`{"message":{"text":"m"}}`+end)))
	for log, says := range map[string]string{
		`{"version":"2.1.0"}`:                                      "runs is required",
		start + `{}` + end:                                         "message is required",
		start + `{"message":{}}` + end:                             "message",
		start + `{"message":{"text":"m"},"level":"high"}` + end:    "level must be one of",
		start + `{"message":{"text":"m"},"severity":"high"}` + end: "severity is not allowed",
		start + `{"message":{"text":"m"},"locations":[{"physicalLocation":{"region":{"startLine":0}}}]}` + end: "startLine",
		`{"version":`: "EOF",
	} {
		assert.ErrorContains(t, check([]byte(log)), says)
	}
}
