package rule

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/prwarden/prwarden/internal/structure"
)

// Document is a rule as its author writes it: in a file as YAML, over the API and
// in the history as JSON. What is not given is left out, so a later version may
// have more fields without changing the documents of this one.
type Document struct {
	ID         string           `json:"id" yaml:"id"`
	Type       string           `json:"type" yaml:"type"`
	Pattern    string           `json:"pattern,omitempty" yaml:"pattern,omitempty"` // not needed with Any or All
	Message    string           `json:"message" yaml:"message"`
	Severity   string           `json:"severity" yaml:"severity"`
	Scope      Scope            `json:"scope,omitempty" yaml:"scope,omitempty"` // not ScopeOrg, which goes without saying
	Repo       string           `json:"repo,omitempty" yaml:"repo,omitempty"`
	Paths      *PathsDocument   `json:"paths,omitempty" yaml:"paths,omitempty"`
	Languages  []string         `json:"languages,omitempty" yaml:"languages,omitempty"`
	In         []Place          `json:"in,omitempty" yaml:"in,omitempty"`
	Skip       []string         `json:"skip,omitempty" yaml:"skip,omitempty"`
	Multiline  bool             `json:"multiline,omitempty" yaml:"multiline,omitempty"`
	Redact     bool             `json:"redact,omitempty" yaml:"redact,omitempty"`
	Enabled    *bool            `json:"enabled,omitempty" yaml:"enabled,omitempty"` // only false
	Mode       Mode             `json:"mode,omitempty" yaml:"mode,omitempty"`       // only ModeObserve
	Entropy    *EntropyDocument `json:"entropy,omitempty" yaml:"entropy,omitempty"`
	Checksum   string           `json:"checksum,omitempty" yaml:"checksum,omitempty"`
	Stopwords  []string         `json:"stopwords,omitempty" yaml:"stopwords,omitempty"`
	Allow      []string         `json:"allow,omitempty" yaml:"allow,omitempty"`
	Confidence Confidence       `json:"confidence,omitempty" yaml:"confidence,omitempty"` // not ConfidenceMedium
	Supersedes []string         `json:"supersedes,omitempty" yaml:"supersedes,omitempty"`
	Fix        *string          `json:"fix,omitempty" yaml:"fix,omitempty"`

	// What a rule of type structure asks, see structure.Condition.
	Any       []structure.Condition     `json:"any,omitempty" yaml:"any,omitempty"`
	All       []structure.Condition     `json:"all,omitempty" yaml:"all,omitempty"`
	Not       *structure.Condition      `json:"not,omitempty" yaml:"not,omitempty"`
	Inside    *structure.Condition      `json:"inside,omitempty" yaml:"inside,omitempty"`
	NotInside *structure.Condition      `json:"not_inside,omitempty" yaml:"not_inside,omitempty"`
	Has       *structure.Condition      `json:"has,omitempty" yaml:"has,omitempty"`
	Depth     string                    `json:"depth,omitempty" yaml:"depth,omitempty"`
	Where     map[string]structure.Test `json:"where,omitempty" yaml:"where,omitempty"`
	Focus     string                    `json:"focus,omitempty" yaml:"focus,omitempty"`

	// What a rule of type taint asks, see Taint.
	Sources    []structure.Condition `json:"sources,omitempty" yaml:"sources,omitempty"`
	Sinks      []structure.Condition `json:"sinks,omitempty" yaml:"sinks,omitempty"`
	Sanitizers []structure.Condition `json:"sanitizers,omitempty" yaml:"sanitizers,omitempty"`

	// What a rule of type spelling finds beside the common words, see Rule.Words.
	Words map[string]string `json:"words,omitempty" yaml:"words,omitempty"`

	Cases      *CasesDocument `json:"cases,omitempty" yaml:"cases,omitempty"`
	References []string       `json:"references,omitempty" yaml:"references,omitempty"`
}

// PathsDocument is Paths as an author writes them.
type PathsDocument struct {
	Include []string `json:"include,omitempty" yaml:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty" yaml:"exclude,omitempty"`
}

// CasesDocument is Cases as an author writes them.
type CasesDocument struct {
	Match   []string `json:"match,omitempty" yaml:"match,omitempty"`
	NoMatch []string `json:"no_match,omitempty" yaml:"no_match,omitempty"`
}

// Document returns the rule as its author would write it.
func (r Rule) Document() Document {
	d := Document{
		ID: r.ID, Type: r.Type, Pattern: r.Pattern, Message: r.Message, Severity: r.Severity.String(),
		Languages: r.Languages, In: r.In, Skip: r.Skip, Multiline: r.Multiline, Redact: r.Redact,
		References: r.References,
		Entropy:    entropyDocument(r.Conditions.Entropy), Checksum: r.Conditions.Checksum,
		Stopwords: r.Conditions.Stopwords, Allow: r.Conditions.Allow,
		Supersedes: r.Supersedes, Fix: r.Fix, Words: r.Words,
	}
	d.ask(r.Structure)
	d.Sources, d.Sinks, d.Sanitizers = r.Taint.Sources, r.Taint.Sinks, r.Taint.Sanitizers
	if r.Scope == ScopeRepo {
		d.Scope, d.Repo = r.Scope, r.Repo
	}
	if len(r.Paths.Include)+len(r.Paths.Exclude) > 0 {
		d.Paths = &PathsDocument{r.Paths.Include, r.Paths.Exclude}
	}
	if len(r.Cases.Match)+len(r.Cases.NoMatch) > 0 {
		d.Cases = &CasesDocument{r.Cases.Match, r.Cases.NoMatch}
	}
	if r.Disabled {
		d.Enabled = new(bool)
	}
	if r.Observed() {
		d.Mode = r.Mode
	}
	if r.Sureness() != ConfidenceMedium {
		d.Confidence = r.Confidence
	}

	return d
}

// Rule returns the rule of a document.
func (d Document) Rule() Rule {
	r := Rule{
		ID: d.ID, Type: d.Type, Pattern: d.Pattern, Message: d.Message, Scope: d.Scope, Repo: d.Repo,
		Languages: d.Languages, In: d.In, Skip: d.Skip, Multiline: d.Multiline, Redact: d.Redact,
		References: d.References,
		Disabled:   d.Enabled != nil && !*d.Enabled, Mode: d.Mode,
		Conditions: d.conditions(), Supersedes: d.Supersedes, Confidence: d.Confidence, Fix: d.Fix,
		Structure: d.asked(),
		Taint:     Taint{d.Sources, d.Sinks, d.Sanitizers},
		Words:     d.Words,
	}
	r.Severity, _ = ParseSeverity(d.Severity)
	if d.Paths != nil {
		r.Paths = Paths{Include: d.Paths.Include, Exclude: d.Paths.Exclude}
	}
	if d.Cases != nil {
		r.Cases = Cases{Match: d.Cases.Match, NoMatch: d.Cases.NoMatch}
	}

	return r.normal()
}

// Etag stands for the content of the document: equal etags mean equal documents.
func (d Document) Etag() string { return EtagOf(d.JSON()) }

// EtagOf is the etag of the document that is written so by Document.JSON.
func EtagOf(document []byte) string {
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:16])
}

// JSON writes the document on one line, as it is stored and sent.
func (d Document) JSON() []byte { return CompactJSON(d) }

// CompactJSON writes texts, numbers and flags, which always can be, on one line and
// without escaping `<>&`, of which patterns are full.
func CompactJSON(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)

	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
