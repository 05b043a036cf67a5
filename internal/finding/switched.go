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

// LeftOut says, a line each, what a repository excludes and which rules were switched
// off by whom.
func LeftOut(e Exclusions, list []SwitchedOff) (lines []string) {
	switch e.Files {
	case 0:
	case 1:
		lines = append(lines, "Excluded: 1 file by "+e.By+".")
	default:
		lines = append(lines, fmt.Sprintf("Excluded: %d files by %s.", e.Files, e.By))
	}
	for _, by := range []string{ByOrganization, ByRepository} {
		if text := switchedOffBy(by, list); text != "" {
			lines = append(lines, text)
		}
	}

	return lines
}

// maxNamed is how many rules a line names.
const maxNamed = 10

// switchedOffBy says in a line which rules one side switched off; "" for none.
func switchedOffBy(by string, list []SwitchedOff) string {
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
