package scan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// What is no hit is not masked either, and one secret is one finding.
func TestConditionsAndSupersedes(t *testing.T) {
	t.Parallel()
	random := func(r *rule.Rule) {
		r.Conditions.Entropy = &match.Entropy{Group: 1}
		r.Supersedes = []string{"key"}
	}
	p := &pull{files: []scan.File{file("a", "key = tok_xxxxxxxxxxxxxxxx\nkey = tok_k3j9xq2mz8vl5nr7\n")}}
	got := run(t, p, regex("token", `tok_(\w+)`, redact, random), regex("key", "key", severity(rule.Low)))
	assert.Equal(t, []string{"a:1 custom/key", "a:2 custom/token"}, places(got))
	assert.Equal(t, "key = tok_xxxxxxxxxxxxxxxx", got.Findings[0].Snippet)
	assert.Equal(t, "key = ****", got.Findings[1].Snippet)
	assert.Equal(t, 2, got.Summary.AtLeast(rule.Info))
}
