package auth

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuota(t *testing.T) {
	t.Parallel()
	q := NewQuota[string](2)
	assert.True(t, q.Take("a"))
	assert.True(t, q.Take("a"))
	assert.False(t, q.Take("a"))
	assert.True(t, q.Take("b"), "each owner for himself")
	q.GiveBack("a")
	assert.True(t, q.Take("a"), "what was refused counts nothing")
	q.GiveBack("a")
	q.GiveBack("a")
	q.GiveBack("b")
	assert.Empty(t, q.has, "who has nothing is forgotten")
}
