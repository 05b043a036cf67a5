package restclient

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// Final reports whether a review in this state never changes again.
func Final(status string) bool { return review.Status(status).Final() }

// NewReview asks for a scan.
type NewReview struct {
	Repo     string `json:"repo"`
	PRNumber int32  `json:"pr_number"`
	Ruleset  string `json:"ruleset,omitempty"`
	HeadSHA  string `json:"head_sha,omitempty"`
	BaseSHA  string `json:"base_sha,omitempty"`
	BaseRef  string `json:"base_ref,omitempty"`
	FailOn   string `json:"fail_on,omitempty"`
}

// Created is the answer to that.
type Created struct {
	ReviewID    string `json:"review_id"`
	Status      string `json:"status"`
	EstimatedMS int64  `json:"estimated_ms"`
	// At is when the server answered, by its own clock; zero when it didn't say.
	At time.Time `json:"-"`
}

// Review is a review as the API answers it. Servers of before some of the
// fields leave them out.
type Review struct {
	ReviewID         string         `json:"review_id,omitempty"`
	Status           string         `json:"status"`
	PRNumber         int32          `json:"pr_number,omitempty"`
	Repo             string         `json:"repo,omitempty"`
	CompletedAt      time.Time      `json:"completed_at,omitzero"`
	Findings         []Finding      `json:"findings"`
	Summary          map[string]int `json:"summary"`
	Ruleset          string         `json:"ruleset,omitempty"`
	HeadSHA          string         `json:"head_sha,omitempty"`
	BaseSHA          string         `json:"base_sha,omitempty"`
	CreatedAt        time.Time      `json:"created_at,omitzero"`
	StartedAt        time.Time      `json:"started_at,omitzero"`
	Error            *Failure       `json:"error,omitempty"`
	Skipped          []Skip         `json:"skipped"`
	Truncated        bool           `json:"truncated"`
	RulesDigest      string         `json:"rules_digest,omitempty"`
	Suppressed       []Finding      `json:"suppressed"`
	Fixed            []Finding      `json:"fixed"`
	Verdict          *Verdict       `json:"verdict,omitempty"`
	PreviousReviewID string         `json:"previous_review_id,omitempty"`
}

// Verdict says whether a pull request passes.
type Verdict struct {
	Outcome   string `json:"outcome"` // pass or fail
	Threshold string `json:"threshold"`
}

// Finding is one place where a rule fired.
type Finding struct {
	RuleID         string       `json:"rule_id"`
	Severity       string       `json:"severity"`
	File           string       `json:"file"`
	Line           int          `json:"line"`
	Message        string       `json:"message"`
	EndLine        int          `json:"end_line"`
	Column         int          `json:"column"`
	Snippet        string       `json:"snippet"`
	Fingerprint    string       `json:"fingerprint"`
	FileBytes      []byte       `json:"file_bytes,omitempty"` // the path when it is not UTF-8
	State          string       `json:"state,omitempty"`
	EndColumn      int          `json:"end_column"`
	UTF16Column    int          `json:"utf16_column"`
	UTF16EndColumn int          `json:"utf16_end_column"`
	LineHash       string       `json:"line_hash,omitempty"`
	Suppression    *Suppression `json:"suppression,omitempty"`
}

// Suppression is the comment that suppresses a finding.
type Suppression struct {
	Reason string `json:"reason"`
	Until  string `json:"until,omitempty"`
	Line   int    `json:"line"`
}

// Skip is something that was not looked at. Line is 0 and RuleID empty when
// it was more than a line or a rule.
type Skip struct {
	File      string `json:"file"`
	Line      int    `json:"line,omitempty"`
	RuleID    string `json:"rule_id,omitempty"`
	Reason    string `json:"reason"`
	FileBytes []byte `json:"file_bytes,omitempty"`
}

// Failure is why a review failed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Update is one message of a watch stream.
type Update struct {
	ReviewID   string `json:"review_id"`
	Status     string `json:"status"`
	FilesDone  int    `json:"files_done"`
	FilesTotal int    `json:"files_total"` // 0 when not known
	KeepAlive  bool   `json:"keep_alive"`
}

// Decoded is the review that the answer is of. Severities that are not known
// here, of a server of tomorrow, count as the worst.
func (r Review) Decoded() review.Review {
	out := review.Review{
		ID: r.ReviewID, Repo: r.Repo, PRNumber: r.PRNumber, Ruleset: r.Ruleset, Status: review.Status(r.Status),
		HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
		Findings: decodeFindings(r.Findings), Suppressed: decodeFindings(r.Suppressed), Fixed: decodeFindings(r.Fixed),
		Summary: finding.Summary{}, Truncated: r.Truncated, RulesDigest: r.RulesDigest, PreviousID: r.PreviousReviewID,
	}
	for word, n := range r.Summary {
		out.Summary[severity(word)] += n
	}
	for _, s := range r.Skipped {
		out.Skips = append(out.Skips, finding.Skip{File: path(s.File, s.FileBytes), Line: s.Line, RuleID: s.RuleID, Reason: s.Reason})
	}
	if r.Error != nil {
		out.Failure = &review.Failure{Code: r.Error.Code, Message: r.Error.Message}
	}
	if r.Verdict != nil {
		out.FailOn = severity(r.Verdict.Threshold)
	}
	return out
}

func decodeFindings(list []Finding) []finding.Finding {
	var out []finding.Finding
	for _, f := range list {
		d := finding.Finding{
			RuleID: f.RuleID, Severity: severity(f.Severity), File: path(f.File, f.FileBytes), Line: f.Line, EndLine: f.EndLine,
			Column: f.Column, EndColumn: f.EndColumn, UTF16Column: f.UTF16Column, UTF16EndColumn: f.UTF16EndColumn, Message: f.Message,
			Snippet: f.Snippet, Fingerprint: f.Fingerprint, LineHash: f.LineHash, State: finding.State(f.State),
		}
		if s := f.Suppression; s != nil {
			d.Suppression = &finding.Suppression{Reason: s.Reason, Until: s.Until, Line: s.Line}
		}
		out = append(out, d)
	}
	return out
}

func severity(word string) rule.Severity {
	s, ok := rule.ParseSeverity(word)
	if !ok {
		return rule.Critical
	}
	return s
}

func path(text string, exact []byte) string {
	if exact != nil {
		return string(exact)
	}
	return text
}

// Encode is the answer that a review would be.
func Encode(r review.Review) Review {
	out := Review{
		ReviewID: r.ID, Status: string(r.Status), PRNumber: r.PRNumber, Repo: r.Repo, CompletedAt: r.CompletedAt, Findings: encodeFindings(r.Findings),
		Summary: map[string]int{}, Ruleset: r.Ruleset, HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt,
		Skipped: []Skip{}, Truncated: r.Truncated, RulesDigest: r.RulesDigest, Suppressed: encodeFindings(r.Suppressed), Fixed: encodeFindings(r.Fixed),
		PreviousReviewID: r.PreviousID,
	}
	for _, s := range rule.Severities() {
		out.Summary[s.String()] = r.Summary[s]
	}
	for _, s := range r.Skips {
		out.Skipped = append(out.Skipped, EncodeSkip(s))
	}
	if r.Failure != nil {
		out.Error = &Failure{Code: r.Failure.Code, Message: r.Failure.Message}
	}
	return out
}

func encodeFindings(list []finding.Finding) []Finding {
	out := make([]Finding, 0, len(list))
	for _, f := range list {
		out = append(out, EncodeFinding(f))
	}
	return out
}

// EncodeFinding is a finding as answers have it.
func EncodeFinding(f finding.Finding) Finding {
	text, exact := encodePath(f.File)
	e := Finding{
		RuleID: f.RuleID, Severity: f.Severity.String(), File: text, FileBytes: exact, Line: f.Line, EndLine: f.EndLine,
		Column: f.Column, EndColumn: f.EndColumn, UTF16Column: f.UTF16Column, UTF16EndColumn: f.UTF16EndColumn, Message: f.Message,
		Snippet: f.Snippet, Fingerprint: f.Fingerprint, LineHash: f.LineHash, State: string(f.State),
	}
	if s := f.Suppression; s != nil {
		e.Suppression = &Suppression{Reason: s.Reason, Until: s.Until, Line: s.Line}
	}
	return e
}

// EncodeSkip is a skip as answers have it.
func EncodeSkip(s finding.Skip) Skip {
	text, exact := encodePath(s.File)
	return Skip{File: text, FileBytes: exact, Line: s.Line, RuleID: s.RuleID, Reason: s.Reason}
}

func encodePath(path string) (text string, exact []byte) {
	if utf8.ValidString(path) {
		return path, nil
	}
	return strings.ToValidUTF8(path, "\uFFFD"), []byte(path)
}
