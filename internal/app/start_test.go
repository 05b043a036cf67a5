package app_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

func (b *bundle) awaitLine(t *testing.T, message string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return strings.Contains(b.log.String(), `"msg":"`+message+`"`)
	}, patience, 5*time.Millisecond, message)
}

// After a power cut servers and database start in any order.
func TestServeWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	cluster := pgtest.Start(t, nil)
	require.NoError(t, cluster.CreateDatabase(t.Context(), "app"))
	require.NoError(t, cluster.Stop(pgtest.Fast))
	b := setup(t)
	b.config.Database, b.config.Migrate = cluster.DSN("app"), true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- app.Serve(ctx, b.config, os.Getenv, b.logger()) }()
	b.awaitLine(t, "waiting for the database")
	require.NoError(t, cluster.Start(t.Context()))
	b.awaitLine(t, "serving")
	cancel()
	require.NoError(t, <-ended)
}

// A port that is in use ends the start with that sentence.
func TestServeDoesNotWaitForAPort(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { taken.Close() }) // after the parallel tests below
	addr := taken.Addr().String()

	for setting, change := range map[string]func(*config.Config){
		"http-addr": func(c *config.Config) { c.HTTPAddr = addr },
		"grpc-addr": func(c *config.Config) { c.GRPCAddr = addr },
		"ops-addr":  func(c *config.Config) { c.OpsAddr = addr },
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			change(&b.config)
			err := app.Serve(t.Context(), b.config, os.Getenv, b.logger())
			require.ErrorContains(t, err, setting+": can't listen on "+addr+": ")
			assert.ErrorContains(t, err, "in use")
			assert.NotContains(t, b.log.String(), "waiting for the database")
		})
	}
}
