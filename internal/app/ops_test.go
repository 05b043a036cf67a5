package app_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/config"
)

// Scrapes ask the database, so there are few at once; the next one is told so.
func TestFewScrapesAtOnce(t *testing.T) {
	t.Parallel()
	const atOnce = 4
	asked, answer := make(chan struct{}, 100), make(chan struct{})
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "slow"}, func() float64 {
		asked <- struct{}{}
		<-answer
		return 1
	}))
	server := app.NewOpsServer(r)
	scrape := func() int {
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		return w.Code
	}
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() { scrape() })
	}
	for range atOnce {
		<-asked
	}
	for range 20 {
		assert.Equal(t, http.StatusServiceUnavailable, scrape())
	}
	close(answer)
	all.Wait()
	assert.Equal(t, http.StatusOK, scrape())
	assert.Len(t, asked, 1)
}

// Idle connections to the port for Prometheus are bounded, of servers and of
// scanners alike.
func TestFewConnectionsForMetrics(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.config.ScannerOpsAddr = "127.0.0.1:0"
	for name, addr := range map[string]string{
		"server": b.server(t).Addresses().Ops, "scanner": b.scanner(t, config.Link{}).OpsAddr(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var idle []net.Conn
			for range 64 {
				var d net.Dialer
				c, err := d.DialContext(t.Context(), "tcp", addr)
				require.NoError(t, err)
				idle = append(idle, c)
				t.Cleanup(func() { c.Close() })
			}
			transport := &http.Transport{DisableKeepAlives: true}
			answered := make(chan error, 1)
			go func() {
				resp, err := (&http.Client{Transport: transport}).Get("http://" + addr + "/metrics")
				if err == nil {
					err = resp.Body.Close()
				}
				answered <- err
			}()
			select {
			case <-answered:
				assert.Fail(t, "a connection too many was served")
			case <-time.After(100 * time.Millisecond):
			}
			for _, c := range idle {
				require.NoError(t, c.Close())
			}
			require.NoError(t, <-answered)
		})
	}
}
