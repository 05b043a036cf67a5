package rule

import (
	"errors"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
)

// maxRepositoryPart is the length, in bytes, of an owner and of a name.
const maxRepositoryPart = 100

var errRepository = errors.New("must be `<owner>/<repository>`, each of 1 to 100 letters, digits, " +
	"dots, hyphens and underscores, and neither `.` nor `..`")

// CheckRepository returns nil for a valid repository name, and otherwise an error whose
// text says what is allowed. It does not repeat the name.
func CheckRepository(name string) error {
	if _, _, ok := SplitRepository(name); !ok {
		return errRepository
	}
	return nil
}

// SplitRepository returns the two parts of a valid repository name; ok is false for any
// other text.
func SplitRepository(name string) (owner, base string, ok bool) {
	owner, base, found := strings.Cut(name, "/")
	if !found || !validRepositoryPart(owner) || !validRepositoryPart(base) {
		return "", "", false
	}
	return owner, base, true
}

func validRepositoryPart(s string) bool {
	if s == "" || len(s) > maxRepositoryPart || s == "." || s == ".." {
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

// RepositoryNotAllowed is the error for a repository that an organization may not use.
func RepositoryNotAllowed(org, name string) error {
	return errs.New(errs.PermissionDenied, errs.ReasonRepositoryNotAllowed,
		"Organization %s may not use repository %s; the server's configuration lists the repositories of each "+
			"organization.", org, name)
}
