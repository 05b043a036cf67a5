package git_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
)

func TestStats(t *testing.T) {
	t.Parallel()
	r := noisy(t, 1)
	dir := t.TempDir()
	s := newStore(t, dir)
	bytes, repositories := s.Size()
	assert.Zero(t, bytes)
	assert.Zero(t, repositories)

	openAdded(t, s, request(r, 1))
	first := s.Stats()
	assert.EqualValues(t, 1, first.Misses)
	assert.Zero(t, first.Hits)
	assert.GreaterOrEqual(t, first.FetchedBytes, uint64(90<<10), "the tree has some 100 KiB")
	assert.NotZero(t, first.Fetches)

	openAdded(t, s, request(r, 1))
	again := s.Stats()
	assert.EqualValues(t, 1, again.Hits)
	assert.EqualValues(t, 1, again.Misses)
	assert.Equal(t, first.FetchedBytes, again.FetchedBytes, "there was nothing new")
	assert.Greater(t, again.Fetches, first.Fetches)
	bytes, repositories = s.Size()
	assert.InDelta(t, onDisk(t, dir), bytes, 100, "the file with the size itself is not in it")
	assert.Equal(t, 1, repositories)

	gone := request(r, 1)
	gone.Remote.URL += "-gone"
	_, err := s.Open(t.Context(), gone)
	require.Error(t, err)
	assert.NotZero(t, s.Stats().FailedFetches)
}

func TestStatsOfEvictions(t *testing.T) {
	t.Parallel()
	s := newStore(t, t.TempDir(), func(l *git.Limits) { l.CacheSize = 200 << 10 })
	for seed := range uint32(4) {
		openAdded(t, s, request(noisy(t, seed), 1))
	}
	assert.NotZero(t, s.Stats().Evictions)
	bytes, _ := s.Size()
	assert.LessOrEqual(t, bytes, int64(400<<10))
}
