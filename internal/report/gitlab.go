package report

import (
	"fmt"

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

// codeQuality has all findings: GitLab itself compares it with that of the
// target branch. Fingerprints must be there and differ.
func (r Report) codeQuality() (string, error) {
	issues := []issue{}
	for _, f := range r.Review.Findings {
		fingerprint := f.Fingerprint
		if fingerprint == "" {
			fingerprint = fmt.Sprintf("%s %x %s", f.RuleID, f.File, place(f))
		}

		i := issue{
			Description: f.Message, CheckName: f.RuleID, Fingerprint: fingerprint, Severity: issueSeverities[f.Severity],
		}
		i.Location.Path = f.File
		i.Location.Lines.Begin, i.Location.Lines.End = max(f.Line, 1), f.EndLine
		issues = append(issues, i)
	}
	return indented(issues)
}

// issueSeverities are GitLab's words.
var issueSeverities = [...]string{
	0: "info", rule.Critical: "blocker", rule.High: "critical", rule.Medium: "major",
	rule.Warning: "minor", rule.Low: "minor", rule.Info: "info",
}
