package policy_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestParseWritesWhatItReads(t *testing.T) {
	t.Parallel()

	p, err := policy.Parse([]byte(`
disable: [quality/todo]
override:
  security/weak-hash: {severity: low, exclude: ["legacy/**"]}
locked:
  rules: [secrets/*, security/no-eval]
  rulesets: [custom]
suppression: {up_to: medium, require_end: false}
fail_on: medium
skips: {tolerated: []}
low_confidence: count
publish:
  comments_min: critical
  repositories:
    - {match: ["acme/old-*"], comments: none, comments_max: 3}
`))
	require.NoError(t, err)
	published, three := policy.DefaultPublish(), 3
	published.CommentsMin = "critical"
	published.For = []policy.ForOne{{Match: []string{"acme/old-*"}, Comments: policy.PublishNone, CommentsMax: &three}}
	assert.Equal(t, policy.Policy{
		Disable:  []string{"quality/todo"},
		Override: map[string]policy.Override{"security/weak-hash": {Severity: "low", Exclude: []string{"legacy/**"}}},
		Locked:   policy.Locked{Rules: []string{"secrets/*", "security/no-eval"}, Rulesets: []string{"custom"}},
		Suppression: policy.Suppression{
			Allowed: true, UpTo: "medium", RequireReason: true, MaxDays: policy.DefaultMaxDays,
		},
		FailOn: "medium", LowConfidence: policy.LowCounted,
		Skips: policy.Skips{Tolerated: []string{}}, Publish: published,
	}, p)

	again, err := policy.FromJSON(p.JSON())
	require.NoError(t, err)
	assert.Equal(t, p, again)
	again, err = policy.Parse(p.JSON())
	require.NoError(t, err, "JSON is YAML")
	assert.Equal(t, p, again)
	assert.True(t, p.Equal(again))
	assert.False(t, p.Equal(policy.Default()))

	none, err := policy.Parse([]byte("{}"))
	require.NoError(t, err)
	assert.Equal(t, policy.Default(), none)
	assert.Empty(t, none.DigestWith(""))
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"":                                       "the file is empty; write {}",
		"# nothing\n":                            "the file is empty; write {}",
		"[a]":                                    "line 1: the file: must be a mapping of keys to values",
		"disabled: [a]":                          "line 1: the file: unknown key \"disabled\"; did you mean `disable`?",
		"disable: a":                             "line 1: disable: must be a list",
		"disable: [{a: b}]":                      "line 1: disable[0]: must be a text; put it in quotes",
		"fail_on: low\nlocked: yes":              "line 2: locked: must be a mapping of keys to values",
		"locked: {rules: []}\nlocked: {}":        `line 2: the file: key "locked" is there twice`,
		"override:\n  a/b: {severity: [a]}":      "line 2: override.a/b.severity: must be a text",
		"override:\n  a/b: {sevrity: low}":       "line 2: override.a/b: unknown key \"sevrity\"; did you mean `severity`?",
		"suppression:\n  allowed: perhaps":       "line 2: suppression.allowed: must be true or false",
		"suppression:\n  max_days: ten":          "line 2: suppression.max_days: must be a whole number",
		"fail_on: low\nskips: {tolerated: [x]}":  "line 2: skips.tolerated[0]: must be one of binary",
		"disable: &a [b/c]":                      "anchors and aliases are not allowed",
		"disable: [a]\n---\ndisable: [b]":        "more than one YAML document",
		"disable: [A]":                           "disable[0]: an id must not have 'A'",
		"disable: [a/b, a/b]":                    "disable[1]: is there twice",
		"disable: [a/b]\nlocked: {rules: [a/*]}": "disable[0]: a/b is locked too",
		"locked: {rules: ['*']}":                 "locked.rules[0]: an id must not have '*'",
		"locked: {rules: ['*/a']}":               "locked.rules[0]: an id must not have '*'",
		"locked: {rulesets: [acme/shop]}":        "locked.rulesets[0]: must be one of default, custom",
		"override: {a/b: {severity: hgih}}":      "override.a/b.severity: is not a severity",
		"override: {a/b: {}}":                    "override.a/b: changes nothing",
		"override: {a/b: {exclude: ['[']}}":      "override.a/b.exclude[0]",
		"fail_on: never":                         "fail_on: is not a severity",
		"suppression: {up_to: none}":             "suppression.up_to: is not a severity",
		"suppression: {up_to: ''}":               "suppression.up_to: is required",
		"suppression: {max_days: -1}":            "suppression.max_days: must be from 1 to 3660",
		"low_confidence: show":                   "low_confidence: must be hide or count",
		"skips: {tolerated: [boring]}":           "skips.tolerated[0]: must be one of binary",
	} {
		_, err := policy.Parse([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

func TestCheckKnown(t *testing.T) {
	t.Parallel()

	p := policy.Policy{Disable: []string{"a/b", "c"}, Override: map[string]policy.Override{"d/e": {Severity: "low"}}}
	err := p.CheckKnown(func(id string) bool { return id == "a/b" })
	var invalid *errs.Error
	require.True(t, errors.As(err, &invalid))
	assert.Len(t, invalid.Fields, 2)
	assert.NoError(t, p.CheckKnown(func(string) bool { return true }))
}

func TestTheStricterThresholdHolds(t *testing.T) {
	t.Parallel()

	p := policy.Policy{FailOn: "high"}
	assert.Equal(t, rule.High, p.Threshold(rule.Critical))
	assert.Equal(t, rule.Low, p.Threshold(rule.Low))
	assert.Equal(t, rule.High, p.Threshold(0))
	assert.Equal(t, rule.Critical, policy.Default().Threshold(rule.Critical))
	assert.Zero(t, policy.Default().Threshold(0))
}

func TestTolerates(t *testing.T) {
	t.Parallel()

	assert.True(t, policy.Default().Tolerates(finding.SkipBinary))
	assert.True(t, policy.Default().Tolerates(finding.SkipSubmodule))
	assert.False(t, policy.Default().Tolerates(finding.SkipFileTooLarge))
	assert.False(t, policy.Default().Tolerates("something new"))
}

func TestMaySuppress(t *testing.T) {
	t.Parallel()

	const today = "2026-11-23"
	good := finding.Suppression{Reason: "checked", Until: "2027-01-31"}
	high := rule.Rule{ID: "security/no-eval", Severity: rule.High, Origin: rule.OriginDefault}
	for name, c := range map[string]struct {
		change func(*policy.Policy)
		rule   rule.Rule
		by     finding.Suppression
		want   string // "" when it may
	}{
		"high":     {rule: high, by: good},
		"low":      {rule: rule.Rule{ID: "x", Severity: rule.Low}, by: good},
		"critical": {rule: rule.Rule{ID: "x", Severity: rule.Critical}, by: good, want: "custom/x is critical"},
		"critical allowed": {
			change: func(p *policy.Policy) { p.Suppression.UpTo = "critical" },
			rule:   rule.Rule{ID: "x", Severity: rule.Critical}, by: good,
		},
		"secret":   {rule: rule.Rule{ID: "secrets/x", Severity: rule.Low}, by: good, want: "finds secrets"},
		"redacted": {rule: rule.Rule{ID: "x", Severity: rule.Low, Redact: true}, by: good, want: "finds secrets"},
		"secret allowed": {
			change: func(p *policy.Policy) { p.Suppression.Secrets = true },
			rule:   rule.Rule{ID: "secrets/x", Severity: rule.Low, Redact: true}, by: good,
		},
		"nothing allowed": {
			change: func(p *policy.Policy) { p.Suppression.Allowed = false },
			rule:   high, by: good, want: "allows nobody",
		},
		"locked id": {
			change: func(p *policy.Policy) { p.Locked.Rules = []string{"security/no-eval"} },
			rule:   high, by: good, want: "has locked security/no-eval",
		},
		"locked category": {
			change: func(p *policy.Policy) { p.Locked.Rules = []string{"security/*"} },
			rule:   high, by: good, want: "has locked",
		},
		"another category": {
			change: func(p *policy.Policy) { p.Locked.Rules = []string{"secur/*", "security/no"} },
			rule:   high, by: good,
		},
		"locked ruleset": {
			change: func(p *policy.Policy) { p.Locked.Rulesets = []string{"default"} },
			rule:   high, by: good, want: "has locked",
		},
		"another ruleset": {
			change: func(p *policy.Policy) { p.Locked.Rulesets = []string{"custom"} }, rule: high, by: good,
		},
		"no reason": {rule: high, by: finding.Suppression{Until: good.Until}, want: "gives no reason"},
		"no end":    {rule: high, by: finding.Suppression{Reason: "checked"}, want: "has no end"},
		"neither required": {
			change: func(p *policy.Policy) { p.Suppression.RequireReason, p.Suppression.RequireEnd = false, false },
			rule:   high, by: finding.Suppression{},
		},
		"end too far away": {
			rule: high, by: finding.Suppression{Reason: "checked", Until: "2027-11-25"},
			want: "the last day that is allowed here is 2027-11-24",
		},
		"last day": {rule: high, by: finding.Suppression{Reason: "checked", Until: "2027-11-24"}},
		"no bound of the end": {
			change: func(p *policy.Policy) { p.Suppression.MaxDays = 0 },
			rule:   high, by: finding.Suppression{Reason: "checked", Until: "2999-01-01"},
		},
	} {
		p := policy.Default()
		if c.change != nil {
			c.change(&p)
		}
		err := p.MaySuppress()(c.rule, c.by, today)
		if c.want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, c.want, name)
		}
	}
}

func TestDigestIsOfWhatDecidesResults(t *testing.T) {
	t.Parallel()

	digests := map[string]bool{"": true}
	for _, text := range []string{
		"locked: {rules: [a/b]}", "locked: {rules: [a/c]}", "locked: {rulesets: [default]}", "disable: [a/b]",
		"suppression: {up_to: low}", "suppression: {secrets: true}", "suppression: {require_reason: false}",
	} {
		p, err := policy.Parse([]byte(text))
		require.NoError(t, err)
		assert.False(t, digests[p.DigestWith("")], text)
		digests[p.DigestWith("")] = true
	}

	p, err := policy.Parse([]byte("fail_on: low\nskips: {tolerated: []}"))
	require.NoError(t, err)
	assert.Empty(t, p.DigestWith(""), "the verdict is made of the results")

	one, err := policy.Parse([]byte("locked: {rules: [a/b, a/c]}"))
	require.NoError(t, err)
	other, err := policy.Parse([]byte("locked: {rules: [a/c, a/b]}"))
	require.NoError(t, err)
	assert.Equal(t, one.DigestWith(""), other.DigestWith(""))
	assert.Equal(t, one.ETag(), other.ETag())
}
