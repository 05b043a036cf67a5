package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// git runs git commands.
type git struct {
	path   string // of the executable
	config string // the global configuration file
	limits Limits
	extra  []string // variables for commands that use the network
	// local is the environment for commands in a local repository, whose
	// configuration is in force; nil for the cache's.
	local []string
}

// gitError is a git command that did not end well.
type gitError struct {
	verb    word
	network bool
	code    int
	signal  syscall.Signal
	stderr  string // its last part, without secrets
}

// Error is for the log.
func (e *gitError) Error() string {
	how := fmt.Sprintf("exit status %d", e.code)
	if e.signal != 0 {
		how = e.signal.String()
	}
	return fmt.Sprintf("git %s: %s: %s", e.verb, how, e.stderr)
}

// process is a running git command.
type process struct {
	stdin  io.WriteCloser
	stdout io.ReadCloser
	cmd    *exec.Cmd
	spec   *command
	stderr *tail
	guard  *os.File // closing it ends the guard
	cancel context.CancelFunc
	once   sync.Once
	err    error
}

// waitDelay is how long what a command says on stderr is waited for after its
// end. Only a child that outlives it, or a machine that is very busy, takes
// longer than an instant.
const waitDelay = 5 * time.Second

// start runs c in the repository dir. Canceling ctx kills it. The caller must
// call wait or kill.
func (g *git) start(ctx context.Context, dir string, c *command) (*process, error) {
	if c.err != nil {
		return nil, c.err
	}

	argv := append([]string{g.path}, c.args()...)
	if c.network() {
		argv = guarded(argv)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &process{spec: c, stderr: &tail{}, cancel: cancel}
	p.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.cmd.Dir = dir
	if c.chdir != "" {
		p.cmd.Dir = c.chdir
	}
	p.cmd.Env = g.env(dir, c)
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = waitDelay
	isolate(p.cmd)

	err := p.connect()
	if err == nil {
		err = p.cmd.Start()
	}
	if p.cmd.ExtraFiles != nil {
		closeFile(p.cmd.ExtraFiles[0]) // the command has it now
	}
	if err != nil {
		cancel()
		closeFile(p.guard)
		return nil, fmt.Errorf("git: start git %s: %w", c.verb, err)
	}

	err = confine(p.cmd.Process.Pid, c, g.limits)
	if err == nil && p.guard != nil {
		_, err = p.guard.WriteString("\n") // the command starts only now
	}
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("git: start git %s: %w", c.verb, err)
	}
	return p, nil
}

// connect makes the pipes to the process.
func (p *process) connect() error {
	if p.spec.network() {
		read, write, err := os.Pipe()
		if err != nil {
			return err
		}
		p.guard = write
		p.cmd.ExtraFiles = []*os.File{read}
	}

	var err error
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return err
	}
	if p.spec.stdin != nil {
		p.cmd.Stdin = p.spec.stdin
		return nil
	}
	p.stdin, err = p.cmd.StdinPipe()
	return err
}

// closeFile closes a file that was not written to, or whose loss harms nothing.
func closeFile(f *os.File) { _ = f.Close() }

// wait waits for the end, after stdout was read. A context error goes before
// what the kill made git say.
func (p *process) wait(ctx context.Context) error {
	p.once.Do(func() { p.err = p.end(ctx) })
	return p.err
}

func (p *process) end(ctx context.Context) error {
	if p.stdin != nil {
		_ = p.stdin.Close() // it may be closed already
	}
	err := p.cmd.Wait()
	if p.guard != nil {
		endGroup(p.cmd.Process)
		closeFile(p.guard)
	}
	p.cancel()

	if err == nil || errors.Is(err, exec.ErrWaitDelay) { // it ended well, and stdout was read
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	state := p.cmd.ProcessState
	if state == nil || state.Success() { // the pipes, not the command
		return fmt.Errorf("git: git %s: %w", p.spec.verb, err)
	}
	return &gitError{
		verb: p.spec.verb, network: p.spec.network(), code: state.ExitCode(),
		signal: killedBy(state), stderr: p.spec.scrub(p.stderr.String()),
	}
}

// kill ends the process now.
func (p *process) kill() {
	p.cancel()
	_ = p.wait(context.Background())
}

// maxOutput bounds what is read of a command's output, in bytes.
const maxOutput = 64 << 20

var errOutput = errors.New("git: git printed more than is allowed")

// run runs c to its end and returns what it printed.
func (g *git) run(ctx context.Context, dir string, c *command) ([]byte, error) {
	if c.stdin == nil {
		c.stdin = bytes.NewReader(nil)
	}
	p, err := g.start(ctx, dir, c)
	if err != nil {
		return nil, err
	}

	out, err := io.ReadAll(io.LimitReader(p.stdout, maxOutput+1))
	if err == nil && len(out) <= maxOutput {
		return out, p.wait(ctx)
	}
	p.kill()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, errors.Join(err, errOutput)
}

// env is the whole environment of c. Attributes are read from the empty tree;
// git before 2.41 doesn't know that variable, and reads none in a bare
// repository.
func (g *git) env(dir string, c *command) []string {
	if g.local != nil {
		return append(slices.Clip(g.local), c.env()...)
	}

	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/nonexistent", "LC_ALL=C", "TZ=UTC",
		"GIT_DIR=" + dir, "GIT_DEFAULT_REF_FORMAT=files",
		"GIT_CONFIG_GLOBAL=" + g.config, "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_ATTR_NOSYSTEM=1", "GIT_ATTR_SOURCE=" + string(emptyTree),
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_OPTIONAL_LOCKS=0", "GIT_ADVICE=0",
	}
	if c.network() {
		env = append(env, g.extra...)
	}
	return append(env, c.env()...)
}

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailSize = 8 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-tailSize):]...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

// String returns what was kept, on one line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.FieldsFunc(string(t.data), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
