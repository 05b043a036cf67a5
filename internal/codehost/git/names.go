package git

import (
	"fmt"
	"strings"
)

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
