// Package world is a whole installation of prwarden on this machine, made of
// the real programs: servers, scanners, a database, code hosts, and the network
// between them, each part of which can be made to fail.
package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
	"github.com/prwarden/prwarden/internal/dev/freeport"
)

// Kind is what kind of database a world has.
type Kind string

// The kinds of databases.
const (
	Postgres Kind = "postgres"
	SQLite   Kind = "sqlite" // has one server
)

// Options say what to build.
type Options struct {
	Dir           string // of everything; made when missing
	Binary        string // prwarden
	Database      Kind
	Servers       int
	Scanners      int
	Workers       int // scans at once of each server
	Organizations []string
	Hosts         *pulls.Set
	CacheDisk     int64 // bytes of the small disk under the first scanner's cache; 0 for none
	DatabaseDisk  int64 // bytes of the small disk under the SQLite database; 0 for none
}

// Server is a `prwarden serve`.
type Server struct {
	*Process
	HTTP, GRPC, Ops string  // where it listens, as HOST:PORT
	Database        *Link   // its way to Postgres; nil with SQLite
	Scanners        []*Link // its ways to the scanners
}

// Scanner is a `prwarden scanner`.
type Scanner struct {
	*Process
	Addr  string // HOST:PORT
	Ops   string // HOST:PORT of its metrics
	Cache string // directory
}

// World is an installation.
type World struct {
	Servers      []*Server
	Scanners     []*Scanner
	Database     Database
	Logs         *Logs
	Keys         map[string]string // an API key of each organization, without a rate that would be reached
	CacheDisk    *Disk             // under the cache of the first scanner; nil for none
	DatabaseDisk *Disk             // under the SQLite database; nil for none
	LeftOut      []string          // what of the options this user may not have, as sentences

	o      Options
	config string
	ports  ports
}

// startTimeout bounds the start of all parts together.
const startTimeout = 5 * time.Minute

// Build makes a world and starts it. Close ends it, also one that Build could
// not finish.
func Build(ctx context.Context, o Options) (_ *World, err error) {
	w := &World{Logs: newLogs(), Keys: make(map[string]string), o: o, config: filepath.Join(o.Dir, "prwarden.yaml")}
	defer func() {
		if err != nil {
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
			defer cancel()
			err = errors.Join(err, w.Close(closing))
		}
	}()
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	if err := w.makeDisks(); err != nil {
		return nil, err
	}
	if err := w.writeConfig(); err != nil {
		return nil, err
	}
	if w.Database, err = newDatabase(ctx, o, w.DatabaseDisk); err != nil {
		return nil, err
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if _, err := w.command(starting, "migrate"); err != nil {
		return nil, err
	}
	if err := w.Database.Watch(starting); err != nil {
		return nil, err
	}
	for _, org := range o.Organizations {
		out, err := w.command(starting, "keys", "create", "--org", org, "--name", "chaos", "--rate-limit", "1000000")
		if err != nil {
			return nil, err
		}
		w.Keys[org] = strings.TrimSpace(out)
	}
	if err := w.start(starting); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *World) makeDisks() error {
	small := func(name string, size int64) (*Disk, error) {
		if size == 0 {
			return nil, nil
		}
		d, err := newDisk(filepath.Join(w.o.Dir, name), size)
		if errors.Is(err, errNoDisk) {
			w.LeftOut = append(w.LeftOut, "No full "+name+": "+err.Error()+".")
			return nil, nil
		}
		return d, err
	}
	var err1, err2 error
	w.CacheDisk, err1 = small("cache-disk", w.o.CacheDisk)
	w.DatabaseDisk, err2 = small("database-disk", w.o.DatabaseDisk)
	return errors.Join(err1, err2)
}

func (w *World) writeConfig() error {
	var yaml strings.Builder
	yaml.WriteString("organizations:\n")
	for _, org := range w.o.Organizations {
		fmt.Fprintf(&yaml, "  - name: %s\n    repositories: [%q]\n    host: {kind: git, url: %q}\n", org, org+"/*", w.o.Hosts.URL())
	}
	return os.WriteFile(w.config, []byte(yaml.String()), 0o600)
}

// start runs the scanners and servers and waits until they serve.
func (w *World) start(ctx context.Context) error {
	for i := range w.o.Scanners {
		s, err := w.newScanner(i)
		if err != nil {
			return err
		}
		if err := startProcess(s.Process); err != nil {
			return err
		}
		w.Scanners = append(w.Scanners, s)
	}
	for i := range w.o.Servers {
		s, err := w.newServer(ctx, i)
		if s != nil {
			w.Servers = append(w.Servers, s)
		}
		if err != nil {
			return err
		}
		if err := startProcess(s.Process); err != nil {
			return err
		}
	}
	return w.WaitServing(ctx)
}

// WaitServing waits until every process says that it serves.
func (w *World) WaitServing(ctx context.Context) error {
	for _, p := range w.Processes() {
		if err := p.WaitServing(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) newScanner(i int) (*Scanner, error) {
	name := fmt.Sprintf("scanner%d", i)
	s := &Scanner{Cache: filepath.Join(w.o.Dir, name, "cache")}
	if i == 0 && w.CacheDisk != nil {
		s.Cache = filepath.Join(w.CacheDisk.Dir, "cache")
	}
	var err1, err2 error
	s.Addr, err1 = w.ports.free()
	s.Ops, err2 = w.ports.free()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	s.Process = w.process(name, "scanner", "--grpc-addr", s.Addr, "--ops-addr", s.Ops, "--config", w.config, "--cache-dir", s.Cache)
	return s, nil
}

func (w *World) newServer(ctx context.Context, i int) (*Server, error) {
	s := &Server{}
	for _, addr := range []*string{&s.HTTP, &s.GRPC, &s.Ops} {
		var err error
		if *addr, err = w.ports.free(); err != nil {
			return nil, err
		}
	}
	database := w.Database.DSN()
	if addr := w.Database.Addr(); addr != "" {
		link, err := w.link(ctx, addr)
		if err != nil {
			return nil, err
		}
		s.Database, database = link, strings.ReplaceAll(database, addr, link.Addr())
	}
	var scanners []string
	for _, scanner := range w.Scanners {
		link, err := w.link(ctx, scanner.Addr)
		if err != nil {
			return s, err
		}
		s.Scanners = append(s.Scanners, link)
		scanners = append(scanners, link.Addr())
	}
	s.Process = w.process(fmt.Sprintf("server%d", i), "serve", "--http-addr", s.HTTP, "--grpc-addr", s.GRPC, "--ops-addr", s.Ops,
		"--config", w.config, "--scanner", strings.Join(scanners, ","), "--scan-workers", fmt.Sprint(w.o.Workers))
	s.env = []string{"PRWARDEN_DATABASE=" + database}
	return s, nil
}

func (w *World) link(ctx context.Context, target string) (*Link, error) {
	addr, err := w.ports.free()
	if err != nil {
		return nil, err
	}
	return NewLink(ctx, addr, target)
}

func (w *World) process(name string, args ...string) *Process {
	return &Process{Name: name, Dir: filepath.Join(w.o.Dir, name), binary: w.o.Binary, args: args, logs: w.Logs}
}

// command runs prwarden beside the servers, on the database itself.
func (w *World) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.o.Binary, append(args, "--config", w.config)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.o.Dir, "PRWARDEN_DATABASE=" + w.Database.DSN()}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("prwarden %s: %w: %s", args[0], err, exit.Stderr)
	}
	return string(out), err
}

// Processes are the servers and scanners.
func (w *World) Processes() []*Process {
	var all []*Process
	for _, s := range w.Scanners {
		all = append(all, s.Process)
	}
	for _, s := range w.Servers {
		if s.Process != nil {
			all = append(all, s.Process)
		}
	}
	return all
}

// Links are all ways between parts.
func (w *World) Links() []*Link {
	var all []*Link
	for _, s := range w.Servers {
		if s.Database != nil {
			all = append(all, s.Database)
		}
		all = append(all, s.Scanners...)
	}
	return all
}

// Heal ends every fault: links pass, disks have room, nothing is frozen, and
// the database runs.
func (w *World) Heal(ctx context.Context) error {
	var all []error
	for _, l := range w.Links() {
		l.Mend(true)
	}
	for _, p := range w.Processes() {
		p.Thaw()
	}
	for _, d := range []*Disk{w.CacheDisk, w.DatabaseDisk} {
		if d != nil {
			all = append(all, d.Free())
		}
	}
	if w.Database != nil {
		all = append(all, w.Database.Start(ctx))
	}
	return errors.Join(all...)
}

// Stop ends the servers and scanners as an operator would, servers first.
func (w *World) Stop(ctx context.Context) error {
	var all []error
	for _, s := range w.Servers {
		if s.Process != nil {
			all = append(all, s.Stop(ctx))
		}
	}
	for _, s := range w.Scanners {
		all = append(all, s.Stop(ctx))
	}
	return errors.Join(all...)
}

// Close ends everything. What was written to Dir stays, but for disks and
// Postgres.
func (w *World) Close(ctx context.Context) error {
	all := []error{w.Stop(ctx)}
	for _, l := range w.Links() {
		all = append(all, l.Close())
	}
	if w.Database != nil {
		all = append(all, w.Database.Close())
	}
	for _, d := range []*Disk{w.CacheDisk, w.DatabaseDisk} {
		if d != nil {
			all = append(all, d.Close())
		}
	}
	return errors.Join(append(all, w.ports.close())...)
}

// ports are those of processes and links, which have them again after a restart:
// nobody else gets one until the world ends.
type ports struct{ held []*freeport.Port }

// free returns a HOST:PORT at which nobody listens.
func (p *ports) free() (string, error) {
	port, err := freeport.Reserve()
	if err != nil {
		return "", err
	}
	p.held = append(p.held, port)
	return port.Addr(), nil
}

func (p *ports) close() error {
	var all []error
	for _, port := range p.held {
		all = append(all, port.Close())
	}
	return errors.Join(all...)
}
