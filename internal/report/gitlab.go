package report

import (
	"fmt"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// issue is a finding as GitLab's code quality report has it
// (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format).
type issue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
			End   int `json:"end,omitempty"`
		} `json:"lines"`
	} `json:"location"`
}

// codeQuality has all findings, also those that comments suppress or that are observed, and all that was
// not looked at: GitLab itself compares it with that of the target branch.
// Fingerprints must be there and differ.
func (r Report) codeQuality() (string, error) {
	issues := []issue{}
	for _, f := range r.Review.Findings {
		i := newIssue(f)
		if f.Triage != nil {
			i.Description = "Set aside, " + decided(*f.Triage) + ". " + i.Description
			i.Fingerprint, i.Severity = i.Fingerprint+" set aside", issueSeverities[rule.Info]
		}
		issues = append(issues, i)
	}
	for _, f := range r.Review.Suppressed {
		i := newIssue(f)
		i.Description = "Suppressed " + byComment(f) + ". " + i.Description
		i.Fingerprint, i.Severity = i.Fingerprint+" suppressed", issueSeverities[rule.Info]
		issues = append(issues, i)
	}
	for _, f := range r.onlyObserved() {
		i := newIssue(f)
		i.Description = "Only observed. " + i.Description
		i.Fingerprint, i.Severity = i.Fingerprint+" observed", issueSeverities[rule.Info]
		issues = append(issues, i)
	}
	for _, s := range r.Review.Skips {
		issues = append(issues, r.skippedIssue(s))
	}
	if n := r.unlistedSkips(); n > 0 {
		s := finding.Skip{File: rule.FilePath, Reason: fmt.Sprintf("%d more, too many to list", n)}
		issues = append(issues, r.skippedIssue(s))
	}

	return indented(issues)
}

func newIssue(f finding.Finding) issue {
	i := issue{
		Description: f.Message, CheckName: f.RuleID, Fingerprint: f.Fingerprint, Severity: issueSeverities[f.Severity],
	}
	if i.Fingerprint == "" {
		i.Fingerprint = fmt.Sprintf("%s %x %s", f.RuleID, f.File, place(f))
	}
	i.Location.Path = f.File
	i.Location.Lines.Begin, i.Location.Lines.End = max(f.Line, 1), f.EndLine

	return i
}

// skippedIssue says what was not looked at: as severe as what fails when it counts.
func (r Report) skippedIssue(s finding.Skip) issue {
	i := issue{
		Description: "Not looked at: " + s.Text() + ".", CheckName: "prwarden/not-looked-at",
		Fingerprint: fmt.Sprintf("%s %s %x %d", s.Reason, s.RuleID, s.File, s.Line), Severity: issueSeverities[rule.Info],
	}
	if !s.Tolerated && r.incomplete() {
		i.Severity = issueSeverities[rule.High]
	}
	i.Location.Path, i.Location.Lines.Begin = s.File, max(s.Line, 1)

	return i
}

// issueSeverities are GitLab's words.
var issueSeverities = [...]string{
	0: "info", rule.Critical: "blocker", rule.High: "critical", rule.Medium: "major",
	rule.Warning: "minor", rule.Low: "minor", rule.Info: "info",
}
