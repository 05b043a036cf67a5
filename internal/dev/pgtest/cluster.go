package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/dev/steady"
)

// Cluster is a Postgres server with its data. It listens on a socket, and on a port of 127.0.0.1 with passwords; both
// stay the same when it is started again.
type Cluster struct {
	programs   string
	dir        string // data, socket and log
	reserved   *steady.Port
	settings   map[string]string
	credential *syscall.Credential // nil for the own user
	process    *process            // nil while it is stopped
}

// process is a running server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the first process has ended
	gone  chan struct{} // closed when the last one has

	// tie is held by a watchdog that ends the server and removes the folder when it is closed, as the end of this process
	// does.
	tie      io.WriteCloser
	watchdog *exec.Cmd
}

const (
	superuser = "postgres"

	// timeout is how long a server may take to be ready, recovery after a crash included, and to end.
	timeout  = 3 * time.Minute
	interval = 20 * time.Millisecond // between looks at something that has no signal

	// longestFolder leaves room in the 107 bytes of a socket's address.
	longestFolder = 60
)

// Durable are settings by which commits wait for the disk, as in production. Without them a crash of the machine, but
// not of a process, may lose commits.
func Durable() map[string]string { return map[string]string{"fsync": "on", "full_page_writes": "on"} }

// NewCluster makes a server's files; Start runs it. settings are those of postgresql.conf, over the ones that tests
// need. Close removes the files, and so does the end of this process once the server has run.
func NewCluster(ctx context.Context, settings map[string]string) (_ *Cluster, err error) {
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
	port, err := steady.ReservePort()
	if err != nil {
		return nil, err
	}

	c := &Cluster{programs: folder, reserved: port, credential: credential}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.dir, err = os.MkdirTemp(parent, "pgtest-"); err != nil {
		return nil, err
	}
	if credential != nil {
		if err := os.Chown(c.dir, int(credential.Uid), int(credential.Gid)); err != nil {
			return nil, err
		}
	}

	c.settings = map[string]string{
		"port": strconv.Itoa(port.Number()), "unix_socket_directories": c.dir, "listen_addresses": "127.0.0.1",
		"fsync": "off", "full_page_writes": "off",
		// Tests that share a server are as many at once as there are processors, and one may have several stores, of 20
		// connections each.
		"max_connections": "500", "shared_buffers": "64MB", "max_wal_size": "1GB",
		"log_line_prefix": "%m [%p] %u@%d ", "log_min_messages": "warning",
	}
	maps.Copy(c.settings, settings)
	initdb := c.command(ctx, filepath.Join(c.programs, "initdb"), "--pgdata", c.data(), "--username", superuser,
		"--encoding", "UTF8", "--no-locale",
		"--auth-local", "trust", "--auth-host", "scram-sha-256", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	return c, nil
}

// ordinaryUser is who runs the server, which refuses to run as root; nil for the own user.
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

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }
func (c *Cluster) log() string  { return filepath.Join(c.dir, "log") }

func (c *Cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}

	// A group of its own, so that Ctrl-C in a terminal ends this process, and only thereby the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.credential, Setpgid: true}
	return cmd
}

// watchdog waits for the end of its standard input, which comes with the end of this process, also by SIGKILL. Then it
// ends the server, which a test may have left stopped, and removes its files. With a line on the input it ends, and
// nothing else. Its descriptor 3 ends with the last of the server's processes, which may write files until then.
const watchdog = `read -r line && exit 0
kill -QUIT "$1" 2>/dev/null
kill -CONT "$1" 2>/dev/null
read -r line <&3
rm -rf "$2"`

// Start runs the server and waits until it accepts connections. Starting a running server does nothing.
func (c *Cluster) Start(ctx context.Context) error {
	if c.PID() != 0 {
		return nil
	}
	if err := c.Stop(Immediate); err != nil { // what is left of one that ended by itself
		return err
	}
	err := c.run(context.WithoutCancel(ctx)) // the end of ctx must not end the server
	if err == nil {
		err = c.waitReady(ctx)
	}
	if err != nil {
		return errors.Join(err, c.Stop(Immediate))
	}
	return nil
}

// run starts the server and its watchdog.
func (c *Cluster) run(ctx context.Context) error {
	args := []string{"-D", c.data()}
	for name, value := range c.settings {
		args = append(args, "-c", name+"="+value)
	}
	log, err := os.OpenFile(c.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own

	// Every process of the server has the one end of a pipe, and nobody else, so that the other end tells when the last
	// is gone.
	gone, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = alive.Close() }()
	cmd := c.command(ctx, filepath.Join(c.programs, "postgres"), args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{alive}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, gone.Close())
	}

	p := &process{cmd: cmd, ended: make(chan struct{}), gone: make(chan struct{})}
	c.process = p
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(p.ended)
	}()
	go func() {
		_, _ = io.Copy(io.Discard, gone) // nothing comes but the end
		_ = gone.Close()
		close(p.gone)
	}()

	watchdog := c.command(ctx, "/bin/sh", "-c", watchdog, "sh", strconv.Itoa(cmd.Process.Pid), c.dir)
	watchdog.ExtraFiles = []*os.File{gone}
	if p.tie, err = watchdog.StdinPipe(); err != nil {
		return err
	}
	if err := watchdog.Start(); err != nil {
		return err
	}
	p.watchdog = watchdog
	return nil
}

// waitReady returns when a connection was served.
func (c *Cluster) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
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

// How to stop a server. Fast breaks off transactions and saves everything; Immediate leaves recovery to the next start,
// as a crash does. Kill ends the first process alone; the others notice.
const (
	Fast      = syscall.SIGINT
	Immediate = syscall.SIGQUIT
	Kill      = syscall.SIGKILL
)

// Stop ends all processes of the server; its data stays. Stopping a stopped server does nothing.
func (c *Cluster) Stop(signal syscall.Signal) error {
	p := c.process
	if p == nil {
		return nil
	}

	// An error says that it has ended. A test may have left it stopped.
	_ = p.cmd.Process.Signal(signal)
	_ = p.cmd.Process.Signal(syscall.SIGCONT)

	// Without the first process others answer for a while, and hold the memory that the next start needs.
	late := time.After(timeout)
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
	if c.process == nil {
		return 0
	}
	select {
	case <-c.process.ended: // by itself
		return 0
	default:
		return c.process.cmd.Process.Pid
	}
}

// Close ends the server and removes everything.
func (c *Cluster) Close() error {
	return errors.Join(c.Stop(Immediate), os.RemoveAll(c.dir), c.reserved.Close())
}

// Dir is the folder with everything of the server; its log is the file `log`.
func (c *Cluster) Dir() string { return c.dir }
