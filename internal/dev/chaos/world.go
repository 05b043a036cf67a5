package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/prwarden/prwarden/internal/dev/freeport"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// organizations have repositories of their own.
func organizations() []string { return []string{"alpha", "beta", "gamma"} }

// world is a whole installation of prwarden on this machine, each part of which can be made to fail.
type world struct {
	s        settings
	servers  []*server
	scanners []*process
	cluster  *pgtest.Cluster   // nil for SQLite
	database string            // where it is, without a link
	tokens   map[string]string // an API key of each organization
	logs     *logs
	disk     *disk // under the SQLite database or the cache of the first scanner; nil for none

	links *toxiproxy.ApiServer
	ports []*freeport.Port
}

// server is a `prwarden serve`.
type server struct {
	*process
	http     string             // HOST:PORT of its REST API
	database *toxiproxy.Proxy   // its way to Postgres; nil for SQLite
	scanners []*toxiproxy.Proxy // its ways to the scanners
}

// startTimeout bounds the start of all parts together.
const startTimeout = 5 * time.Minute

const databaseName = "prwarden"

// build makes a world and starts it. The caller closes it, also one that could not be finished.
func build(ctx context.Context, s settings) (*world, error) {
	w := &world{
		s: s, tokens: map[string]string{}, logs: &logs{completed: map[string]int{}},
		links: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	var err error
	if s.faults.fill > 0 {
		if w.disk, err = newDisk(filepath.Join(s.dir, "disk")); err != nil {
			return w, err
		}
	}
	if err := w.startDatabase(starting); err != nil {
		return w, err
	}
	if err := w.configure(starting); err != nil {
		return w, err
	}
	if err := w.start(starting); err != nil {
		return w, err
	}
	return w, w.waitServing(starting)
}

func (w *world) startDatabase(ctx context.Context) (err error) {
	if w.s.sqlite {
		dir := w.s.dir
		if w.disk != nil {
			dir = w.disk.dir
		}
		w.database = "sqlite:" + filepath.Join(dir, "prwarden.db")
		return nil
	}

	if w.cluster, err = pgtest.NewCluster(ctx, pgtest.Options{Durable: true, TCP: true}); err != nil {
		return err
	}
	if err := w.cluster.Start(ctx); err != nil {
		return err
	}
	w.database = w.cluster.TCPDSN(databaseName)
	return w.cluster.CreateDatabase(ctx, databaseName)
}

// configure makes the organizations and their keys, without a rate limit that would be reached.
func (w *world) configure(ctx context.Context) error {
	yaml := "organizations:\n"
	for _, org := range organizations() {
		yaml += fmt.Sprintf("  - name: %s\n    repositories: [%q]\n    host: {kind: git, url: %q}\n",
			org, org+"/*", "file://"+w.s.dir+"/hosts/{repo}.git")
	}
	if err := os.WriteFile(w.config(), []byte(yaml), 0o600); err != nil {
		return err
	}
	if _, err := w.command(ctx, "migrate"); err != nil {
		return err
	}

	for _, org := range organizations() {
		token, err := w.command(ctx, "keys", "create", "--org", org, "--name", "chaos", "--rate-limit", "1000000")
		if err != nil {
			return err
		}
		w.tokens[org] = token
	}
	if w.cluster == nil {
		return nil
	}
	return w.cluster.Exec(ctx, databaseName, auditSQL)
}

func (w *world) config() string { return filepath.Join(w.s.dir, "prwarden.yaml") }

// command runs prwarden beside the servers, on the database itself.
func (w *world) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.s.binary, append(args, "--config", w.config())...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.s.dir, "PRWARDEN_DATABASE=" + w.database}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("prwarden %s: %w: %s", args[0], err, said.String())
	}
	return strings.TrimSpace(string(out)), err
}

// start runs the scanners and servers. Each has the same ports after a restart.
func (w *world) start(ctx context.Context) error {
	var addresses []string
	for i := range w.s.scanners {
		address, err := w.port()
		if err != nil {
			return err
		}
		p := w.process(fmt.Sprintf("scanner%d", i), "scanner", "--grpc-addr", address)
		cache := filepath.Join(p.dir, "cache")
		if i == 0 && w.disk != nil && !w.s.sqlite {
			cache = filepath.Join(w.disk.dir, "cache")
		}
		p.args = append(p.args, "--cache-dir", cache)
		if err := p.start(w.s.binary); err != nil {
			return err
		}
		w.scanners, addresses = append(w.scanners, p), append(addresses, address)
	}

	for i := range w.s.servers {
		s, err := w.newServer(i, addresses)
		if err != nil {
			return err
		}
		if err := s.start(w.s.binary); err != nil {
			return err
		}
		w.servers = append(w.servers, s)
	}
	return ctx.Err()
}

func (w *world) newServer(i int, scanners []string) (*server, error) {
	s := &server{}
	var err1, err2 error
	s.http, err1 = w.port()
	grpc, err2 := w.port()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}

	var linked []string
	for _, address := range scanners {
		link, err := w.link(address)
		if err != nil {
			return nil, err
		}
		s.scanners, linked = append(s.scanners, link), append(linked, link.Listen)
	}
	database := w.database
	if w.cluster != nil {
		address, err := url.Parse(database)
		if err != nil {
			return nil, err
		}
		if s.database, err = w.link(address.Host); err != nil {
			return nil, err
		}
		database = strings.ReplaceAll(database, address.Host, s.database.Listen)
	}

	s.process = w.process(fmt.Sprintf("server%d", i), "serve", "--http-addr", s.http, "--grpc-addr", grpc,
		"--scanner", strings.Join(linked, ","), "--scan-workers", fmt.Sprint(w.s.workers))
	s.env = []string{"PRWARDEN_DATABASE=" + database}
	return s, nil
}

func (w *world) process(name string, args ...string) *process {
	args = append(args, "--config", w.config(), "--ops-addr", "none")
	return &process{name: name, dir: filepath.Join(w.s.dir, name), args: args, logs: w.logs}
}

// port is a HOST:PORT that nobody else gets until the world ends.
func (w *world) port() (string, error) {
	port, err := freeport.Reserve()
	if err != nil {
		return "", err
	}
	w.ports = append(w.ports, port)
	return port.Addr(), nil
}

// link is a way to an address that can be broken.
func (w *world) link(address string) (*toxiproxy.Proxy, error) {
	link := toxiproxy.NewProxy(w.links, address, "127.0.0.1:0", address)
	return link, link.Start()
}

// breakLink has a link reset its connections (reset_peer) or carry nothing (timeout).
func breakLink(link *toxiproxy.Proxy, toxic string) error {
	for _, stream := range []string{"upstream", "downstream"} {
		text := fmt.Sprintf(`{"type": %q, "name": %q, "stream": %q, "attributes": {"timeout": 0}}`, toxic, stream, stream)
		if _, err := link.Toxics.AddToxicJson(strings.NewReader(text)); err != nil {
			return err
		}
	}
	return nil
}

// processes are all servers and scanners.
func (w *world) processes() []*process {
	var all []*process
	for _, s := range w.servers {
		all = append(all, s.process)
	}
	return append(all, w.scanners...)
}

func (w *world) waitServing(ctx context.Context) error {
	for _, p := range w.processes() {
		if err := p.waitServing(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the servers and then the scanners, as an operator would.
func (w *world) stop(ctx context.Context) error {
	var all []error
	for _, p := range w.processes() {
		all = append(all, p.stop(ctx))
	}
	return errors.Join(all...)
}

// close ends everything. The logs stay.
func (w *world) close(ctx context.Context) error {
	all := []error{w.stop(ctx)}
	for _, s := range w.servers {
		for _, link := range s.scanners {
			link.Stop()
		}
		if s.database != nil {
			s.database.Stop()
		}
	}
	if w.cluster != nil {
		all = append(all, w.cluster.Close())
	}
	if w.disk != nil {
		all = append(all, w.disk.close())
	}
	for _, port := range w.ports {
		all = append(all, port.Close())
	}
	return errors.Join(all...)
}
