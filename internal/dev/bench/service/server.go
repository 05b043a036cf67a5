package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/process"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// database is a database that servers are measured on.
type database struct {
	name, title string
	url         string
	bare        string                        // for the bare program
	spent       func() (time.Duration, error) // processor time of its own processes
	close       func() error
	cluster     *pgtest.Cluster // nil for SQLite
}

// newDatabase makes an empty database, sqlite or postgres. Postgres is a
// cluster that syncs its commits, with Postgres' own settings except for what
// pgtest needs.
func (s *suite) newDatabase(ctx context.Context, name string) (_ *database, err error) {
	switch name {
	case "sqlite":
		dir, err := os.MkdirTemp(s.tmp, "sqlite-")
		if err != nil {
			return nil, err
		}
		url := "sqlite:" + filepath.Join(dir, "prwarden.db")
		return &database{
			name: name, title: "SQLite", url: url, bare: url,
			spent: func() (time.Duration, error) { return 0, nil }, close: func() error { return nil },
		}, nil
	case "postgres":
		c, err := pgtest.NewCluster(ctx, pgtest.Options{Durable: true})
		if err != nil {
			return nil, err
		}
		if err := errors.Join(c.Start(ctx), c.CreateDatabase(ctx, organization)); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return &database{
			name: name, title: "Postgres", cluster: c, close: c.Close,
			url: c.DSN(organization),
			// A role that row-level security doesn't hold, and parameters in the
			// same round trip as their query, as prwarden sends them.
			bare:  c.SuperuserDSN(organization) + "&binary_parameters=yes",
			spent: func() (time.Duration, error) { return process.FamilyTime(c.PID()) },
		}, nil
	}
	return nil, fmt.Errorf("-databases: there is no %q", name)
}

// program is the path of one of the programs.
func (s *suite) program(name string) string { return filepath.Join(s.bin, name) }

// serverOptions are what differs between servers.
type serverOptions struct {
	host string   // URL of the code host; one that nobody listens on when empty
	args []string // more of the command line
}

// startServer starts `prwarden serve` as an operator would: metrics on, the log
// in a file.
func (s *suite) startServer(ctx context.Context, name string, d *database, o serverOptions) (*process.Process, error) {
	if o.host == "" {
		o.host = "http://127.0.0.1:9/{repo}.git"
	}
	if err := s.writeConfig(d, o.host); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"serve", "--config", s.config(d),
		"--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0",
		"--cache-dir", filepath.Join(s.tmp, name+"-cache")}, o.args)
	return process.Start(ctx, name, filepath.Join(s.tmp, d.name+"-"+name+".log"), []string{"PRWARDEN_DATABASE=" + d.url}, s.program("prwarden"), args...)
}

// writeConfig writes the configuration file of servers and scanners.
func (s *suite) writeConfig(d *database, host string) error {
	return os.WriteFile(s.config(d), fmt.Appendf(nil, `organizations:
  - name: %s
    repositories: ["*/*"]
    host: {kind: git, url: %q}
`, organization, host), 0o600)
}

func (s *suite) config(d *database) string { return filepath.Join(s.tmp, d.name+".yaml") }

// unlimited is a rate limit that no benchmark reaches.
const unlimited = "1000000000"

// createKey makes an API key with a high rate limit and returns its token.
func (s *suite) createKey(ctx context.Context, d *database) (string, error) {
	return process.Output(ctx, []string{"PRWARDEN_DATABASE=" + d.url}, s.program("prwarden"), "keys", "create", "--config", s.config(d),
		"--org", organization, "--name", "bench", "--rate-limit", unlimited)
}

// median is the middle of what of says of samples, and 0 when there are none.
func median[T any](samples []T, of func(T) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	switch n := len(values); {
	case n == 0:
		return 0
	case n%2 == 1:
		return values[n/2]
	default:
		return (values[n/2-1] + values[n/2]) / 2
	}
}
