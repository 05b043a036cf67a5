package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// databases makes empty databases of one kind, sqlite or postgres.
type databases struct {
	kind    string
	dir     string
	cluster *pgtest.Cluster // nil for SQLite
}

// newDatabases starts a Postgres cluster that syncs its commits, where one is needed. The caller closes it.
func newDatabases(ctx context.Context, kind, dir string) (d *databases, err error) {
	d = &databases{kind: kind, dir: dir}
	if kind == "sqlite" {
		return d, nil
	}
	if kind != "postgres" {
		return nil, fmt.Errorf("there is no database %q, only sqlite and postgres", kind)
	}

	if d.cluster, err = pgtest.NewCluster(ctx, pgtest.Options{Durable: true}); err != nil {
		return nil, err
	}
	if err := d.cluster.Start(ctx); err != nil {
		return nil, errors.Join(err, d.cluster.Close())
	}
	return d, nil
}

// create makes an empty database. all is an address of it that row-level security does not hold.
func (d *databases) create(ctx context.Context, name string) (url, all string, err error) {
	if d.cluster == nil {
		url = "sqlite:" + filepath.Join(d.dir, name+".db")
		return url, url, nil
	}
	err = d.cluster.CreateDatabase(ctx, name)
	return d.cluster.DSN(name), d.cluster.SuperuserDSN(name), err
}

// spent is the processor time of the database's own processes. SQLite has none.
func (d *databases) spent() time.Duration {
	if d.cluster == nil {
		return 0
	}
	return familyTime(d.cluster.PID())
}

func (d *databases) close() error {
	if d.cluster == nil {
		return nil
	}
	return d.cluster.Close()
}

// installation is a build of prwarden with a database, organizations and keys.
type installation struct {
	build
	dir    string
	url    string // of the database
	all    string // the same, past row-level security
	tokens []string

	*process // the server, while it runs
}

// unlimited is a rate limit that no benchmark reaches.
const unlimited = "1000000000"

// nobody is the address of scanners that do not exist: reviews wait, and scans take nothing of the machine.
const nobody = "127.0.0.1:9"

// install prepares a server that finds repositories below the folder of the databases. Each organization may have
// 10,000 reviews waiting, so that many creations need many organizations.
func install(ctx context.Context, b build, d *databases, organizations int) (*installation, error) {
	i := &installation{build: b, dir: filepath.Join(d.dir, b.name)}
	if err := os.Mkdir(i.dir, 0o700); err != nil {
		return nil, err
	}

	var err error
	if i.url, i.all, err = d.create(ctx, b.name); err != nil {
		return nil, err
	}

	config := "organizations:\n"
	for n := range organizations {
		host := fmt.Sprintf("{kind: git, url: \"file://%s/{repo}.git\"}", d.dir)
		config += fmt.Sprintf("  - {name: org%d, repositories: [\"*/*\"], host: %s}\n", n, host)
	}
	if err := os.WriteFile(i.config(), []byte(config), 0o600); err != nil {
		return nil, err
	}
	if _, err := i.command(ctx, "migrate"); err != nil {
		return nil, err
	}

	for n := range organizations {
		token, err := i.command(ctx, "keys", "create", "--org", fmt.Sprintf("org%d", n), "--name", "bench",
			"--rate-limit", unlimited)
		if err != nil {
			return nil, err
		}
		i.tokens = append(i.tokens, token)
	}
	return i, nil
}

func (i *installation) config() string { return filepath.Join(i.dir, "prwarden.yaml") }

func (i *installation) environment() []string { return []string{"PRWARDEN_DATABASE=" + i.url} }

func (i *installation) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, i.path, append(args, "--config", i.config())...)
	cmd.Env = append(os.Environ(), i.environment()...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", i.path, args[0], err, said.String())
	}
	return strings.TrimSpace(string(out)), err
}

// serve starts the server as an operator would: with its metrics, and with its log in a file.
func (i *installation) serve(ctx context.Context, args ...string) (err error) {
	args = append([]string{
		"serve", "--config", i.config(), "--cache-dir", filepath.Join(i.dir, "cache"),
		"--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0",
	}, args...)
	i.process, err = startProcess(ctx, filepath.Join(i.dir, "log"), i.environment(), i.path, args...)
	return err
}
