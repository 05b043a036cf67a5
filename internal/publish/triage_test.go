package publish

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

// What somebody has set aside is not pointed at any more, and its comment is closed.
func TestWantWithoutWhatIsSetAside(t *testing.T) {
	t.Parallel()
	r := completed(aFinding(1, rule.High), aFinding(2, rule.Low))
	r.Findings[0].Triage = &finding.Triage{
		Decision: finding.Accepted, Reason: "our own @build <b>", Until: "2027-01-31", By: "host:github/ann",
		Scope: finding.InPullRequest,
	}
	r.Verdict.Outcome = finding.Pass
	want := Want(pullRequestAt(headSHA), r, policy.DefaultPublish(), toReview, codehost.Limits{})

	assert.Equal(t, codehost.Success, want.Check.Verdict)
	assert.Equal(t, "Pass: 1 finding, none high or worse; 1 set aside", want.Check.Title)
	assert.Len(t, want.Annotations, 1)
	assert.NotContains(t, want.Talk.Present, r.Findings[0].Fingerprint)
	assert.Empty(t, want.Talk.New)
	closing := want.Talk.Closing(Thread{Fingerprint: r.Findings[0].Fingerprint})
	assert.Equal(t, "**Set aside** as accepted by `host:github/ann`, at `89abcdef0123`.", closing)
	assert.Contains(t, want.Check.Summary, "Set aside:\n- `src/a1.go:1` `security/rule-1`: accepted by `host:github/ann`")
	assert.NotContains(t, want.Check.Summary, "@build")
	assert.NotContains(t, want.Check.Summary, "<b>")

	r.Findings[1].Triage = r.Findings[0].Triage
	want = Want(pullRequestAt(headSHA), r, policy.DefaultPublish(), toReview, codehost.Limits{})
	assert.Equal(t, "Pass: no findings; 2 set aside", want.Check.Title)
	r.Verdict.Outcome, r.Findings[0].Triage = finding.Fail, nil
	want = Want(pullRequestAt(headSHA), r, policy.DefaultPublish(), toReview, codehost.Limits{})
	assert.Equal(t, "Fail: 1 finding high or worse; 1 set aside", want.Check.Title)
}
