package git

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
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

// revision adds the name of a commit that whoever runs the command gave, in any
// form that git knows.
func (c *command) revision(name string) *command {
	if name == "" || name[0] == '-' || strings.ContainsRune(name, 0) {
		c.err = &RefError{Ref: name}
	}
	c.names = append(c.names, name+"^{commit}")
	return c
}

// Remote is where a repository is fetched from.
type Remote struct {
	URL      string // https, http or file, without credentials
	Username string // sent with Token
	Token    string // sent to the host of URL only; "" for none
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

// ref asks for a ref of the remote, to be stored under local if it is there. The
// asterisk makes a ref that is not there no error, and the server lists only refs
// that begin so instead of all.
func (c *command) ref(name, local string) *command {
	if name != "HEAD" && (!strings.HasPrefix(name, "refs/") || checkBranch(name) != nil) {
		c.err = fmt.Errorf("git: %q is no ref to fetch", name)
	}
	c.names = append(c.names, "+"+name+"*:"+local+"*")
	return c
}

// branch asks for a branch of the remote, which must be there, to be stored
// under local.
func (c *command) branch(name, local string) *command {
	if err := checkBranch(name); err != nil {
		c.err = err
	}
	c.names = append(c.names, "+refs/heads/"+name+":"+local)
	return c
}

// commit asks for a commit of the remote by its own name, to be stored under
// local.
func (c *command) commit(oid OID, local string) *command {
	c.oids(oid)
	last := len(c.names) - 1
	c.names[last] = "+" + c.names[last] + ":" + local
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

// scrub takes the secrets out of text.
func (c *command) scrub(text string) string {
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// OID is the name of an object: 40 lower-case hexadecimal digits.
type OID string

// oidSize is the length of an OID; the binary form is half of it.
const oidSize = 40

const (
	// noOID stands for "no object" in git's lists.
	noOID OID = "0000000000000000000000000000000000000000"
	// emptyTree is the tree without files, which git knows without storing it.
	emptyTree OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

// parseOID checks that s names an object.
func parseOID(s string) (OID, error) {
	if len(s) != oidSize || strings.Trim(s, "0123456789abcdef") != "" {
		return "", fmt.Errorf("git: %q is no object name", s)
	}
	return OID(s), nil
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
