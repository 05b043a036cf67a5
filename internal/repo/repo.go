// Package repo is the name of a repository, `owner/name`, and what makes one
// valid.
package repo

import (
	"errors"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
)

// maxPart is the length, in bytes, of an owner and of a name.
const maxPart = 100

var errInvalid = errors.New("must be `<owner>/<repository>`, each of 1 to 100 letters, digits, dots, hyphens and underscores, and neither `.` nor `..`")

// Check returns nil for a valid repository name, and otherwise an error whose
// text says what is allowed. It does not repeat the name.
func Check(name string) error {
	if _, _, ok := Split(name); !ok {
		return errInvalid
	}
	return nil
}

// Split returns the two parts of a valid repository name; ok is false for any
// other text.
func Split(name string) (owner, base string, ok bool) {
	owner, base, found := strings.Cut(name, "/")
	if !found || !validPart(owner) || !validPart(base) {
		return "", "", false
	}
	return owner, base, true
}

func validPart(s string) bool {
	if s == "" || len(s) > maxPart || s == "." || s == ".." {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// NotAllowed is the error for a repository that an organization may not use.
func NotAllowed(org, name string) error {
	return errs.New(errs.PermissionDenied, errs.ReasonRepositoryNotAllowed,
		"Organization %s may not use repository %s; the server's configuration lists the repositories of each organization.", org, name)
}
