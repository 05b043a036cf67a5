package app_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

func (b *bundle) awaitLine(t *testing.T, message string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(b.log.String(), `"msg":"`+message+`"`) }, patience, 5*time.Millisecond, message)
}

// After a power cut servers and database start in any order.
func TestServeWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	cluster := pgtest.Start(t, pgtest.Options{})
	require.NoError(t, cluster.CreateDatabase(t.Context(), "app"))
	require.NoError(t, cluster.Stop(pgtest.Fast))
	b := setup(t)
	b.config.Database, b.config.Migrate = cluster.DSN("app"), true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- app.Serve(ctx, b.config, nil, b.logger()) }()
	b.awaitLine(t, "waiting for the database")
	require.NoError(t, cluster.Start(t.Context()))
	b.awaitLine(t, "serving")
	cancel()
	require.NoError(t, <-ended)
}

// A mistake does not go away by waiting.
func TestServeDoesNotWaitForMistakes(t *testing.T) {
	t.Parallel()
	cluster := pgtest.Start(t, pgtest.Options{TCP: true})
	require.NoError(t, cluster.CreateDatabase(t.Context(), "app"))
	good, err := url.Parse(cluster.TCPDSN("app"))
	require.NoError(t, err)
	wrong := *good
	wrong.User = url.UserPassword(good.User.Username(), "wrong")
	encrypted := *good
	encrypted.RawQuery = "sslmode=require"
	for name, c := range map[string]struct {
		address url.URL
		says    string
	}{
		"password":      {wrong, "password authentication failed"},
		"schema":        {*good, "run `prwarden migrate`"},
		"no encryption": {encrypted, "SSL is not enabled on the server"},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.config.Database = c.address.String()
			require.ErrorContains(t, app.Serve(t.Context(), b.config, nil, b.logger()), c.says)
			assert.NotContains(t, b.log.String(), "waiting for the database")
		})
	}
}
