package app

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
)

// NewOpsServer makes the server that Prometheus reads.
func NewOpsServer(r *prometheus.Registry) *http.Server { return newOpsServer(r, nil) }
