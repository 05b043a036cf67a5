package review

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
)

// shaLength is the length of a commit's name in hexadecimal.
const shaLength = 40

// maxBranch is the length of a branch's name, in bytes: what a file system gives
// a file's less a little, for git locks a branch by a file of a longer name.
const maxBranch = 250

// checkCommits says what is wrong with the commits of a request, field by
// field.
func checkCommits(c finding.Commits) []errs.FieldViolation {
	var bad []errs.FieldViolation
	add := func(field, format string, args ...any) {
		bad = append(bad, errs.FieldViolation{Field: field, Description: fmt.Sprintf(format, args...)})
	}
	if c.Head != "" && !isSHA(c.Head) {
		add("head_sha", "must be a commit in 40 lower-case hexadecimal digits")
	}
	if c.Base != "" && !isSHA(c.Base) {
		add("base_sha", "must be a commit in 40 lower-case hexadecimal digits")
	}
	if c.BaseRef != "" {
		if err := checkBranch(c.BaseRef); err != nil {
			add("base_ref", "%s", err)
		}
	}
	switch {
	case c.Head == "" && c.Base != "":
		add("base_sha", "goes with head_sha, which is missing")
	case c.Head != "" && c.Base == "" && c.BaseRef == "":
		add("head_sha", "needs base_sha or base_ref: what the commit is to be merged into")
	case c.Base != "" && c.BaseRef != "":
		add("base_ref", "can't be given together with base_sha; leave one of them out")
	}
	if c.Head == "" && c.BaseRef != "" {
		add("base_ref", "goes with head_sha, which is missing")
	}
	return bad
}

func isSHA(s string) bool {
	return len(s) == shaLength && strings.Trim(s, "0123456789abcdef") == ""
}

// checkBranch returns nil for the name of a branch as git takes it (git
// check-ref-format --branch), and otherwise what is wrong.
func checkBranch(name string) error {
	switch {
	case len(name) > maxBranch:
		return fmt.Errorf("must be the name of a branch with at most %d bytes, not %d", maxBranch, len(name))
	case strings.HasPrefix(name, "-"):
		return errors.New("must be the name of a branch, which can't begin with a hyphen")
	case name == "@" || name == "HEAD":
		return fmt.Errorf("must be the name of a branch, such as `main`, not `%s`", name)
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return fmt.Errorf("must be the name of a branch, which can't have %s in it", strconv.QuoteRune(rune(c)))
		}
	}
	for _, sequence := range []string{"..", "@{"} {
		if strings.Contains(name, sequence) {
			return fmt.Errorf("must be the name of a branch, which can't have `%s` in it", sequence)
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return errors.New("must be the name of a branch, which can't begin or end with a slash or have two together")
		case strings.HasPrefix(part, "."):
			return errors.New("must be the name of a branch, of which no part can begin with a dot")
		case strings.HasSuffix(part, ".lock"):
			return errors.New("must be the name of a branch, of which no part can end with `.lock`")
		}
	}
	if strings.HasSuffix(name, ".") {
		return errors.New("must be the name of a branch, which can't end with a dot")
	}
	return nil
}
