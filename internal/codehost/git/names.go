package git

import (
	"fmt"
	"strings"
)

// OID is the name of an object: 40 lower-case hexadecimal digits.
type OID string

// oidSize is the length of an OID; the binary form is half of it.
const oidSize = 40

// noOID stands for "no object" in git's lists.
const noOID OID = "0000000000000000000000000000000000000000"

// parseOID checks that s names an object.
func parseOID(s string) (OID, error) {
	if len(s) != oidSize {
		return "", fmt.Errorf("gitrepo: %q is no object name", s)
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", fmt.Errorf("gitrepo: %q is no object name", s)
		}
	}
	return OID(s), nil
}

// ParseOID returns the object that s names with 40 hexadecimal digits.
func ParseOID(s string) (OID, error) { return parseOID(strings.ToLower(s)) }

// CheckBranch reports why name can't be that of a branch, by the rules of
// git-check-ref-format for `refs/heads/<name>`, and for what begins with a dash.
func CheckBranch(name string) error {
	bad := func(why string) error { return fmt.Errorf("gitrepo: branch %q %s", name, why) }
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

// CheckRef reports why name can't be fetched. It is stricter than
// git-check-ref-format: `HEAD` or a name under `refs/` of letters, digits and
// `._-/+@#=`, no component of which begins with a dot or ends with `.lock`.
func CheckRef(name string) error {
	if name == "HEAD" {
		return nil
	}
	if !strings.HasPrefix(name, "refs/") || len(name) > 250 {
		return fmt.Errorf("gitrepo: ref %q must begin with refs/ and have at most 250 characters", name)
	}
	if strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return fmt.Errorf("gitrepo: ref %q contains .. or @{", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock") {
			return fmt.Errorf("gitrepo: ref %q has the invalid component %q", name, part)
		}
		for i := range len(part) {
			if !refByte(part[i]) {
				return fmt.Errorf("gitrepo: ref %q contains %q", name, part[i])
			}
		}
	}
	return nil
}

func refByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._-+@#=", c) >= 0
}
