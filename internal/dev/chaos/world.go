package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/program"
	"github.com/prwarden/prwarden/internal/dev/steady"
)

// organizations have repositories of their own.
func organizations() []string { return []string{"alpha", "beta", "gamma"} }

// world is a whole installation of prwarden on this machine, each part of which can be made to fail.
type world struct {
	*program.Installation // its database has no link before it
	s                     settings
	servers               []*server
	scanners              []*process
	cluster               *pgtest.Cluster   // nil for SQLite
	tokens                map[string]string // an API key of each organization
	logs                  *logs
	disk                  string // a folder that can be filled; "" for none

	links *toxiproxy.ApiServer
	ports []*steady.Port
}

// server is a `prwarden serve`.
type server struct {
	*process
	http     string             // HOST:PORT of its REST API
	database *toxiproxy.Proxy   // its way to Postgres; nil for SQLite
	scanners []*toxiproxy.Proxy // its ways to the scanners
}

const (
	// startTimeout bounds the start of all parts together.
	startTimeout = 5 * time.Minute
	databaseName = "prwarden"
)

// build makes a world and starts it. The caller closes it, also one that could not be finished.
func build(ctx context.Context, s settings) (*world, error) {
	w := &world{
		s: s, tokens: map[string]string{}, logs: &logs{completed: map[string]int{}},
		links: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	if s.fill > 0 {
		var err error
		if w.disk, err = mountDisk(filepath.Join(s.dir, "disk")); err != nil {
			return w, err
		}
	}
	if err := w.install(ctx); err != nil {
		return w, err
	}

	addresses, err := w.startScanners()
	if err != nil {
		return w, err
	}
	for i := range s.servers {
		server, err := w.newServer(i, addresses)
		if err != nil {
			return w, err
		}
		server.start()
		w.servers = append(w.servers, server)
	}
	return w, w.waitServing(ctx)
}

// install makes the database, the organizations and their keys.
func (w *world) install(ctx context.Context) (err error) {
	database := "sqlite:" + filepath.Join(w.s.dir, "prwarden.db")
	if w.s.sqlite && w.disk != "" {
		database = "sqlite:" + filepath.Join(w.disk, "prwarden.db")
	}
	if !w.s.sqlite {
		if w.cluster, err = pgtest.NewCluster(ctx, pgtest.Options{Durable: true, TCP: true}); err != nil {
			return err
		}
		if err := w.cluster.Start(ctx); err != nil {
			return err
		}
		if err := w.cluster.CreateDatabase(ctx, databaseName); err != nil {
			return err
		}
		database = w.cluster.TCPDSN(databaseName)
	}

	var all []program.Organization
	for _, org := range organizations() {
		all = append(all, program.Organization{
			Name: org, Repositories: org + "/*", URL: "file://" + w.s.dir + "/hosts/{repo}.git",
		})
	}
	if w.Installation, err = program.Install(ctx, w.s.binary, w.s.dir, database, all); err != nil {
		return err
	}
	for _, org := range organizations() {
		if w.tokens[org], err = w.Key(ctx, org); err != nil {
			return err
		}
	}
	if w.cluster != nil {
		err = w.cluster.Exec(ctx, databaseName, auditSQL)
	}
	return err
}

// startScanners starts the scanners and returns their addresses, which stay the same after a restart.
func (w *world) startScanners() (addresses []string, err error) {
	for i := range w.s.scanners {
		address, err := w.port()
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("scanner%d", i)
		cache := filepath.Join(w.s.dir, name, "cache")
		if i == 0 && w.disk != "" && !w.s.sqlite {
			cache = filepath.Join(w.disk, "cache")
		}
		p := w.process(name, "scanner", "--grpc-addr", address, "--cache-dir", cache)
		p.start()
		w.scanners, addresses = append(w.scanners, p), append(addresses, address)
	}
	return addresses, nil
}

// newServer makes a server with links to the database and to the scanners.
func (w *world) newServer(i int, scanners []string) (*server, error) {
	s := &server{}
	http, err1 := w.port()
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
	database := w.Database
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

	s.http = http
	s.process = w.process(fmt.Sprintf("server%d", i), "serve", "--http-addr", http, "--grpc-addr", grpc,
		"--scanner", strings.Join(linked, ","), "--scan-workers", fmt.Sprint(w.s.workers))
	s.Env = []string{"PRWARDEN_DATABASE=" + database}
	return s, nil
}

func (w *world) process(name string, args ...string) *process {
	return &process{name: name, Options: program.Options{
		Path: w.Binary, Args: append(args, "--config", w.Config(), "--ops-addr", "none"),
		Dir: filepath.Join(w.s.dir, name), Line: w.logs.take,
	}}
}

// port is a HOST:PORT that nobody else gets until the world ends.
func (w *world) port() (string, error) {
	port, err := steady.ReservePort()
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
	if w.disk != "" {
		all = append(all, syscall.Unmount(w.disk, syscall.MNT_DETACH))
	}
	for _, port := range w.ports {
		all = append(all, port.Close())
	}
	return errors.Join(all...)
}
