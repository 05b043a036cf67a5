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

// The objects of the format that prwarden writes, named as the standard's
// without the words that the file has anyway.

type run struct {
	Tool struct {
		Driver driver `json:"driver"`
	} `json:"tool"`
	Invocations       []invocation `json:"invocations"`
	AutomationDetails struct {
		ID string `json:"id"`
	} `json:"automationDetails"`
	ColumnKind string `json:"columnKind"`
}

type driver struct {
	Name           string       `json:"name"`
	Version        string       `json:"version,omitempty"`
	InformationURI string       `json:"informationUri"`
	Rules          []descriptor `json:"rules"`
}

type descriptor struct {
	ID                   string        `json:"id"`
	ShortDescription     message       `json:"shortDescription"`
	FullDescription      message       `json:"fullDescription"`
	HelpURI              string        `json:"helpUri,omitempty"`
	Help                 message       `json:"help"`
	DefaultConfiguration configuration `json:"defaultConfiguration"`
	Properties           properties    `json:"properties"`
}

type configuration struct {
	Level string `json:"level"`
}

type properties struct {
	Tags             []string `json:"tags"`
	Precision        string   `json:"precision,omitempty"`
	ProblemSeverity  string   `json:"problem.severity"`
	SecuritySeverity string   `json:"security-severity,omitempty"`
}

type message struct {
	Text string `json:"text"`
}

type invocation struct {
	ExecutionSuccessful bool           `json:"executionSuccessful"`
	Notifications       []notification `json:"toolExecutionNotifications,omitempty"`
	Properties          *facts         `json:"properties,omitempty"`
}

type notification struct {
	Level     string     `json:"level"`
	Message   message    `json:"message"`
	Locations []location `json:"locations,omitempty"`
	Rule      *ruleRef   `json:"associatedRule,omitempty"`
}

type ruleRef struct {
	ID string `json:"id"`
}

// facts are of the run as a whole.
type facts struct {
	Outcome     string              `json:"outcome,omitempty"`
	NotLookedAt int                 `json:"notLookedAt,omitempty"`
	BaseSHA     string              `json:"baseSha,omitempty"`
	BaseFoundBy finding.BaseFoundBy `json:"baseFoundBy,omitempty"`
	LookedAt    *finding.LookedAt   `json:"lookedAt,omitempty"`
}

type result struct {
	RuleID              string        `json:"ruleId"`
	RuleIndex           int           `json:"ruleIndex"`
	Level               string        `json:"level"`
	Message             message       `json:"message"`
	Locations           []location    `json:"locations"`
	PartialFingerprints fingerprints  `json:"partialFingerprints"`
	BaselineState       string        `json:"baselineState,omitempty"`
	Suppressions        []suppression `json:"suppressions,omitempty"`
	CodeFlows           []codeFlow    `json:"codeFlows,omitempty"`
	Fixes               []fix         `json:"fixes,omitempty"`
}

type fingerprints struct {
	LineHash string `json:"primaryLocationLineHash,omitempty"` // GitHub knows alerts again by it
	Own      string `json:"prwardenFingerprint/v1,omitempty"`
}

type suppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification,omitempty"`
}

type location struct {
	PhysicalLocation struct {
		ArtifactLocation struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region        *region `json:"region,omitempty"`
		ContextRegion *region `json:"contextRegion,omitempty"`
	} `json:"physicalLocation"`
}

type region struct {
	StartLine   int      `json:"startLine"`
	StartColumn int      `json:"startColumn,omitempty"`
	EndLine     int      `json:"endLine,omitempty"`
	EndColumn   int      `json:"endColumn,omitempty"`
	Snippet     *message `json:"snippet,omitempty"`
}

// Limits of what GitHub shows of a rule.
const (
	maxDescription = 1024 // characters
	maxTags        = 10
)

// describe describes the rules that fired, in the order of their ids. Their
// severity is that of their findings, as an organization or a repository may
// have changed it.
func describe(known map[string]rule.Rule, findings []finding.Finding) []descriptor {
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

	words := wordsOf[f.Severity]
	d := descriptor{
		ID:                   f.RuleID,
		ShortDescription:     message{Text: cut(firstClause(text))},
		FullDescription:      message{Text: cut(text)},
		Help:                 message{Text: strings.Join(append([]string{text}, known.References...), "\n")},
		DefaultConfiguration: configuration{Level: words.level},
		Properties: properties{
			Tags: []string{category}, Precision: string(f.Confidence), ProblemSeverity: words.problem,
		},
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
	return d
}

// cwe is a reference to a weakness. Tags name it as CodeQL does.
var cwe = regexp.MustCompile(`^https://cwe\.mitre\.org/data/definitions/(\d+)\.html$`)

// words are what a severity is called: level by the standard, problem by GitHub.
// security is a score of CVSS's scale in the middle of what GitHub calls by the
// severity's name: over 9.0 is critical, from 7.0 high, from 4.0 medium.
type words struct{ level, problem, security string }

var wordsOf = [...]words{
	0:             {"note", "recommendation", "1.0"},
	rule.Critical: {"error", "error", "9.5"},
	rule.High:     {"error", "error", "8.0"},
	rule.Medium:   {"warning", "warning", "6.0"},
	rule.Warning:  {"warning", "warning", "4.5"},
	rule.Low:      {"note", "recommendation", "2.5"},
	rule.Info:     {"note", "recommendation", "1.0"},
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
