package git

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/background"
)

// word is an argument that this package wrote itself: constants convert to it,
// other strings only on purpose.
type word string

// command is one git command. It is put together from typed parts, so that
// nothing from outside becomes an option.
type command struct {
	verb    word
	options []word
	names   []string // after --end-of-options: checked object names and refspecs
	config  []setting
	scheme  string // the protocol that it may use; "" for none
	stdin   io.Reader
	secrets []string // never shown in errors
	trees   bool     // it compares trees, which has limits of its own
	guarded bool     // it goes through a tunnel, and by no other proxy
	err     error
}

type setting struct{ key, value string }

func newCommand(verb word, options ...word) *command {
	return &command{verb: verb, options: options}
}

// oids adds object names.
func (c *command) oids(names ...OID) *command {
	for _, name := range names {
		if _, err := parseOID(string(name)); err != nil {
			c.err = err
		}
		c.names = append(c.names, string(name))
	}
	return c
}

// Remote is where a repository is fetched from.
type Remote struct {
	URL      string // https, http or file, without credentials
	Username string // sent with Token
	Token    string // sent to the host of URL only; "" for none
	Guarded  bool   // its addresses are checked when they are dialed
}

// newFetch is a command that fetches from remote: commits and trees, and of file
// contents only those that are named. The remote is configured by variables for
// this one command, so no other command can fetch from it.
func newFetch(remote Remote, options ...word) *command {
	const name = "origin"
	c := newCommand("fetch", append([]word{
		"--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--refmap=",
	}, options...)...)

	u, err := url.Parse(remote.URL)
	if err != nil {
		c.err = fmt.Errorf("git: remote URL: %w", err)
		return c
	}
	c.scheme, c.names = u.Scheme, []string{name}
	c.set("remote."+name+".url", remote.URL)
	c.set("remote."+name+".promisor", "true")
	c.set("remote."+name+".partialCloneFilter", "blob:none")

	if remote.Token != "" && u.Scheme != "file" {
		basic := base64.StdEncoding.EncodeToString([]byte(remote.Username + ":" + remote.Token))
		c.set("http."+u.Scheme+"://"+u.Host+"/.extraHeader", "Authorization: Basic "+basic)
		c.secrets = []string{remote.Token, basic}
	}
	return c
}

// anyEnd makes a ref that is not there no error, and the server lists only refs
// that begin so instead of all.
const anyEnd = "*"

// refspec asks for a ref of the remote, or a commit by its own name, to be stored
// under local. Both names end in end.
func (c *command) refspec(name, local, end string) *command {
	_, err := parseOID(name)
	if err != nil && name != "HEAD" && (!strings.HasPrefix(name, "refs/") || checkBranch(name) != nil) {
		c.err = fmt.Errorf("git: %q is no ref to fetch", name)
	}
	c.names = append(c.names, "+"+name+end+":"+local+end)
	return c
}

func (c *command) set(key, value string) { c.config = append(c.config, setting{key, value}) }

// network tells whether c talks to a remote.
func (c *command) network() bool { return c.scheme != "" }

// args are the arguments after `git`.
func (c *command) args() []string {
	args := []string{string(c.verb)}
	for _, o := range c.options {
		args = append(args, string(o))
	}

	if len(c.names) > 0 {
		args = append(append(args, "--end-of-options"), c.names...)
	}
	return args
}

// env are the variables that c adds.
func (c *command) env() []string {
	allow := c.scheme
	if allow == "" {
		allow = "none"
	}

	env := []string{"GIT_ALLOW_PROTOCOL=" + allow, "GIT_CONFIG_COUNT=" + strconv.Itoa(len(c.config))}
	for i, s := range c.config {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return env
}

// environment is what c may see of variables for commands that use the network.
func (c *command) environment(variables []string) []string {
	if !c.guarded {
		return variables
	}

	return slices.DeleteFunc(slices.Clone(variables), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasSuffix(strings.ToLower(name), "_proxy")
	})
}

// scrub takes the secrets out of text.
func (c *command) scrub(text string) string {
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// checkBranch reports why name can't be that of a branch. git knows more rules;
// these keep a name from being a pattern, an option or more than one ref.
func checkBranch(name string) error {
	bad := func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) }
	if name == "" || len(name) > 250 || name[0] == '-' || strings.Contains(name, "..") ||
		strings.Contains(name, "@{") || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("git: %q can't be the name of a branch", name)
	}
	return nil
}

// git runs git commands.
type git struct {
	path   string // of the executable
	limits Limits
	env    []string // of every command
	remote []string // more variables for commands that use the network
	config []setting
	dir    string // where commands run
}

// in is git within the repository dir and the configuration file. Attributes are
// not read, because a bare repository without commits in HEAD has none.
func (g git) in(dir, config string) *git {
	g.dir, g.env = dir, append(slices.Clip(g.env),
		"LC_ALL=C", "TZ=UTC", "GIT_DIR="+dir, "GIT_DEFAULT_REF_FORMAT=files",
		"GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_OPTIONAL_LOCKS=0", "GIT_ADVICE=0",
	)
	return &g
}

// process is a running git command.
type process struct {
	stdin  io.WriteCloser
	stdout io.ReadCloser
	cmd    *exec.Cmd
	spec   *command
	stderr *tail
	cancel context.CancelFunc
	lower  *time.Timer // nil for none
	once   sync.Once
	err    error
}

// waitDelay is how long what a command says on stderr is waited for after its
// end. Only a child that outlives it, or a machine that is very busy, takes
// longer than an instant.
const waitDelay = 5 * time.Second

// start runs c. Canceling ctx kills it. The caller must call wait or kill.
func (g *git) start(ctx context.Context, c *command) (*process, error) {
	if c.err != nil {
		return nil, c.err
	}

	c.config = append(c.config, g.config...)
	argv := append([]string{g.path}, c.args()...)
	if c.network() {
		argv = held(argv)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &process{spec: c, stderr: &tail{}, cancel: cancel}
	p.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.cmd.Dir, p.cmd.Env = g.dir, slices.Concat(g.env, c.env())
	if c.network() {
		p.cmd.Env = append(p.cmd.Env, c.environment(g.remote)...)
	}
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = waitDelay
	isolate(p.cmd)

	if err := p.launch(g.limits); err != nil {
		p.kill()
		return nil, fmt.Errorf("git: start git %s: %w", c.verb, err)
	}
	return p, nil
}

// launch starts the process and sets its limits. A held one goes on after that.
func (p *process) launch(limits Limits) error {
	var err error
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := begin(p.cmd); err != nil {
		return err
	}

	if err := confine(p.cmd.Process.Pid, p.spec, limits); err != nil {
		return err
	}

	if limits.Moment > 0 {
		p.lower = time.AfterFunc(limits.Moment, func() { background.LowerGroup(p.cmd.Process.Pid) })
	}
	if p.spec.network() {
		_, _ = io.WriteString(p.stdin, "\n") // if it died, its end says why
	}
	if p.spec.stdin != nil {
		go func() {
			_, _ = io.Copy(p.stdin, p.spec.stdin) // git reports input that is cut off
			_ = p.stdin.Close()
		}()
	}

	return nil
}

// wait waits for the end, after stdout was read. A context error goes before
// what the kill made git say.
func (p *process) wait(ctx context.Context) error {
	p.once.Do(func() { p.err = p.end(ctx) })
	return p.err
}

func (p *process) end(ctx context.Context) error {
	defer p.cancel()
	if p.cmd.Process == nil {
		return nil
	}

	if p.lower != nil {
		p.lower.Stop() // the number may be another's after Wait
	}
	_ = p.stdin.Close() // it may be closed already
	err := p.cmd.Wait()
	if p.spec.network() {
		endGroup(p.cmd.Process)
	}

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
func (g *git) run(ctx context.Context, c *command) ([]byte, error) {
	if c.stdin == nil {
		c.stdin = bytes.NewReader(nil)
	}
	p, err := g.start(ctx, c)
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

	t.data = append(t.data, p...)
	t.data = t.data[max(0, len(t.data)-tailSize):]
	return len(p), nil
}

// String returns what was kept, on one line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()

	return strings.Join(strings.FieldsFunc(string(t.data), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
