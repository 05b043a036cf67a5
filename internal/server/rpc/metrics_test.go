package rpc_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/servertest"
)

// handled is how many calls the server's metrics say were handled with a code.
func handled(t *testing.T, b *servertest.Bundle, code string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	require.NoError(t, registry.Register(b.Metrics))
	families, err := registry.Gather()
	require.NoError(t, err)
	sum := 0.0
	for _, f := range families {
		if f.GetName() != "grpc_server_handled_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "grpc_code" && l.GetValue() == code {
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}
