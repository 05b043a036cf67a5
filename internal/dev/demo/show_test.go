package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	t.Parallel()
	id, found, err := count([]byte(`{"review_id": "rev_1", "fixed": [{}],
		"findings": [{"state": "new"}, {"state": "existing"}, {"state": "new"}]}`))
	require.NoError(t, err)
	assert.Equal(t, "rev_1", id)
	assert.Equal(t, counts{New: 2, Existing: 1, Fixed: 1}, found)
	_, _, err = count([]byte(`<html>`))
	assert.Error(t, err)
}
