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
	chdir   string   // where it runs; the repository when empty
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

// not adds an object name whose history is left out.
func (c *command) not(name OID) *command {
	c.oids(name)
	last := len(c.names) - 1
	c.names[last] = "^" + c.names[last]
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

// newFetch is a command that fetches from remote. With partial, it asks for no
// file contents but those that are named.
func newFetch(remote Remote, partial bool, options ...word) *command {
	c := newCommand("fetch", append([]word{
		"--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--refmap=",
	}, options...)...)
	return c.from(remote, partial)
}

// remoteName is what the remote is called inside a command. It is configured
// by variables for that one command, so no other command can fetch from it.
const remoteName = "origin"

// from makes c a command that talks to remote, with or without the contents of
// files.
func (c *command) from(remote Remote, partial bool) *command {
	u, err := url.Parse(remote.URL)
	if err != nil {
		c.err = fmt.Errorf("git: remote URL: %w", err)
		return c
	}
	c.scheme = u.Scheme
	c.set("remote."+remoteName+".url", remote.URL)

	if partial {
		c.set("remote."+remoteName+".promisor", "true")
		c.set("remote."+remoteName+".partialCloneFilter", "blob:none")
		c.set("fetch.fsckObjects", "false") // see the package comment
		c.set("transfer.fsckObjects", "false")
	}

	if remote.Token != "" && u.Scheme != "file" {
		basic := base64.StdEncoding.EncodeToString([]byte(remote.Username + ":" + remote.Token))
		c.set("http."+u.Scheme+"://"+u.Host+"/.extraHeader", "Authorization: Basic "+basic)
		c.secrets = append(c.secrets, remote.Token, basic)
	}

	c.names = append(c.names, remoteName)
	return c
}

// The refs of the cache. Those of the last scan that named commits are kept,
// because the next fetch tells the server what is here; more would add up.
const (
	incomingName = "refs/prwarden/in/"
	headName     = "refs/prwarden/commits/head"
	baseName     = "refs/prwarden/commits/base"
	branchesName = "refs/prwarden/heads/"
)

// incoming is where the i-th ref of a request is stored.
func incoming(i int) string { return incomingName + strconv.Itoa(i) + "/ref" }

// refs asks for refs of the remote, each to be stored under incoming(i) if it
// is there. The asterisk makes a ref that is not there no error, and the server
// lists only refs that begin so instead of all.
func (c *command) refs(names ...string) *command {
	for i, name := range names {
		if err := CheckRef(name); err != nil {
			c.err = err
		}
		c.names = append(c.names, "+"+name+"*:"+incoming(i)+"*")
	}
	return c
}

// branch asks for a branch of the remote, which must be there, to be stored
// under name.
func (c *command) branch(branch, name string) *command {
	if err := CheckBranch(branch); err != nil {
		c.err = err
	}
	c.names = append(c.names, "+refs/heads/"+branch+":"+name)
	return c
}

// commit asks for a commit of the remote by its own name, to be stored under
// name.
func (c *command) commit(oid OID, name string) *command {
	if _, err := parseOID(string(oid)); err != nil {
		c.err = err
	}
	c.names = append(c.names, "+"+string(oid)+":"+name)
	return c
}

// branches asks for all branches of the remote.
func (c *command) branches() *command {
	c.names = append(c.names, "+refs/heads/*:"+branchesName+"*")
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
	valid := len(s) == oidSize
	for i := range len(s) {
		c := s[i]
		valid = valid && (c >= '0' && c <= '9' || c >= 'a' && c <= 'f')
	}

	if !valid {
		return "", fmt.Errorf("git: %q is no object name", s)
	}
	return OID(s), nil
}

// ParseOID returns the object that s names with 40 hexadecimal digits.
func ParseOID(s string) (OID, error) { return parseOID(strings.ToLower(s)) }

// CheckBranch reports why name can't be that of a branch, by the rules of
// git-check-ref-format for `refs/heads/<name>`, and for what begins with a dash.
func CheckBranch(name string) error {
	bad := func(why string) error { return fmt.Errorf("git: branch %q %s", name, why) }

	switch {
	case name == "" || len(name) > 250:
		return bad("must have 1 to 250 bytes")
	case name == "@" || name[0] == '-':
		return bad("must not be @ nor begin with a dash")
	case strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, "."):
		return bad("must not have .. or @{ in it, nor a dot at its end")
	}

	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return bad("has a part between slashes that is empty, begins with a dot or ends in .lock")
		}
	}

	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return bad(fmt.Sprintf("must not have %q in it", c))
		}
	}
	return nil
}

// CheckRef reports why name can't be fetched: it must be `HEAD`, or begin with
// `refs/` and be well formed.
func CheckRef(name string) error {
	if name == "HEAD" {
		return nil
	}
	if !strings.HasPrefix(name, "refs/") {
		return fmt.Errorf("git: ref %q must begin with refs/", name)
	}
	return CheckBranch(name)
}
