// Package finding is what a scan finds: one set of types, from the engine's hits
// to the database, the API, the reports and the command line.
package finding

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/rule"
)

// Finding is one place where a rule fired. Its JSON is that of the REST API.
type Finding struct {
	RuleID     string          `json:"rule_id"` // `category/name`
	Severity   rule.Severity   `json:"severity"`
	Confidence rule.Confidence `json:"confidence"` // of the rule
	File       string          `json:"file"`       // path in the repository, in bytes, not always UTF-8
	Line       int             `json:"line"`       // of the start of the match, from 1
	EndLine    int             `json:"end_line"`   // of its last byte
	Column     int             `json:"column"`     // of its start, in bytes from 1
	EndColumn  int             `json:"end_column"` // after its last byte, on EndLine, in bytes from 1

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
	Triage      *Triage      `json:"triage,omitempty"`      // what somebody decided about it; nil for nothing

	// Steps are the way of a value to the finding, from where it comes in. Only findings
	// of taint rules have any, at most MaxSteps.
	Steps []Step `json:"steps"`

	// Fix is what the rule has in place of what it found; nil for nothing. All lines that it
	// replaces were added by the change, and none has text that is masked.
	Fix *Fix `json:"fix,omitempty"`
}

// InOrder compares findings as results order them.
func InOrder(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.RuleID, b.RuleID))
}

// WithoutLow are findings without those of low confidence. Of KindObserved they are shown
// only to those who ask for that list.
func WithoutLow(list []Finding) []Finding {
	isLow := func(f Finding) bool { return f.Confidence == rule.ConfidenceLow }

	return slices.DeleteFunc(slices.Clone(list), isLow)
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
	// KindObserved is of rules in rule.ModeObserve and, unless the policy counts them, of
	// rules with rule.ConfidenceLow.
	KindObserved Kind = "observed"
)

// Skip is something that a scan did not look at.
type Skip struct {
	File   string `json:"file"`              // path in the repository, in bytes
	Line   int    `json:"line,omitempty"`    // 0 when it is not about a line
	RuleID string `json:"rule_id,omitempty"` // `category/name`; empty when it is not about a rule
	Reason string `json:"reason"`            // one of the Skip constants

	Severity  rule.Severity `json:"severity,omitempty"` // of the rule; 0 when it is not about a rule
	Tolerated bool          `json:"tolerated"`          // the verdict passes over it; see Judge
	Observed  bool          `json:"-"`                  // the rule fails nothing, so it is tolerated
}

// The reasons of skips, in the words of the API.
const (
	SkipBinary       = "binary"         // no text, and nothing says that it should be
	SkipFileTooLarge = "file_too_large" // over the setting max_file_size
	SkipRuleStopped  = "rule_stopped"   // the rule used up the work that it may do in the file
	SkipUndecodable  = "undecodable"    // text by its name or look that can't be decoded
	SkipSubmodule    = "submodule"      // not followed

	SkipRulesFileInvalid = "rules_file_invalid" // that of the base, so its rules were not applied
	SkipSpecial          = "special"            // a FIFO, a device or a socket, in local scans only
)

// Text says why something was not looked at.
func (s Skip) Text() string {
	switch s.Reason {
	case SkipBinary:
		return "a binary file"
	case SkipFileTooLarge:
		return "the file is too large"
	case SkipUndecodable:
		return "a text that can't be decoded"
	case SkipSubmodule:
		return "a submodule"
	case SkipRulesFileInvalid:
		return "the rules file in the base is broken, so its rules were not applied"
	case SkipSpecial:
		return "a FIFO, a device or a socket"
	case SkipRuleStopped:
		return "rule " + s.RuleID + " took too much work and was stopped here"
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

	// HeadTitle and HeadAuthor are the subject and the author's name of the head
	// commit, as Line makes them.
	HeadTitle, HeadAuthor string

	// RulesDigest is rule.Digest of exactly the rules that were applied.
	RulesDigest string

	Findings   []Finding // by file (bytes), line, rule id
	Suppressed []Finding // likewise, up to the same limit; in no Summary
	Observed   []Finding // of KindObserved, likewise
	Skips      []Skip    // by file (bytes), line, rule id
	Summary    Summary   // of all findings, also of those over the limit
	Truncated  bool      // there were more findings of any list, or skips, than the limits
	FilesTotal int       // changed files that are there at head
	Bytes      int64     // of the contents of all that were read

	SkipCounts  SkipCounts // of all skips, also of those over the limit
	BaseFoundBy BaseFoundBy
	LookedAt    LookedAt
	Verdict     Verdict // as Judge decides it

	// RulesFile is the rules of the base's rules file, none when there is no such
	// file. When that file is broken RulesFileValid is false and there are none:
	// what was known of it stays true.
	RulesFile      []rule.Rule
	RulesFileValid bool

	// Exclusions are the changed files that the rules file keeps from all rules but
	// locked ones. Files is 0 for none.
	Exclusions Exclusions
	// SwitchedOff are rules of the scan that a policy or the rules file switched off, by
	// rule id.
	SwitchedOff []SwitchedOff

	// Publish is what the base's rules file wants less of in the pull request.
	Publish rule.Publish

	RuleCosts []RuleCost // of the most costly rules

	// Refuses says why a decision does not count for a finding of the scan, by the policy
	// and the rules that it was made with. All count when it is nil.
	Refuses func(f Finding, t Triage, today string) error
}

// RuleCost is what matching a rule took in a scan.
type RuleCost struct {
	RuleID   string // `category/name`
	Severity rule.Severity
	Work     int64 // bytes that the engine looked at for the rule: the same on every machine
}

// Shown is a text from a repository as the API shows it: bytes that are not
// UTF-8 as U+FFFD.
func Shown(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// What a finding and a skip take beside their texts: field names, numbers, and
// words of which there are few.
const (
	findingOverhead = 768
	skipOverhead    = 320
	triageOverhead  = 192
	stepOverhead    = 384
	fixOverhead     = 384
)

// Size is how many bytes a finding takes at most in an answer of the API in JSON,
// and in a SARIF log.
func (f Finding) Size() int {
	n := findingOverhead + pathSize(f.File)
	for _, text := range []string{f.RuleID, f.Message, f.Snippet, f.Fingerprint, f.LineHash} {
		n += textSize(text)
	}

	if s := f.Suppression; s != nil { // the log has the path of the comment, too
		n += textSize(s.Reason) + textSize(s.Until) + pathSize(f.File)
	}
	for _, s := range f.Steps { // the log has the path with each
		n += stepOverhead + textSize(s.Snippet) + pathSize(f.File)
	}
	if f.Fix != nil { // the log has the path with it, too
		n += fixOverhead + textSize(f.Fix.Text) + pathSize(f.File)
	}
	if t := f.Triage; t != nil {
		n += triageOverhead + textSize(t.Reason) + textSize(t.By)
	}

	return n
}

// Size is how many bytes a skip takes at most, like that of a finding.
func (s Skip) Size() int {
	return skipOverhead + pathSize(s.File) + 2*textSize(s.RuleID) + textSize(s.Reason)
}

// textSize is how long a text is at most as a string in JSON, whatever the encoder
// escapes.
func textSize(text string) (n int) {
	for i := range len(text) {
		switch c := text[i]; {
		case c == "\u2028"[0]: // the first byte of U+2028, which may be written as \u2028
			n += 4
		case c < ' ' || c == '<' || c == '>' || c == '&': // as \u0000
			n += 6
		case c == '"' || c == '\\':
			n += 2
		default:
			n++
		}
	}
	if !utf8.ValidString(text) { // each byte that is not UTF-8 is written as U+FFFD
		n += (utf8.RuneLen(utf8.RuneError) - 1) * len(text)
	}

	return n
}

// pathSize is how long a path is at most in JSON or in a URI, whichever is longer.
// JSON has its bytes in base64 too when they are not UTF-8.
func pathSize(path string) int {
	inJSON := textSize(path)
	if !utf8.ValidString(path) {
		inJSON += base64.StdEncoding.EncodedLen(len(path))
	}

	return max(inJSON, len(url.PathEscape(path))+2*strings.Count(path, ":")) // a log escapes colons, too
}

// exact stands beside a path that is not UTF-8.
type exact struct {
	FileBytes []byte `json:"file_bytes,omitempty"`
}

func exactly(path string) (e exact) {
	if !utf8.ValidString(path) {
		e.FileBytes = []byte(path)
	}
	return e
}

// decode reads JSON into a struct whose path is at file.
func decode(text []byte, into any, file *string) error {
	var e exact
	if err := json.Unmarshal(text, into); err != nil {
		return err
	}
	err := json.Unmarshal(text, &e)
	if e.FileBytes != nil {
		*file = string(e.FileBytes)
	}
	return err
}

type (
	plainFinding Finding
	plainSkip    Skip
)

// MarshalJSON writes a finding as the REST API answers it.
func (f Finding) MarshalJSON() ([]byte, error) {
	e := exactly(f.File)
	f.File = Shown(f.File)
	f.Steps = append([]Step{}, f.Steps...) // never null
	return json.Marshal(struct {
		plainFinding
		exact
	}{plainFinding(f), e})
}

// UnmarshalJSON reads a finding as the REST API answers it.
func (f *Finding) UnmarshalJSON(text []byte) error { return decode(text, (*plainFinding)(f), &f.File) }

// MarshalJSON writes a skip as the REST API answers it.
func (s Skip) MarshalJSON() ([]byte, error) {
	e := exactly(s.File)
	s.File = Shown(s.File)
	return json.Marshal(struct {
		plainSkip
		exact
	}{plainSkip(s), e})
}

// UnmarshalJSON reads a skip as the REST API answers it.
func (s *Skip) UnmarshalJSON(text []byte) error { return decode(text, (*plainSkip)(s), &s.File) }
