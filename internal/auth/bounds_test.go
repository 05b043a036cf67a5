package auth

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLimiterMemoryIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	l := NewMemoryLimiter(func() time.Time { return now })
	l.max = 100
	for i := range 1000 {
		_, err := l.Take(t.Context(), fmt.Sprint(i), 1)
		require.NoError(t, err)
	}
	assert.Len(t, l.windows, 100)
	assert.Equal(t, 100, l.order.Len())
	d, err := l.Take(t.Context(), "999", 1)
	require.NoError(t, err)
	assert.False(t, d.OK, "the newest windows stay")
	now = now.Add(Window)
	_, err = l.Take(t.Context(), "one more", 1)
	require.NoError(t, err)
	assert.Len(t, l.windows, 1, "windows that ended are dropped")
	assert.Equal(t, 1, l.order.Len())
}

func TestRememberedKeysAreBounded(t *testing.T) {
	t.Parallel()
	r := newRecent(10)
	now := time.Unix(1_000_000, 0)
	for i := range 100 {
		r.put(fmt.Sprint(i%50), Key{ID: fmt.Sprint(i)}, now)
	}
	assert.Len(t, r.entries, 10)
	assert.Equal(t, 10, r.order.Len())
	k, ok := r.get("49", now)
	assert.True(t, ok)
	assert.Equal(t, "99", k.ID)
	_, ok = r.get("39", now)
	assert.False(t, ok)
	now = now.Add(lookupTTL)
	_, ok = r.get("49", now)
	assert.False(t, ok, "old entries are not believed")
	r.put("new", Key{}, now)
	assert.Len(t, r.entries, 1)
}
