package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/storetest"
)

// TestWebhooksDontDeadlock holds that all that is done with webhooks at once takes its
// locks in one order: a deadlock would be tried again, after a second.
func TestWebhooksDontDeadlock(t *testing.T) {
	t.Parallel()
	clock, database := storetest.NewClock(), pgtest.New(t)
	s, err := Open(t.Context(), Options{Database: database, Now: clock.Now, poolWait: patience})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	storetest.WebhookRace(t, s, clock)
	require.NoError(t, s.Close()) // its connections report their numbers when they end

	var deadlocks int
	other := openAt(t, Options{Database: database})
	require.NoError(t, other.pools.reader.GetContext(t.Context(), &deadlocks,
		`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
	assert.Zero(t, deadlocks)
}
