package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/command"
)

func keptCommands(t *testing.T, h Harness) {
	require.NoError(t, h.Store.CreateOrganization(t.Context(), organizationOf(acme)))
	require.NoError(t, h.Store.CreateOrganization(t.Context(), organizationOf(other)))
	knows := func(org, connection, name string) bool {
		t.Helper()
		known, err := h.Store.KnowsCommand(t.Context(), org, connection, name)
		require.NoError(t, err)

		return known
	}
	keep := func(name string) bool {
		t.Helper()
		first, err := h.Store.KeepCommand(t.Context(), acme, "con_a", name)
		require.NoError(t, err)

		return first
	}
	assert.False(t, knows(acme, "con_a", "comment:1"))
	assert.True(t, keep("comment:1"))
	assert.False(t, keep("comment:1"))
	assert.True(t, keep("odd\x00\xff"))
	assert.True(t, knows(acme, "con_a", "odd\x00\xff"))
	assert.True(t, knows(acme, "con_a", "comment:1"))
	assert.False(t, knows(acme, "con_b", "comment:1"))
	assert.False(t, knows(other, "con_a", "comment:1"))

	require.NoError(t, h.Store.ForgetCommand(t.Context(), acme, "con_a", "comment:1"))
	assert.True(t, keep("comment:1"))
	h.Clock.Advance(command.Keep + time.Second)
	_, _, err := h.Store.PurgeTriage(t.Context(), time.Hour, h.Clock.Now())
	require.NoError(t, err)
	assert.False(t, knows(acme, "con_a", "comment:1"))
}
