// Package rule is what a rule is: its fields, what makes one valid, how rules
// are read from a rules file, and which of them apply to a repository. It
// knows neither git, nor storage, nor transport.
package rule

import (
	"strings"
	"time"
)

// Severity says how bad it is to merge what a rule found. Lower is worse, so
// severities sort from the most severe to the least.
type Severity int

// The severities, most severe first. The zero value is not one of them.
const (
	Critical Severity = iota + 1
	High
	Medium
	Warning
	Low
	Info
)

// Severities are all of them, most severe first.
func Severities() []Severity { return []Severity{Critical, High, Medium, Warning, Low, Info} }

var severityWords = map[Severity]string{
	Critical: "critical", High: "high", Medium: "medium", Warning: "warning", Low: "low", Info: "info",
}

// String returns the word for s, or "" for no severity.
func (s Severity) String() string { return severityWords[s] }

// AtLeast reports whether s is as severe as t or more.
func (s Severity) AtLeast(t Severity) bool { return s <= t }

// ParseSeverity returns the severity with that word; ok is false for none.
func ParseSeverity(word string) (s Severity, ok bool) {
	for s, w := range severityWords {
		if w == word {
			return s, true
		}
	}
	return 0, false
}

// TypeRegex is the only type of rule so far: an RE2 regular expression.
const TypeRegex = "regex"

// Scope says where a custom rule applies.
type Scope string

// The scopes.
const (
	ScopeOrg  Scope = "org"  // every repository of the organization
	ScopeRepo Scope = "repo" // the repository in Rule.Repo
)

// Origin says which ruleset a rule comes from.
type Origin int

// The origins. The zero value is not one of them.
const (
	OriginDefault    Origin = iota + 1 // the default ruleset
	OriginCustom                       // the organization's rules, from the API
	OriginRepository                   // a repository's rules, from the API
	OriginRulesFile                    // a repository's rules file
)

// CategoryCustom is the category of a rule whose id has none.
const CategoryCustom = "custom"

// Names of the two rulesets that every organization has. A repository's
// ruleset has the name of the repository, and rulesets' ids are
// RulesetIDPrefix and the name.
const (
	RulesetDefault  = "default"
	RulesetCustom   = "custom"
	RulesetIDPrefix = "ruleset_"
)

// Rule is one check.
type Rule struct {
	ID         string // `name` or `category/name`, as it was given
	Type       string // TypeRegex
	Pattern    string
	Message    string
	Severity   Severity
	Scope      Scope
	Repo       string // `owner/name`, with ScopeRepo only
	Paths      Paths
	Multiline  bool
	Redact     bool // mask the matched text wherever it is stored or shown
	Cases      Cases
	References []string // where to read more
	Origin     Origin
	CreatedAt  time.Time // zero for default rules and those of a rules file
}

// Paths selects files by doublestar globs.
type Paths struct {
	Include []string // all files when empty
	Exclude []string
}

// Cases are texts that a rule must and must not match.
type Cases struct {
	Match   []string
	NoMatch []string
}

// FullID returns the id with its category, as findings carry it.
func (r Rule) FullID() string { return FullID(r.ID) }

// FullID returns id with its category: `no-print` is `custom/no-print`.
func FullID(id string) string {
	if strings.Contains(id, "/") {
		return id
	}
	return CategoryCustom + "/" + id
}

// Ruleset is a named group of rules.
type Ruleset struct {
	ID        string
	Name      string
	RuleCount int
	Scope     Scope
}
