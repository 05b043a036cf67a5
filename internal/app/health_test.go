package app_test

import (
	"database/sql"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/config"
)

// Metrics that other machines can read are worth a word.
func TestOpenMetricsAreWarnedOf(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		b := setup(t)
		b.config.OpsAddr, b.config.ScannerOpsAddr = addr, addr
		b.server(t)
		b.scanner(t, config.Link{})
		assert.Equal(t, addr == "0.0.0.0:0", strings.Count(b.log.String(), "metrics, which name organizations") == 2, addr)
	}
}

// Probes have no client certificate, which the public ports may want.
func TestProbesOnThePrivatePort(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.config.ScannerOpsAddr = "127.0.0.1:0"
	for name, addr := range map[string]string{
		"server": b.server(t).Addresses().Ops, "scanner": b.scanner(t, config.Link{}).OpsAddr(),
	} {
		for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
			resp, err := http.Get("http://" + addr + path)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, http.StatusOK, resp.StatusCode, "%s of the %s", path, name)
		}
	}
}

// A server whose database can't be written is not ready.
func TestReadinessNeedsAWritableDatabase(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ready := "http://" + b.server(t).Addresses().HTTP + "/readyz"
	code := func() int {
		resp, err := http.Get(ready)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	require.Equal(t, http.StatusOK, code())

	db, err := sql.Open(
		"sqlite", strings.TrimPrefix(b.config.Database, "sqlite:")+"?_txlock=immediate&_pragma=busy_timeout(60000)",
	)
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	writing, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return code() == http.StatusServiceUnavailable }, patience, time.Millisecond)

	require.NoError(t, writing.Rollback())
	require.Eventually(t, func() bool { return code() == http.StatusOK }, patience, time.Millisecond)
}
