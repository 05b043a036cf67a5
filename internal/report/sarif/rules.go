package sarif

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// Catalog is the rules that can be described by more than what their findings
// say. It does not change, so it is safe for concurrent use.
type Catalog struct{ byID map[string]rule.Rule }

// NewCatalog returns a catalog of rules.
func NewCatalog(rules []rule.Rule) *Catalog {
	c := &Catalog{byID: make(map[string]rule.Rule, len(rules))}
	for _, r := range rules {
		c.byID[r.FullID()] = r
	}
	return c
}

// Limits of what GitHub shows of a rule.
const (
	maxDescription = 1024 // characters
	maxTags        = 10
)

// ruleTable is the rules of a log, in the order of their ids.
type ruleTable struct {
	list  []descriptor
	index map[string]int
}

// newRuleTable describes the rules that fired. Their severity is that of their
// findings, as an organization or a repository may have changed it.
func newRuleTable(known *Catalog, results []finding.Finding) *ruleTable {
	first := map[string]finding.Finding{}
	var ids []string
	for _, f := range results {
		if _, ok := first[f.RuleID]; !ok {
			first[f.RuleID] = f
			ids = append(ids, f.RuleID)
		}
	}

	slices.Sort(ids)
	t := &ruleTable{list: make([]descriptor, 0, len(ids)), index: make(map[string]int, len(ids))}
	for i, id := range ids {
		t.index[id] = i
		var r *rule.Rule
		if known != nil {
			if k, ok := known.byID[id]; ok {
				r = &k
			}
		}
		t.list = append(t.list, describe(first[id], r))
	}
	return t
}

// categoryMeta has the findings about rules files and suppressions, whose
// messages are about one place only.
const categoryMeta = "meta"

func describe(f finding.Finding, known *rule.Rule) descriptor {
	category, name, _ := strings.Cut(f.RuleID, "/")
	text, references := f.Message, []string(nil)
	switch {
	case known != nil:
		text, references = known.Message, known.References
	case category == categoryMeta:
		text = "prwarden: " + strings.ReplaceAll(name, "-", " ") + "."
	}

	text = strings.ToValidUTF8(text, "\uFFFD")
	if text == "" {
		text = f.RuleID // an empty description is refused
	}
	d := descriptor{
		ID:                   f.RuleID,
		Name:                 pascal(name),
		ShortDescription:     message{Text: cut(firstClause(text))},
		FullDescription:      message{Text: cut(text)},
		Help:                 help(text, references),
		DefaultConfiguration: configuration{Level: level(f.Severity)},
		Properties: properties{
			Tags:            tags(category, references),
			ProblemSeverity: problemSeverity(f.Severity),
		},
	}

	if len(references) > 0 {
		d.HelpURI = references[0]
	}
	if isSecurity(category) {
		d.Properties.SecuritySeverity = securitySeverity(f.Severity)
	}

	if known != nil && known.Origin == rule.OriginDefault {
		d.Properties.Precision = "high" // docs/default-ruleset.md says how that was measured
	}
	return d
}

// isSecurity reports whether a category is about security, for GitHub's
// separate scale.
func isSecurity(category string) bool { return category == "security" || category == "secrets" }

// level is the standard's word for a severity.
func level(s rule.Severity) string {
	switch s {
	case rule.Critical, rule.High:
		return "error"
	case rule.Medium, rule.Warning:
		return "warning"
	}
	return "note"
}

// problemSeverity is GitHub's word for a severity.
func problemSeverity(s rule.Severity) string {
	if l := level(s); l != "note" {
		return l
	}
	return "recommendation"
}

// securitySeverity is a score of CVSS's scale in the middle of what GitHub
// calls by the severity's name: over 9.0 is critical, from 7.0 high, from 4.0
// medium, below low.
func securitySeverity(s rule.Severity) string {
	switch s {
	case rule.Critical:
		return "9.5"
	case rule.High:
		return "8.0"
	case rule.Medium:
		return "6.0"
	case rule.Warning:
		return "4.5"
	case rule.Low:
		return "2.5"
	}
	return "1.0"
}

var cwe = regexp.MustCompile(`^https://cwe\.mitre\.org/data/definitions/(\d+)\.html$`)

// tags are by what GitHub filters: the category, and the weaknesses that the
// references name, written as CodeQL writes them.
func tags(category string, references []string) []string {
	list := []string{category}
	if isSecurity(category) && category != "security" {
		list = append(list, "security")
	}
	for _, ref := range references {
		if m := cwe.FindStringSubmatch(ref); m != nil && len(list) < maxTags {
			list = append(list, fmt.Sprintf("external/cwe/cwe-%03s", m[1]))
		}
	}
	return list
}

// help is what GitHub shows beside an alert.
func help(text string, references []string) message {
	m := message{Text: text, Markdown: markdown(text)}
	if len(references) > 0 {
		m.Text += "\n\nRead more:"
		m.Markdown += "\n\nRead more:\n"
	}
	for _, ref := range references {
		m.Text += "\n" + ref
		m.Markdown += "\n- <" + ref + ">"
	}
	return m
}

// markdown is a plain text as Markdown: what would be a tag or a link is none,
// and text in backquotes stays code.
func markdown(text string) string {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 { // an odd one is only a character
		return escapeMarkdown(text)
	}
	for i := 0; i < len(parts); i += 2 {
		parts[i] = escapeMarkdown(parts[i])
	}
	return strings.Join(parts, "`")
}

// markup are the characters that mean something in Markdown.
var markup = regexp.MustCompile("[\\\\`*_\\[\\]<>#|]")

func escapeMarkdown(text string) string { return markup.ReplaceAllString(text, `\$0`) }

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
	if utf8.RuneCountInString(text) <= maxDescription {
		return text
	}
	return string([]rune(text)[:maxDescription-1]) + "…"
}

// pascal is a name as the standard wants it, which must not be the id:
// `no-eval` is NoEval.
func pascal(name string) string {
	var b strings.Builder
	parts := func(r rune) bool { return strings.ContainsRune("-_./", r) }
	for word := range strings.FieldsFuncSeq(name, parts) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
