// Package rule is what a rule is: its fields, what makes one valid, how rules
// are read from a rules file, and which of them apply to a repository. It
// knows neither git, nor storage, nor transport.
package rule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/structure"
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

var severityWords = [...]string{"", "critical", "high", "medium", "warning", "low", "info"}

// Severities are all of them, most severe first.
func Severities() []Severity { return []Severity{Critical, High, Medium, Warning, Low, Info} }

// SeverityList is the severity words, most severe first, for messages.
func SeverityList() string { return strings.Join(severityWords[Critical:], ", ") }

// String returns the word for s, or "" for no severity.
func (s Severity) String() string {
	if s < Critical || s > Info {
		return ""
	}
	return severityWords[s]
}

// MarshalText writes the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a word. One that is not known, of a later server, counts as
// the worst.
func (s *Severity) UnmarshalText(word []byte) error {
	known, ok := ParseSeverity(string(word))
	if *s = known; !ok {
		*s = Critical
	}
	return nil
}

// AtLeast reports whether s is as severe as t or more.
func (s Severity) AtLeast(t Severity) bool { return s <= t }

// ParseSeverity returns the severity with that word; ok is false for none.
func ParseSeverity(word string) (s Severity, ok bool) {
	i := slices.Index(severityWords[:], word)
	return Severity(max(i, 0)), i > 0
}

// Scope says where a custom rule applies.
type Scope string

// The scopes.
const (
	ScopeOrg  Scope = "org"  // every repository of the organization
	ScopeRepo Scope = "repo" // the repository in Rule.Repo
)

// Mode says what becomes of a rule's findings.
type Mode string

// The modes. A rule without one is enforced.
const (
	ModeEnforce Mode = "enforce" // they count in the verdict
	ModeObserve Mode = "observe" // they are shown apart and fail nothing
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

var originNames = [...]string{
	"no ruleset", "the default ruleset", "the organization", "the repository (created over the API)", "the rules file",
}

// String names the ruleset for messages.
func (o Origin) String() string { return originNames[o] }

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
	Type       string // TypeRegex, TypeStructure, TypeTaint or TypeSpelling
	Pattern    string
	Message    string
	Severity   Severity
	Scope      Scope
	Repo       string // `owner/name`, see CheckRepository; with ScopeRepo only
	Paths      Paths
	Languages  []string // the file has one of them; any file when empty
	In         []Place  // where a match counts; anywhere when empty
	Skip       []string // kinds of files that it does not look at, see package kind
	Multiline  bool
	Redact     bool // mask the matched text wherever it is stored or shown
	Cases      Cases
	Conditions match.Conditions    // that a match must meet to be a hit
	Structure  structure.Condition // what a structure rule asks beside its pattern
	Taint      Taint               // what a taint rule asks
	Words      map[string]string   // misspelt words of a spelling rule beside the common ones, and how they are spelt
	Confidence Confidence          // "" for ConfidenceMedium
	Fix        *string             // what takes the place of what it matched, see fixParts; nil for nothing
	Supersedes []string            // ids of rules that have no hit on a line on which this one has
	References []string            // where to read more
	Disabled   bool                // it is known and not matched; a rule is enabled unless somebody says so
	Mode       Mode                // "" for ModeEnforce
	Origin     Origin

	// What the store keeps of rules from the API. Others have none of it.
	Etag      string // of the content as it was stored, see Rule.Document
	CreatedAt time.Time
	CreatedBy string // such as `key:KEYID`
	UpdatedAt time.Time
	UpdatedBy string

	// What was read of a structure rule when it was validated, so that it isn't read once
	// more to be matched; nil for rules that don't come from a file.
	valid *validStructure
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

// Observed reports whether the rule's findings are shown apart.
func (r Rule) Observed() bool { return r.Mode == ModeObserve }

// FullID returns the id with its category, as findings carry it.
func (r Rule) FullID() string { return FullID(r.ID) }

// ByID returns rules by their full ids.
func ByID(rules []Rule) map[string]Rule {
	all := make(map[string]Rule, len(rules))
	for _, r := range rules {
		all[r.FullID()] = r
	}
	return all
}

// Ruleset is a named group of rules.
type Ruleset struct {
	Name      string
	RuleCount int
	Scope     Scope
}

// MaxID is the length of a rule's id, in characters.
const MaxID = 100

// CategoryCustom is the category of a rule whose id has none.
const CategoryCustom = "custom"

// CategoryMeta is the category of findings that are about a repository's rules
// file or its comments that suppress, and not about a rule. No rule can have it.
const CategoryMeta = "meta"

// FullID returns id with its category: `no-print` is `custom/no-print`.
func FullID(id string) string {
	if strings.Contains(id, "/") {
		return id
	}
	return CategoryCustom + "/" + id
}

// CategorySecrets is the category of default rules that find secrets.
const CategorySecrets = "secrets"

// CheckID says what is wrong with the id of a rule that somebody writes, or
// nothing: it is as CheckAnyID has it, and its category is not CategoryMeta. The
// error is a phrase that follows the name of a field.
func CheckID(id string) error {
	if err := CheckAnyID(id); err != nil {
		return err
	}

	if category, _, _ := strings.Cut(id, "/"); category == CategoryMeta && category != id {
		return fmt.Errorf("must not have the category %q, which is prwarden's own", CategoryMeta)
	}
	return nil
}

// CheckAnyID says what is wrong with the id of what a finding may be of, or
// nothing: it is `name` or `category/name`, each part matches
// `[a-z0-9][a-z0-9._-]*`, and it has at most MaxID characters. The error is a
// phrase that follows the name of a field.
func CheckAnyID(id string) error {
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
				return fmt.Errorf("must not have %q there: each part is lower-case letters and digits, "+
					"and after the first also `.`, `_` and `-`", c)
			}
		}
	}

	return nil
}

// Bounds of a repository's name.
const (
	maxRepository      = 500 // bytes
	maxRepositoryPart  = 100 // bytes
	maxRepositoryParts = 20  // the groups and the name; GitLab has the same bound
)

// CheckRepository returns nil for a valid repository name, and otherwise an
// error that says what is allowed, without the name. Such a name is safe in a
// URL and in a path. In GitLab the owner is a group within groups; in Bitbucket
// it may be a person, as `~user`.
func CheckRepository(name string) error {
	parts := strings.Split(strings.TrimPrefix(name, "~"), "/")
	if len(name) > maxRepository || len(parts) < 2 || len(parts) > maxRepositoryParts ||
		slices.ContainsFunc(parts, invalidRepositoryPart) {
		return errors.New("must be `<owner>/<repository>` or `group/subgroup/name`, 2 to 20 parts and at most 500 " +
			"characters, each part of 1 to 100 letters, digits, dots, hyphens and underscores, and neither `.` nor `..`")
	}
	return nil
}

func invalidRepositoryPart(s string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return s == "" || len(s) > maxRepositoryPart || s == "." || s == ".." || strings.Trim(s, allowed) != ""
}

// RepositoryNotAllowed is the error for a repository that an organization may
// not use.
func RepositoryNotAllowed(org, name string) error {
	return errs.New(errs.PermissionDenied, errs.ReasonRepositoryNotAllowed,
		"Organization %s may not use repository %s; the server's configuration lists the repositories of each "+
			"organization.", org, name)
}

// RulesFor returns the rules that may apply to a repository: the defaults, the
// organization's, and the repository's own from the API. Which of them do, the
// scan decides: it knows what was selected, what the rules file disables, and
// so which default rules are shadowed by one of the organization's.
func (s *Service) RulesFor(ctx context.Context, org, repo string) (Set, error) {
	orgRules, err := s.store.ListRules(ctx, org, "")
	if err != nil {
		return Set{}, err
	}
	repoRules, err := s.store.ListRules(ctx, org, repo)
	if err != nil {
		return Set{}, err
	}

	rules := slices.Concat(s.defaults, orgRules, repoRules)
	return Set{Rules: rules, Digest: Digest(rules)}, nil
}

// FileRules returns the rules of a repository's rules file as the base of its last
// completed review had it; none when there was none.
func (s *Service) FileRules(ctx context.Context, org, repo string) ([]Rule, error) {
	return s.store.RulesFileRules(ctx, org, repo)
}

// Set is the rules that one scan may apply, and their digest: equal digests
// mean equal rules.
type Set struct {
	Rules  []Rule
	Digest string // SHA-256, in hexadecimal
}
