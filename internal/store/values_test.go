package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTimestamp(t *testing.T) {
	t.Parallel()
	paris := time.FixedZone("CET", 3600)
	cases := map[string]struct{ in, out time.Time }{
		"zero":      {time.Time{}, time.Time{}},
		"epoch":     {time.Unix(0, 0), time.Unix(0, 0).UTC()},
		"before it": {time.Unix(-1, 999_999_999), time.Unix(-1, 999_999_000).UTC()},
		"truncated": {time.Date(2026, 11, 20, 1, 2, 3, 999_999_999, paris), time.Date(2026, 11, 20, 0, 2, 3, 999_999_000,
			time.UTC)},
		"far away":     {time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
		"a wall clock": {time.Unix(1_700_000_000, 1), time.Unix(1_700_000_000, 0).UTC()},
	}

	for name, c := range cases {
		v, err := at(c.in).Value()
		require.NoError(t, err, name)
		var s timestamp
		require.NoError(t, s.Scan(v), name)
		assert.Equal(t, c.out, s.Time, name)
	}

	require.Error(t, new(timestamp).Scan("2026-11-20"))
}
