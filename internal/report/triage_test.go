package report_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
)

// What somebody has set aside fails nothing in any format, and each says so.
func TestSetAside(t *testing.T) {
	t.Parallel()
	f := secret()
	f.Triage = &finding.Triage{
		Decision: finding.FalsePositive, Reason: "a\x1b sample.", Until: "2027-01-31", By: "key:key_a",
		At: time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC), Scope: finding.InRepository,
	}
	r := complete(f)
	r.FailOn = rule.High
	require.Equal(t, finding.Pass, r.Outcome())
	assert.Equal(t, "Passed: no finding that counts is high or worse.", r.Verdict())
	const by = "a false positive by key:key_a until 2027-01-31: a"

	table := write(t, r, report.Table, report.Style{Width: 100})
	assert.Contains(t, table, "  set aside\n")
	assert.Contains(t, table, "Set aside, "+by)
	harmless(t, table, false)
	assert.Contains(t, write(t, r, report.GitHub, report.Style{}), "::notice file=deploy/config.py")
	assert.NotContains(t, write(t, r, report.GitHub, report.Style{}), "::error")

	junit := write(t, r, report.JUnit, report.Style{})
	checkJUnit(t, junit)
	assert.Contains(t, junit, `failures="0"`)
	assert.Contains(t, junit, "critical, set aside, "+by)
	gitlab := write(t, r, report.GitLab, report.Style{})
	checkGitLab(t, gitlab)
	var issues []map[string]any
	require.NoError(t, json.Unmarshal([]byte(gitlab), &issues))
	assert.Equal(t, "info", issues[0]["severity"])

	r.Review.Findings = append(r.Review.Findings, query())
	r.Review.Summary[rule.High]++
	assert.Equal(t, finding.Fail, r.Outcome())
	assert.Equal(t, "Failed: 1 finding is high or worse.", r.Verdict())
}
