package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/dev/steady"
)

// Options say what kind of server a Cluster is.
type Options struct {
	// Durable makes commits wait for the disk, as in production. Without it a
	// crash of the machine, but not of a process, may lose them.
	Durable bool

	// TCP makes it listen on a free port of 127.0.0.1 too, with passwords; the
	// port stays the same when it is started again.
	TCP bool

	// Settings are those of postgresql.conf, over the ones that tests need.
	Settings map[string]string
}

// Cluster is a Postgres server with its data. Its methods may be called from
// several goroutines; they wait for each other.
type Cluster struct {
	programs   string
	dir        string       // data, socket and log
	reserved   *steady.Port // the TCP port; nil for none
	options    Options
	credential *syscall.Credential // nil for the own user

	mu      sync.Mutex
	process *process // nil while it is stopped
}

// process is a running server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the first process has ended
	gone  chan struct{} // closed when the last one has

	// tie is held by a watchdog that ends the server and removes the folder when
	// it is closed, as the end of this process does.
	tie      io.WriteCloser
	watchdog *exec.Cmd
}

const (
	superuser = "postgres"

	// startTimeout is how long a server may take to be ready, recovery after a
	// crash included.
	startTimeout = 3 * time.Minute
	stopTimeout  = 3 * time.Minute
	interval     = 20 * time.Millisecond // between looks at something that has no signal

	// longestFolder leaves room in the 107 bytes of a socket's address.
	longestFolder = 60
)

// NewCluster makes a server's files; Start runs it. Close removes them, and so
// does the end of this process once the server has run.
func NewCluster(ctx context.Context, o Options) (_ *Cluster, err error) {
	folder, err := programs()
	if err != nil {
		return nil, err
	}
	credential, err := ordinaryUser()
	if err != nil {
		return nil, err
	}
	parent := os.TempDir()
	if len(parent) > longestFolder {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "pgtest-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{programs: folder, dir: dir, options: o, credential: credential}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if credential != nil {
		if err := os.Chown(dir, int(credential.Uid), int(credential.Gid)); err != nil {
			return nil, err
		}
	}
	if o.TCP {
		if c.reserved, err = steady.ReservePort(); err != nil {
			return nil, err
		}
	}
	initdb := c.command(ctx, filepath.Join(c.programs, "initdb"), "--pgdata", c.data(), "--username", superuser,
		"--encoding", "UTF8", "--no-locale",
		"--auth-local", "trust", "--auth-host", "scram-sha-256", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}

	return c, nil
}

// ordinaryUser is who runs the server, which refuses to run as root; nil for
// the own user.
func ordinaryUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(superuser)
	if err != nil {
		return nil, fmt.Errorf("as root the server runs as the user %q: %w", superuser, err)
	}
	uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(u.Gid, 10, 32)

	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(errUID, errGID)
}

// port is part of the socket's name, and the TCP port when the server has one.
func (c *Cluster) port() int {
	if c.reserved == nil {
		return 5432
	}

	return c.reserved.Number()
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }
func (c *Cluster) log() string  { return filepath.Join(c.dir, "log") }

func (c *Cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}

	// A group of its own, so that Ctrl-C in a terminal ends this process, and
	// only thereby the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.credential, Setpgid: true}

	return cmd
}

// watchdog waits for the end of its standard input, which comes with the end of
// this process, also by SIGKILL. Then it ends the server, which a test may have
// left stopped, and removes its files. With a line on the input it ends, and
// nothing else. Its descriptor 3 ends with the last of the server's processes,
// which may write files until then.
const watchdog = `read -r line && exit 0
kill -QUIT "$1" 2>/dev/null
kill -CONT "$1" 2>/dev/null
read -r line <&3
rm -rf "$2"`

// Start runs the server and waits until it accepts connections. Starting a
// running server does nothing.
func (c *Cluster) Start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil {
		select {
		case <-c.process.ended: // by itself
			if err := c.end(syscall.SIGQUIT); err != nil {
				return err
			}
		default:
			return nil
		}
	}

	return c.start(ctx)
}

func (c *Cluster) start(ctx context.Context) error {
	var args []string
	for name, value := range c.settings() {
		args = append(args, "-c", name+"="+value)
	}
	log, err := os.OpenFile(c.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own

	// The end of ctx must not end the server.
	ownTime := context.WithoutCancel(ctx)
	cmd := c.command(ownTime, filepath.Join(c.programs, "postgres"), append(args, "-D", c.data())...)
	cmd.Stdout, cmd.Stderr = log, log

	// Every process of the server has the one end of a pipe, and nobody else, so
	// that the other end tells when the last is gone.
	gone, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = alive.Close() }()
	cmd.ExtraFiles = []*os.File{alive}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, gone.Close())
	}
	p := &process{cmd: cmd, ended: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(p.ended)
	}()
	c.process = p
	p.watchdog = c.command(ownTime, "/bin/sh", "-c", watchdog, "sh", strconv.Itoa(cmd.Process.Pid), c.dir)
	p.watchdog.ExtraFiles = []*os.File{gone}
	if p.tie, err = p.watchdog.StdinPipe(); err == nil {
		err = p.watchdog.Start()
	}
	_ = alive.Close()
	go func() {
		_, _ = io.Copy(io.Discard, gone) // nothing comes but the end
		_ = gone.Close()
		close(p.gone)
	}()
	if err != nil {
		p.watchdog = nil

		return errors.Join(err, c.end(syscall.SIGQUIT))
	}
	if err := c.waitReady(ctx); err != nil {
		return errors.Join(err, c.end(syscall.SIGQUIT))
	}

	return nil
}

// settings are those of the command line, which win over all others.
func (c *Cluster) settings() map[string]string {
	onOff := map[bool]string{true: "on", false: "off"}[c.options.Durable]
	all := map[string]string{
		"port": strconv.Itoa(c.port()), "unix_socket_directories": c.dir, "listen_addresses": "",
		"fsync": onOff, "full_page_writes": onOff,
		// Tests that share a server are as many at once as there are processors, and
		// one may have several stores, of 20 connections each.
		"max_connections": "500", "shared_buffers": "64MB", "max_wal_size": "1GB",
		"log_line_prefix": "%m [%p] %u@%d ", "log_min_messages": "warning",
	}
	if c.options.TCP {
		all["listen_addresses"] = "127.0.0.1"
	}
	for name, value := range c.options.Settings {
		all[name] = value
	}

	return all
}

// waitReady returns when a connection was served.
func (c *Cluster) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := c.Exec(ctx, superuser, "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-c.process.ended:
			return fmt.Errorf("postgres ended at its start: %s", c.logTail())
		case <-ctx.Done():
			return fmt.Errorf("postgres is not ready: %w: %s", err, c.logTail())
		case <-time.After(interval):
		}
	}
}

// logTail is the end of the server's log, for errors.
func (c *Cluster) logTail() string {
	const most = 2_000
	text, err := os.ReadFile(c.log())
	if err != nil {
		return err.Error()
	}

	return string(bytes.TrimSpace(text[max(0, len(text)-most):]))
}

// Mode is how a server is stopped.
type Mode syscall.Signal

// How to stop a server. Fast breaks off transactions and saves everything;
// Immediate leaves recovery to the next start, as a crash does.
const (
	Fast      = Mode(syscall.SIGINT)
	Immediate = Mode(syscall.SIGQUIT)
)

// Stop ends the server; its data stays. Stopping a stopped server does nothing.
func (c *Cluster) Stop(m Mode) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.end(syscall.Signal(m))
}

// Kill ends the server's first process with SIGKILL. Its others notice and end,
// too, one after the other; none is left when Kill returns.
func (c *Cluster) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.end(syscall.SIGKILL)
}

func (c *Cluster) end(signal syscall.Signal) error {
	p := c.process
	if p == nil {
		return nil
	}
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}

	// A test may have left it stopped.
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}

	// Without the first process others answer for a while, and hold the memory
	// that the next start needs.
	late := time.After(stopTimeout)
	for _, end := range []chan struct{}{p.ended, p.gone} {
		select {
		case <-end:
		case <-late:
			return fmt.Errorf("postgres does not end: %s", c.logTail())
		}
	}
	c.process = nil
	if p.watchdog == nil {
		return nil
	}
	_, err := io.WriteString(p.tie, "done\n")

	return errors.Join(err, p.tie.Close(), p.watchdog.Wait())
}

// PID is the server's first process, 0 while there is none.
func (c *Cluster) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return 0
	}
	select {
	case <-c.process.ended: // by itself
		return 0
	default:
	}

	return c.process.cmd.Process.Pid
}

// Close ends the server and removes everything.
func (c *Cluster) Close() error {
	err := errors.Join(c.Stop(Immediate), os.RemoveAll(c.dir))
	if c.reserved != nil {
		err = errors.Join(err, c.reserved.Close())
	}

	return err
}

// Dir is the folder with everything of the server; its log is the file `log`.
func (c *Cluster) Dir() string { return c.dir }
