package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	servers, scanners     []*process
	cluster               *pgtest.Cluster   // nil for SQLite
	tokens                map[string]string // an API key of each organization
	disk                  string            // a folder that can be filled; "" for none
	proxies               *toxiproxy.ApiServer
	links                 []link

	away sync.Mutex // held while a server is frozen or cut off from the database: one at a time
	mu   sync.Mutex
	made map[string]int // faults, such as `kill server`
}

// link is a way to something that can be broken: of all servers to a scanner, or of one server to the database.
type link struct {
	*toxiproxy.Proxy
	on string // scanner or database
}

const (
	timeout      = 5 * time.Minute // of the start of all parts together, and of their end
	databaseName = "prwarden"
)

// newWorld is a world without anything in it.
func newWorld(s settings) *world {
	return &world{
		s: s, tokens: map[string]string{}, made: map[string]int{},
		proxies: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
	}
}

// build makes a world and starts it. The caller closes it, also one that could not be finished.
func build(ctx context.Context, s settings) (w *world, err error) {
	w = newWorld(s)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if *s.every["fill"] > 0 {
		if w.disk, err = mountDisk(filepath.Join(s.dir, "disk")); err != nil {
			return w, err
		}
	}
	if err := w.install(ctx); err != nil {
		return w, err
	}

	for i := range scannerCount {
		if err := w.startScanner(i); err != nil {
			return w, err
		}
	}
	var scanners []string
	for _, link := range w.links {
		scanners = append(scanners, link.Listen)
	}
	for i := range serverCount {
		if s.sqlite && i > 0 {
			break // an SQLite database has one server
		}
		if err := w.startServer(i, strings.Join(scanners, ",")); err != nil {
			return w, err
		}
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
		if database, err = w.startDatabase(ctx); err != nil {
			return err
		}
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

// startDatabase starts Postgres, and returns where its database is.
func (w *world) startDatabase(ctx context.Context) (database string, err error) {
	if w.cluster, err = pgtest.NewCluster(ctx, pgtest.Durable()); err != nil {
		return "", err
	}
	if err := w.cluster.Start(ctx); err != nil {
		return "", err
	}
	return w.cluster.TCPDSN(databaseName), w.cluster.CreateDatabase(ctx, databaseName)
}

// startScanner starts a scanner with a link to it.
func (w *world) startScanner(i int) error {
	p, err := w.process(fmt.Sprintf("scanner%d", i))
	if err != nil {
		return err
	}
	cache := filepath.Join(p.Dir, "cache")
	if i == 0 && w.disk != "" && !w.s.sqlite {
		cache = filepath.Join(w.disk, "cache")
	}

	p.Args = append([]string{"scanner", "--grpc-addr", p.address, "--cache-dir", cache}, p.Args...)
	p.start()
	w.scanners = append(w.scanners, p)
	_, err = w.link("scanner", p.address)
	return err
}

// startServer starts a server with a link to the database.
func (w *world) startServer(i int, scanners string) error {
	p, err := w.process(fmt.Sprintf("server%d", i))
	if err != nil {
		return err
	}
	database := w.Database
	if w.cluster != nil {
		address, err := url.Parse(database)
		if err != nil {
			return err
		}
		listen, err := w.link("database", address.Host)
		if err != nil {
			return err
		}
		database = strings.ReplaceAll(database, address.Host, listen)
	}

	p.Args = append([]string{
		"serve", "--http-addr", p.address, "--grpc-addr", "127.0.0.1:0", "--scanner", scanners,
		"--scan-workers", fmt.Sprint(workerCount),
	}, p.Args...)
	p.Env = []string{"PRWARDEN_DATABASE=" + database}
	p.start()
	w.servers = append(w.servers, p)
	return nil
}

// link makes a way to an address and returns where it begins.
func (w *world) link(on, address string) (listen string, err error) {
	proxy := toxiproxy.NewProxy(w.proxies, address, "127.0.0.1:0", address)
	w.links = append(w.links, link{proxy, on})
	err = proxy.Start()
	return proxy.Listen, err
}

// process makes a process with an address of its own, which stays the same after a restart.
func (w *world) process(name string) (*process, error) {
	port, err := steady.ReservePort() // until this program ends
	if err != nil {
		return nil, err
	}
	return &process{name: name, address: port.Addr(), Options: program.Options{
		Path: w.Binary, Args: []string{"--config", w.Config(), "--ops-addr", "none"}, Dir: filepath.Join(w.s.dir, name),
	}}, nil
}

// processes are all servers and scanners.
func (w *world) processes() []*process { return slices.Concat(w.servers, w.scanners) }

// waitServing waits until every process serves.
func (w *world) waitServing(ctx context.Context) error {
	for _, p := range w.processes() {
		for !p.signal(0) {
			if pause(ctx, 20*time.Millisecond) != nil {
				return fmt.Errorf("%s does not serve: %w; its log is %s", p.name, ctx.Err(), p.LogFile())
			}
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

// close ends everything but the links, which end with this program. The logs stay.
func (w *world) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout) // also when the run was interrupted
	defer cancel()
	err := w.stop(ctx)
	if w.cluster != nil {
		err = errors.Join(err, w.cluster.Close())
	}
	if w.disk != "" {
		err = errors.Join(err, syscall.Unmount(w.disk, syscall.MNT_DETACH))
	}
	return err
}

// process is a program that is started again at once whenever it ends, as a supervisor does.
type process struct {
	program.Options
	name    string
	address string // HOST:PORT of its REST API, or of a scanner
	cancel  context.CancelFunc
	done    chan struct{}                   // closed when there will be no other life
	life    atomic.Pointer[program.Process] // nil while nothing serves
}

// start runs the program and keeps it running until stop.
func (p *process) start() {
	ctx, cancel := context.WithCancel(context.Background()) // stop ends it
	p.cancel, p.done = cancel, make(chan struct{})
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			if life, err := program.Start(ctx, p.Options); err == nil { // else its log says why
				p.life.Store(life)
				<-life.Exited
				p.life.Store(nil)
			}
			_ = pause(ctx, 50*time.Millisecond) // its port may still be taken
		}
	}()
}

// signal sends a signal to the process; false while nothing serves.
func (p *process) signal(s syscall.Signal) bool {
	life := p.life.Load()
	return life != nil && life.Signal(s) == nil
}

// stop ends the process as an operator would.
func (p *process) stop(ctx context.Context) error {
	p.cancel()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.signal(syscall.SIGKILL)
		<-p.done
		return fmt.Errorf("%s did not stop: %w; its log is %s", p.name, ctx.Err(), p.LogFile())
	}
}

// readLog finds lines that a server does not write in order, as a panic has such. A life that could not begin ends with
// a sentence after the program's name.
func (p *process) readLog() (strange []string, err error) {
	text, err := os.ReadFile(p.LogFile())
	for line := range strings.Lines(string(text)) {
		if line != "\n" && !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "prwarden: ") {
			strange = append(strange, p.name+" wrote "+line)
		}
	}

	return strange, err
}

// pause waits; it returns an error when ctx ended first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
