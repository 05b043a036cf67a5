package rule

import (
	"errors"
	"fmt"
	"strings"
)

// MaxID is the length of a rule's id, in characters.
const MaxID = 100

// CategoryMeta is the category of findings that are about a repository's rules
// file or its comments that suppress, and not about a rule. No rule can have it.
const CategoryMeta = "meta"

// CheckID says what is wrong with a rule's id, or nothing: it is `name` or
// `category/name`, each part matches `[a-z0-9][a-z0-9._-]*`, it has at most
// MaxID characters, and its category is not CategoryMeta. The error is a phrase
// that follows the name of a field.
func CheckID(id string) error {
	if id == "" {
		return errors.New("is required: `name` or `category/name`")
	}
	if len(id) > MaxID {
		return fmt.Errorf("has %d bytes; at most %d are allowed", len(id), MaxID)
	}
	parts := strings.Split(id, "/")
	if len(parts) > 2 {
		return errors.New("has more than one slash; it is `name` or `category/name`")
	}
	for _, part := range parts {
		if part == "" {
			return errors.New("has an empty part; it is `name` or `category/name`")
		}
		for i, c := range part {
			lead := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
			if !lead && (i == 0 || c != '.' && c != '_' && c != '-') {
				return fmt.Errorf(
					"must not have %q there: each part is lower-case letters and digits, and after the first also `.`, `_` and `-`",
					c,
				)
			}
		}
	}
	if len(parts) == 2 && parts[0] == CategoryMeta {
		return fmt.Errorf("must not have the category %q, which is prwarden's own", CategoryMeta)
	}
	return nil
}
