// Package finding is what a scan finds: one set of types, from the engine's hits
// to the database, the API, the reports and the command line.
package finding

import (
	"strings"

	"github.com/prwarden/prwarden/internal/rule"
)

// Finding is one place where a rule fired. Its JSON is that of the REST API.
type Finding struct {
	RuleID    string        `json:"rule_id"` // `category/name`
	Severity  rule.Severity `json:"severity"`
	File      string        `json:"file"`       // path in the repository, in bytes, not always UTF-8
	Line      int           `json:"line"`       // of the start of the match, from 1
	EndLine   int           `json:"end_line"`   // of its last byte
	Column    int           `json:"column"`     // of its start, in bytes from 1
	EndColumn int           `json:"end_column"` // after its last byte, on EndLine, in bytes from 1

	// UTF16Column and UTF16EndColumn are the columns in UTF-16 code units from 1,
	// as editors and SARIF count.
	UTF16Column    int `json:"utf16_column"`
	UTF16EndColumn int `json:"utf16_end_column"`

	Message string `json:"message"`
	Snippet string `json:"snippet"` // the line of the start, masked; empty for findings about the rules file

	// Fingerprint recognises the finding in later scans. It doesn't depend on the
	// line number.
	Fingerprint string `json:"fingerprint"`

	// LineHash is SARIF's primaryLocationLineHash as GitHub's uploader computes
	// it. It is empty where it would be made of text that is masked, and for
	// findings of the category meta.
	LineHash string `json:"line_hash,omitempty"`

	Suppression *Suppression `json:"suppression,omitempty"` // the comment that suppresses it; nil for none
	State       State        `json:"state,omitempty"`       // empty until it is compared with an earlier review
}

// Suppression is a comment in the code that accepts a finding.
type Suppression struct {
	Reason string `json:"reason"`          // empty when the comment gives none
	Until  string `json:"until,omitempty"` // last day on which it holds, `YYYY-MM-DD` in UTC; empty for no end
	Line   int    `json:"line"`            // of the comment, from 1
}

// Kind is one of the lists of findings that a review has.
type Kind string

// The kinds.
const (
	KindReported   Kind = "reported"
	KindSuppressed Kind = "suppressed" // by a comment in the code
	KindFixed      Kind = "fixed"      // reported by the previous review, and gone
)

// Skip is something that a scan did not look at.
type Skip struct {
	File   string `json:"file"`              // path in the repository, in bytes
	Line   int    `json:"line,omitempty"`    // 0 when it is not about a line
	RuleID string `json:"rule_id,omitempty"` // `category/name`; empty when it is not about a rule
	Reason string `json:"reason"`            // one of the Skip constants
}

// The reasons of skips, in the words of the API.
const (
	SkipBinary       = "binary"         // a NUL in the first 8,000 bytes
	SkipFileTooLarge = "file_too_large" // over scan.MaxFileSize
	SkipLineTooLong  = "line_too_long"  // over match.MaxLine
	SkipRuleTimeout  = "rule_timeout"   // the rule used up rule.Budget
	SkipSubmodule    = "submodule"      // not followed
)

// Text says why something was not looked at.
func (s Skip) Text() string {
	switch s.Reason {
	case SkipBinary:
		return "a binary file"
	case SkipFileTooLarge:
		return "the file is over 1 MiB"
	case SkipLineTooLong:
		return "the line is over 16 KiB"
	case SkipSubmodule:
		return "a submodule"
	case "special": // in local scans only, as the next one
		return "a FIFO, a device or a socket"
	case "gone":
		return "removed meanwhile"
	case SkipRuleTimeout:
		return "rule " + s.RuleID + " took too long and was stopped here"
	}
	return s.Reason
}

// Summary counts findings by severity.
type Summary map[rule.Severity]int

// NewSummary returns a summary of no findings. It has all severities as keys.
func NewSummary() Summary {
	s := Summary{}
	for _, severity := range rule.Severities() {
		s[severity] = 0
	}

	return s
}

// Commits are what to scan in place of a pull request's own head and base. The
// zero Commits are those of the pull request.
type Commits struct {
	Head    string // 40 hexadecimal digits
	Base    string // 40 hexadecimal digits; empty with BaseRef
	BaseRef string // a branch, as it is when the scan starts; empty with Base
}

// Result is what a scan found.
type Result struct {
	HeadSHA, BaseSHA string

	// RulesDigest is rule.Digest of exactly the rules that were applied.
	RulesDigest string

	Findings   []Finding // by file (bytes), line, rule id
	Suppressed []Finding // likewise, up to the same limit; in no Summary
	Skips      []Skip    // by file (bytes), line, rule id
	Summary    Summary   // of all findings, also of those over the limit
	Truncated  bool      // there were more findings, suppressed ones or skips than the limits
	FilesTotal int       // changed files that are there at head

	// RulesFile is the rules of the base's rules file, none when there is no such
	// file. When that file is broken RulesFileValid is false and there are none:
	// what was known of it stays true.
	RulesFile      []rule.Rule
	RulesFileValid bool
}

// Shown is a text from a repository as the API shows it: bytes that are not
// UTF-8 as U+FFFD.
func Shown(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
