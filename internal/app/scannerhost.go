package app

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/gitrepo"
	"github.com/prwarden/prwarden/internal/scan/host"
	"github.com/prwarden/prwarden/internal/transport/scannergrpc"
)

// Environment is the part of the process that configuration names: tokens and
// proxies.
type Environment []string

// Lookup returns a variable, "" when it is not set. Of several the last counts,
// as for os.Getenv.
func (e Environment) Lookup(name string) string {
	for _, pair := range slices.Backward(e) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// networkVariables are what git may see of the environment when it uses the
// network: how to get out, and whom to believe.
func networkVariables() []string {
	return []string{
		"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
	}
}

// scannerHost is a scanner with all that it needs, in a server and in a process
// of its own alike.
type scannerHost struct {
	repositories *gitrepo.Store
	service      *scannergrpc.Server
}

// newScannerHost makes the code hosts, the cache of repositories, the engine,
// and the gRPC service over them. What they tell Prometheus is registered with
// r.
func newScannerHost(c config.Config, env Environment, r *prometheus.Registry, log *slog.Logger) (*scannerHost, error) {
	limits := gitrepo.DefaultLimits()
	limits.CacheSize = int64(c.CacheSize)
	var network []string
	for _, name := range networkVariables() {
		if value := env.Lookup(name); value != "" {
			network = append(network, name+"="+value)
		}
	}
	repositories, err := gitrepo.New(gitrepo.Options{
		Dir: c.CacheDir, Limits: limits, Env: network, Prefetch: []string{rule.FilePath},
	})
	if err != nil {
		return nil, err
	}
	settings := make(map[string]host.Settings, len(c.Organizations))
	for _, o := range c.Organizations {
		settings[o.Name] = host.Settings{
			Kind: o.Host.Kind, URL: o.Host.URL, TokenEnv: o.Host.TokenEnv, Username: o.Host.Username,
			HeadRef: o.Host.HeadRef, MergeRef: o.Host.MergeRef,
		}
	}
	hosts, err := host.New(repositories, settings, env.Lookup)
	if err != nil {
		return nil, err
	}
	m := newScannerMetrics(r)
	scanner := scan.NewScanner(hosts, scan.Options{Observer: m})
	m.watchCaches(scanner, repositories, limits.CacheSize)
	service := scannergrpc.NewServer(scanner, scannergrpc.Options{Places: c.ScanWorkers}, log)
	m.watchPlaces(service)
	return &scannerHost{repositories: repositories, service: service}, nil
}
