package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
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

// writeGitLab writes a code quality report. It has all findings: GitLab itself
// compares it with that of the target branch.
func writeGitLab(w io.Writer, r Report, _ Style) error {
	out := newGuard(w)
	if err := writeArray(out, "", r.Review.Findings, newIssue); err != nil {
		return err
	}
	if _, err := io.WriteString(out, "\n"); err != nil {
		return err
	}
	return out.Flush()
}

func newIssue(f finding.Finding) issue {
	return issue{
		Description: strings.ToValidUTF8(f.Message, "\uFFFD"),
		CheckName:   f.RuleID,
		Fingerprint: issueFingerprint(f),
		Severity:    issueSeverity(f.Severity),
		Location: issueLocation{
			Path:  strings.ToValidUTF8(f.File, "\uFFFD"),
			Lines: issueLines{Begin: max(f.Line, 1), End: f.EndLine},
		},
	}
}

// issueFingerprint must be there, and differ from those of others.
func issueFingerprint(f finding.Finding) string {
	if f.Fingerprint != "" {
		return f.Fingerprint
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %d", f.RuleID, f.File, f.Line, f.Column))
	return hex.EncodeToString(sum[:16])
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
