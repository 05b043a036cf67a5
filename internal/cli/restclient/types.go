package restclient

import (
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
}

// Review is a review as the API answers it.
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
		HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, RulesDigest: r.RulesDigest, PreviousID: r.PreviousReviewID,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
		Findings: each(r.Findings, decodeFinding), Suppressed: each(r.Suppressed, decodeFinding),
		Fixed: each(r.Fixed, decodeFinding), Skips: each(r.Skipped, decodeSkip),
		Summary: finding.Summary{}, Truncated: r.Truncated,
	}
	for word, n := range r.Summary {
		out.Summary[severity(word)] += n
	}
	if r.Error != nil {
		out.Failure = &review.Failure{Code: r.Error.Code, Message: r.Error.Message}
	}
	if r.Verdict != nil {
		out.FailOn = severity(r.Verdict.Threshold)
	}
	return out
}

// each converts the items of a list.
func each[T, U any](list []T, convert func(T) U) []U {
	out := make([]U, len(list))
	for i, item := range list {
		out[i] = convert(item)
	}
	return out
}

func decodeFinding(f Finding) finding.Finding {
	out := finding.Finding{
		RuleID: f.RuleID, Severity: severity(f.Severity), File: path(f.File, f.FileBytes),
		Line: f.Line, EndLine: f.EndLine, Column: f.Column, EndColumn: f.EndColumn,
		UTF16Column: f.UTF16Column, UTF16EndColumn: f.UTF16EndColumn, Message: f.Message, Snippet: f.Snippet,
		Fingerprint: f.Fingerprint, LineHash: f.LineHash, State: finding.State(f.State),
	}
	if f.Suppression != nil {
		suppression := finding.Suppression(*f.Suppression)
		out.Suppression = &suppression
	}
	return out
}

func decodeSkip(s Skip) finding.Skip {
	return finding.Skip{File: path(s.File, s.FileBytes), Line: s.Line, RuleID: s.RuleID, Reason: s.Reason}
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
		ReviewID: r.ID, Status: string(r.Status), PRNumber: r.PRNumber, Repo: r.Repo, Ruleset: r.Ruleset,
		HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, RulesDigest: r.RulesDigest, PreviousReviewID: r.PreviousID,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
		Findings: each(r.Findings, EncodeFinding), Suppressed: each(r.Suppressed, EncodeFinding),
		Fixed: each(r.Fixed, EncodeFinding), Skipped: each(r.Skips, EncodeSkip),
		Summary: map[string]int{}, Truncated: r.Truncated,
	}
	for _, s := range rule.Severities() {
		out.Summary[s.String()] = r.Summary[s]
	}
	if r.Failure != nil {
		out.Error = &Failure{Code: r.Failure.Code, Message: r.Failure.Message}
	}
	return out
}

// EncodeFinding is a finding as answers have it.
func EncodeFinding(f finding.Finding) Finding {
	text, exact := encodePath(f.File)
	out := Finding{
		RuleID: f.RuleID, Severity: f.Severity.String(), File: text, FileBytes: exact,
		Line: f.Line, EndLine: f.EndLine, Column: f.Column, EndColumn: f.EndColumn,
		UTF16Column: f.UTF16Column, UTF16EndColumn: f.UTF16EndColumn, Message: f.Message, Snippet: f.Snippet,
		Fingerprint: f.Fingerprint, LineHash: f.LineHash, State: string(f.State),
	}
	if f.Suppression != nil {
		suppression := Suppression(*f.Suppression)
		out.Suppression = &suppression
	}
	return out
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
	return finding.Shown(path), []byte(path)
}
