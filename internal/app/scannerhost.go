package app

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
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
	repositories *git.Store
	service      *scanner.Server
}

// newScannerHost makes the code hosts, the cache of repositories, the engine,
// and the gRPC service over them. What they tell Prometheus is registered with
// r.
func newScannerHost(c config.Config, env Environment, r *prometheus.Registry, log *slog.Logger) (*scannerHost, error) {
	limits := git.DefaultLimits()
	limits.CacheSize = int64(c.CacheSize)
	var network []string
	for _, name := range networkVariables() {
		if value := env.Lookup(name); value != "" {
			network = append(network, name+"="+value)
		}
	}
	repositories, err := git.New(git.Options{
		Dir: c.CacheDir, Limits: limits, Env: network, Prefetch: []string{rule.FilePath},
	})
	if err != nil {
		return nil, err
	}
	token := func(name string) (string, error) {
		if err := c.CheckTokenEnv(name); err != nil {
			return "", err
		}

		if value := env.Lookup(name); value != "" {
			return value, nil
		}

		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	for _, o := range c.Organizations {
		if name := o.Host.TokenEnv; name != "" {
			if _, err := token(name); err != nil {
				return nil, fmt.Errorf("organization %s: host: token_env: %w", o.Name, err)
			}
		}
	}
	hosts := codehost.New(repositories, token)
	m := newScannerMetrics(r)
	scans := scan.NewScanner(hosts, scan.Options{Observer: m})
	m.watchCaches(scans, repositories, limits.CacheSize)
	service := scanner.NewServer(scans, c.ScanWorkers, log)
	m.watchSlots(service)
	return &scannerHost{repositories: repositories, service: service}, nil
}
