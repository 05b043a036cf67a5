package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

// strict is a policy with something in every field.
func strict() policy.Policy {
	p := policy.Default()
	p.Disable = []string{"hygiene/todo"}
	p.Override = map[string]policy.Override{"security/x": {Severity: "low", Exclude: []string{"a/**", "ü'\""}}}
	p.Locked = policy.Locked{Rules: []string{"secrets/*"}, Rulesets: []string{"custom"}}
	p.FailOn, p.Skips.Tolerated = "medium", []string{}
	p.LowConfidence = policy.LowCounted

	return p
}

func setPolicy(t *testing.T, h Harness, org string, p policy.Policy, etag string) policy.Stored {
	t.Helper()
	out, err := h.Store.SetPolicy(t.Context(), org, p, etag)
	require.NoError(t, err)

	return out
}

func policyEvents(t *testing.T, h Harness, org string) []audit.Event {
	t.Helper()
	events, err := h.Store.Events(t.Context(), org, audit.Filter{Action: audit.PolicyUpdate, Limit: 100})
	require.NoError(t, err)

	return events
}

func storedPolicy(t *testing.T, h Harness) {
	read := func() policy.Stored {
		out, err := h.Store.ReadPolicy(t.Context(), acme)
		require.NoError(t, err)

		return out
	}
	assert.Equal(t, policy.Stored{Policy: policy.Default()}, read())

	want := policy.Stored{Policy: strict(), UpdatedAt: h.Clock.Stored(), UpdatedBy: "system"}
	assert.Equal(t, want, setPolicy(t, h, acme, strict(), ""))
	assert.Equal(t, want, read())

	h.Clock.Advance(time.Hour)
	assert.Equal(t, want, setPolicy(t, h, acme, strict(), want.ETag()), "nothing changes")
	require.Len(t, policyEvents(t, h, acme), 1)

	again := setPolicy(t, h, acme, policy.Default(), want.ETag())
	assert.Equal(t, h.Clock.Stored(), again.UpdatedAt)
	assert.Equal(t, again, read())
	events := policyEvents(t, h, acme)
	require.Len(t, events, 2)
	assert.Contains(t, events[0].Fields, audit.Field{Name: "fail_on", Before: "medium"})
	assert.Contains(t, events[0].Fields, audit.Field{Name: "locked.rules", Before: "secrets/*"})
}

func policiesApart(t *testing.T, h Harness) {
	setPolicy(t, h, acme, strict(), "")
	got, err := h.Store.ReadPolicy(t.Context(), other)
	require.NoError(t, err)
	assert.Equal(t, policy.Stored{Policy: policy.Default()}, got)
	assert.Empty(t, policyEvents(t, h, other))
}

func policyEtag(t *testing.T, h Harness) {
	setPolicy(t, h, acme, strict(), policy.Default().ETag())
	_, err := h.Store.SetPolicy(t.Context(), acme, policy.Default(), policy.Default().ETag())
	wantError(t, err, errs.Aborted, errs.ReasonEtagMismatch)
	got, err := h.Store.ReadPolicy(t.Context(), acme)
	require.NoError(t, err)
	assert.Equal(t, strict(), got.Policy)
	assert.Len(t, policyEvents(t, h, acme), 1)
}

// The threshold that the verdict was decided by goes before the one of the request.
func keptThreshold(t *testing.T, h Harness) {
	o := outcome(1)
	o.Judge(rule.Low, policy.Default().Tolerates)
	r := finish(t, h, "rev_a", o)
	assert.Equal(t, rule.Low, r.FailOn)
	assert.Equal(t, rule.Low, r.Verdict.Threshold)
}
