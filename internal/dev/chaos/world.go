package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
	disk                  string            // a folder that can be filled; "" for none
	links                 *toxiproxy.ApiServer
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
		s: s, tokens: map[string]string{},
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
	for i := range serverCount {
		if s.sqlite && i > 0 {
			break // an SQLite database has one server
		}
		if err := w.startServer(i, addresses); err != nil {
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
	for i := range scannerCount {
		port, err := steady.ReservePort() // until this program ends
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("scanner%d", i)
		cache := filepath.Join(w.s.dir, name, "cache")
		if i == 0 && w.disk != "" && !w.s.sqlite {
			cache = filepath.Join(w.disk, "cache")
		}
		p := w.process(name, "scanner", "--grpc-addr", port.Addr(), "--cache-dir", cache)
		p.start()
		w.scanners, addresses = append(w.scanners, p), append(addresses, port.Addr())
	}

	return addresses, nil
}

// startServer starts a server with links to the database and to the scanners.
func (w *world) startServer(i int, scanners []string) error {
	port, err := steady.ReservePort() // until this program ends
	if err != nil {
		return err
	}
	s := &server{http: port.Addr()}
	var linked []string
	for _, address := range scanners {
		link, err := w.link(address)
		if err != nil {
			return err
		}
		s.scanners, linked = append(s.scanners, link), append(linked, link.Listen)
	}

	database := w.Database
	if w.cluster != nil {
		address, err := url.Parse(database)
		if err != nil {
			return err
		}
		if s.database, err = w.link(address.Host); err != nil {
			return err
		}
		database = strings.ReplaceAll(database, address.Host, s.database.Listen)
	}

	s.process = w.process(fmt.Sprintf("server%d", i), "serve", "--http-addr", s.http, "--grpc-addr", "127.0.0.1:0",
		"--scanner", strings.Join(linked, ","), "--scan-workers", fmt.Sprint(workerCount))
	s.Env = []string{"PRWARDEN_DATABASE=" + database}
	s.start()
	w.servers = append(w.servers, s)
	return nil
}

// link is a way to an address that can be broken.
func (w *world) link(address string) (*toxiproxy.Proxy, error) {
	link := toxiproxy.NewProxy(w.links, address, "127.0.0.1:0", address)
	return link, link.Start()
}

func (w *world) process(name string, args ...string) *process {
	return &process{name: name, Options: program.Options{
		Path: w.Binary, Args: append(args, "--config", w.Config(), "--ops-addr", "none"),
		Dir: filepath.Join(w.s.dir, name),
	}}
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

// close ends everything but the links, which end with this program. The logs stay.
func (w *world) close(ctx context.Context) error {
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
	name   string
	cancel context.CancelFunc
	done   chan struct{} // closed when there will be no other life

	mu   sync.Mutex
	life *program.Process // nil while nothing serves
}

// restartPause is between two lives of a process: its port may still be taken.
const restartPause = 50 * time.Millisecond

// start runs the program and keeps it running until stop.
func (p *process) start() {
	ctx, cancel := context.WithCancel(context.Background()) // stop ends it
	p.cancel, p.done = cancel, make(chan struct{})
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			if life, err := program.Start(ctx, p.Options); err == nil { // else its log says why
				p.set(life)
				<-life.Exited
				p.set(nil)
			}
			_ = pause(ctx, restartPause)
		}
	}()
}

func (p *process) set(life *program.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life = life
}

// waitServing waits until the process serves.
func (p *process) waitServing(ctx context.Context) error {
	for p.signal(0) == 0 {
		if pause(ctx, 20*time.Millisecond) != nil {
			return fmt.Errorf("%s does not serve: %w; its log is %s", p.name, ctx.Err(), p.LogFile())
		}
	}

	return nil
}

// signal sends a signal to the process and returns its id; 0 while nothing serves.
func (p *process) signal(s syscall.Signal) (pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life == nil || p.life.Signal(s) != nil {
		return 0
	}
	return p.life.PID()
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

// readLog finds lines that a server does not write in order, as a panic has such, and counts how often it said of each
// review that its scan ended complete. A life that could not begin ends with a sentence after the program's name.
func (p *process) readLog(completed map[string]int) (strange []string, err error) {
	text, err := os.ReadFile(p.LogFile())
	for line := range strings.Lines(string(text)) {
		if line != "\n" && !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "prwarden: ") {
			strange = append(strange, p.name+" wrote "+line)
		}
		var entry struct {
			Message  string `json:"msg"`
			ReviewID string `json:"review_id"`
			Status   any    `json:"status"` // of a scan a word, of a request a number
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "scan ended" && entry.Status == "complete" {
			completed[entry.ReviewID]++
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
