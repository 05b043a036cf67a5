package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
)

func TestPlansShowValues(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.WriteFile(file, []byte(`version: 1
rules:
  - {id: a, type: regex, pattern: '##vso[b]', message: "`+strings.Repeat("Say it. ", 20)+`Twice.", severity: high, enabled: false,
     languages: [`+strings.Repeat("go, python, ", 4)+`rust]}
`), 0o600))
	plan := `{"changes": [
		{"id": "custom/a", "action": "update", "fields": ["enabled", "languages", "message", "pattern", "severity"]},
		{"id": "custom/b", "action": "delete"}], "updated": 1, "deleted": 1, "etag": "2"}`
	stored := `{"rules": [{"id": "a", "type": "regex", "pattern": "a", "severity": "low",
		"message": "` + strings.Repeat("Say it. ", 20) + `Once."}]}`
	c, asked := answering(t, plan, stored)
	st, out, _ := streams()
	require.NoError(t, cli.PushRules(t.Context(), st, c, cli.RulesPushInput{File: file, DryRun: true}))
	assert.Equal(t, `~ custom/a
    enabled: default -> false
    languages: default -> ["go","python","go","python","go","python","go","python","r…
    message: …it. Say it. Say it. Once. -> …it. Say it. Say it. Twice.
    pattern: a -> ##vso\x5bb]
    severity: low -> high
- custom/b
0 to create, 1 to change, 1 to delete, 0 unchanged.
`, out.String())
	require.Len(t, *asked, 2)
	assert.Contains(t, (*asked)[0], `"pattern":"##vso[b]"`)
}

func TestListRules(t *testing.T) {
	t.Parallel()
	stored := `{"rules": [
		{"id": "a", "severity": "low", "confidence": "low", "mode": "observe", "enabled": true, "scope": "org", "updated_at": "2026-11-20T14:04:42.5Z",
			"updated_by": "key:key_1"},
		{"id": "b", "severity": "high", "mode": "enforce", "enabled": false, "scope": "org",
			"updated_at": "2026-11-20T14:04:42Z", "updated_by": "key:key_1"},
		{"id": "style/c", "severity": "high", "mode": "enforce", "scope": "repo", "repo": "acme/shop",
			"updated_at": "2026-11-20T14:04:42Z", "updated_by": "key:\u001b"}]}`
	list := func(in cli.RuleListInput) (string, error) {
		c, _ := answering(t, stored)
		st, out, _ := streams()
		err := cli.ListRules(t.Context(), st, c, in)
		return out.String(), err
	}
	text, err := list(cli.RuleListInput{Output: "text"})
	require.NoError(t, err)
	assert.Equal(t, `RULE      SEVERITY  CONFIDENCE  MODE     REPOSITORY  CHANGED              BY
custom/a  low       low         observe  all         2026-11-20 14:04:42  key:key_1
custom/b  high      medium      off      all         2026-11-20 14:04:42  key:key_1
style/c   high      medium      enforce  acme/shop   2026-11-20 14:04:42  key:\x1b
`, text)

	text, err = list(cli.RuleListInput{Severity: "high", Category: "custom", Output: cli.OutputJSON})
	require.NoError(t, err)
	assert.JSONEq(t, `{"rules": [{"id": "b", "type": "", "message": "", "severity": "high", "mode": "enforce",
		"enabled": false, "scope": "org", "updated_at": "2026-11-20T14:04:42Z", "updated_by": "key:key_1"}]}`, text)

	_, err = list(cli.RuleListInput{Severity: "bad"})
	assert.ErrorContains(t, err, "--severity")
	_, err = list(cli.RuleListInput{Output: "table"})
	assert.ErrorContains(t, err, "--output")
}
