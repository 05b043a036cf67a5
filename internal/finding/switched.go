package finding

import (
	"fmt"
	"strings"
)

// Exclusions says how many changed files a repository keeps from rules. Its JSON is
// that of the REST API.
type Exclusions struct {
	Files int    `json:"files"`
	By    string `json:"by"` // path of the rules file
}

// Text says so in a line; "" for none.
func (e Exclusions) Text() string {
	files := "files"
	switch e.Files {
	case 0:
		return ""
	case 1:
		files = "file"
	}

	return fmt.Sprintf("Excluded: %d %s by %s.", e.Files, files, e.By)
}

// Who switched a rule off, and how.
const (
	ByOrganization = "organization" // its policy
	ByRepository   = "repository"   // its rules file

	HowDisable  = "disable"  // the rule is off
	HowOverride = "override" // it is less severe
	HowExclude  = "exclude"  // it doesn't look at some files
)

// SwitchedOff is a rule that somebody switched off, or made weaker. Its JSON is that
// of the REST API.
type SwitchedOff struct {
	RuleID string `json:"rule_id"` // `category/name`
	By     string `json:"by"`      // ByOrganization or ByRepository
	How    string `json:"how"`     // one of the How constants
}

// maxNamed is how many rules a line names.
const maxNamed = 10

// SwitchedOffText says in a line which rules one side switched off; "" for none.
func SwitchedOffText(list []SwitchedOff, by string) string {
	var named []string
	n := 0
	for _, s := range list {
		if s.By != by {
			continue
		}
		if n++; n <= maxNamed {
			named = append(named, fmt.Sprintf("%s (%s)", s.RuleID, s.How))
		}
	}
	if n == 0 {
		return ""
	}

	text := "Switched off by the " + by + ": " + strings.Join(named, ", ")
	if n > maxNamed {
		text += fmt.Sprintf(", and %d more", n-maxNamed)
	}

	return text + "."
}
