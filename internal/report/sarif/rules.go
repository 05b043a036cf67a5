package sarif

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// Catalog is the rules, by their full ids, that can be described by more than
// what their findings say.
type Catalog map[string]rule.Rule

// NewCatalog returns a catalog of rules.
func NewCatalog(rules []rule.Rule) Catalog {
	c := make(Catalog, len(rules))
	for _, r := range rules {
		c[r.FullID()] = r
	}
	return c
}

// Limits of what GitHub shows of a rule.
const (
	maxDescription = 1024 // characters
	maxTags        = 10
)

// describe describes the rules that fired, in the order of their ids. Their
// severity is that of their findings, as an organization or a repository may
// have changed it.
func describe(known Catalog, findings []finding.Finding) []descriptor {
	byID := map[string]descriptor{}
	for _, f := range findings {
		if _, ok := byID[f.RuleID]; !ok {
			byID[f.RuleID] = newDescriptor(f, known[f.RuleID])
		}
	}

	list := make([]descriptor, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		list = append(list, byID[id])
	}
	return list
}

// newDescriptor describes the rule of a finding. known is the zero Rule when no
// more is known of it.
func newDescriptor(f finding.Finding, known rule.Rule) descriptor {
	category, name, _ := strings.Cut(f.RuleID, "/")
	text := finding.Shown(cmp.Or(known.Message, f.Message, f.RuleID)) // an empty description is refused
	if category == "meta" {                                           // their messages are about one place only
		text = "prwarden: " + strings.ReplaceAll(name, "-", " ") + "."
	}

	words := wordsOf(f.Severity)
	d := descriptor{
		ID:                   f.RuleID,
		ShortDescription:     message{Text: cut(firstClause(text))},
		FullDescription:      message{Text: cut(text)},
		Help:                 message{Text: strings.Join(append([]string{text}, known.References...), "\n")},
		DefaultConfiguration: configuration{Level: words.level},
		Properties:           properties{Tags: []string{category}, ProblemSeverity: words.problem},
	}

	if category == "security" || category == "secrets" { // these have a scale of their own
		d.Properties.SecuritySeverity = words.security
	}
	if category == "secrets" {
		d.Properties.Tags = append(d.Properties.Tags, "security")
	}
	for _, ref := range known.References {
		if m := cwe.FindStringSubmatch(ref); m != nil && len(d.Properties.Tags) < maxTags {
			d.Properties.Tags = append(d.Properties.Tags, fmt.Sprintf("external/cwe/cwe-%03s", m[1]))
		}
	}

	if len(known.References) > 0 {
		d.HelpURI = known.References[0]
	}
	if known.Origin == rule.OriginDefault {
		d.Properties.Precision = "high" // docs/default-ruleset.md says how that was measured
	}
	return d
}

// cwe is a reference to a weakness. Tags name it as CodeQL does.
var cwe = regexp.MustCompile(`^https://cwe\.mitre\.org/data/definitions/(\d+)\.html$`)

// words are what a severity is called: level by the standard, problem by GitHub.
// security is a score of CVSS's scale in the middle of what GitHub calls by the
// severity's name: over 9.0 is critical, from 7.0 high, from 4.0 medium.
type words struct{ level, problem, security string }

func wordsOf(s rule.Severity) words {
	switch s {
	case rule.Critical:
		return words{"error", "error", "9.5"}
	case rule.High:
		return words{"error", "error", "8.0"}
	case rule.Medium:
		return words{"warning", "warning", "6.0"}
	case rule.Warning:
		return words{"warning", "warning", "4.5"}
	case rule.Low:
		return words{"note", "recommendation", "2.5"}
	}
	return words{"note", "recommendation", "1.0"}
}

// firstClause is a text up to where its first sentence or its explanation
// begins.
func firstClause(text string) string {
	end := len(text)
	for _, stop := range []string{"; ", ". "} {
		if i := strings.Index(text, stop); i > 0 {
			end = min(end, i)
		}
	}
	return strings.TrimSuffix(text[:end], ".") + "."
}

// cut is a text of at most as many characters as GitHub takes.
func cut(text string) string {
	if characters := []rune(text); len(characters) > maxDescription {
		return string(characters[:maxDescription-1]) + "…"
	}
	return text
}
