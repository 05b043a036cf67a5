package report

import (
	"fmt"

	"github.com/prwarden/prwarden/internal/rule"
)

// issue is a finding as GitLab's code quality report has it
// (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format).
type issue struct {
	Description string        `json:"description"`
	CheckName   string        `json:"check_name"`
	Fingerprint string        `json:"fingerprint"`
	Severity    string        `json:"severity"`
	Location    issueLocation `json:"location"`
}

type issueLocation struct {
	Path  string     `json:"path"`
	Lines issueLines `json:"lines"`
}

type issueLines struct {
	Begin int `json:"begin"`
	End   int `json:"end,omitempty"`
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

		issues = append(issues, issue{
			Description: f.Message,
			CheckName:   f.RuleID,
			Fingerprint: fingerprint,
			Severity:    issueSeverity(f.Severity),
			Location: issueLocation{
				Path:  f.File,
				Lines: issueLines{Begin: max(f.Line, 1), End: f.EndLine},
			},
		})
	}
	return indented(issues)
}

// issueSeverity is one of GitLab's five words.
func issueSeverity(s rule.Severity) string {
	switch s {
	case rule.Critical:
		return "blocker"
	case rule.High:
		return "critical"
	case rule.Medium:
		return "major"
	case rule.Warning, rule.Low:
		return "minor"
	}
	return "info"
}
