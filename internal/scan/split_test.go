package scan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// A secret in several parts is one finding, and none of its parts is shown anywhere.
func TestSecretsInParts(t *testing.T) {
	t.Parallel()
	const key = "MIIEexampleFAKEkeyNOTreal0MIIEexampleFAKEkeyNOTreal0MIIEexampleF"
	rules, err := defaults.Load()
	require.NoError(t, err)
	rules = append(rules, regex("line", "."))
	for name, c := range map[string]struct {
		rule, text string
		parts      []string
	}{
		"a prefix apart": {
			"secrets/split-token", "f(\"ghp\x5F\" +\n\n    \"Ex4mple0Fake1Token2Ex4mple0Fake1Toke\")\n",
			[]string{"Ex4mple0", "Fake1Toke"},
		},
		"three parts": {
			"secrets/split-token", "f('xoxb\x2D123456789012-' \\\n  '345678901234-' \\\n  'Ex4mple0Fake1Token2Ex4mp')\n",
			[]string{"12345678", "34567890", "Ex4mple0", "Token2Ex4mp"},
		},
		"one part has the form of a whole one": {
			"secrets/split-token", "f(\"xoxb\x2DEx4mple0Fake1Token2Ex4mple0Fake1\" + \"9876Token5432Ex4mple\")\n",
			[]string{"Ex4mple0", "Token5432"},
		},
		"an id of AWS": {
			"secrets/split-token", "f(\"AKI\x41\" + \"5QW7EX4M\" + \"PLFAKE6Z\")\n", []string{"5QW7EX4M", "PLFAKE6Z"},
		},
		"parts with dots": {
			"secrets/split-token", "f(\"SG.\" + \"Ex4mpleFake0Token2Ex4m.Qz7Wy3Rn8Lc5Vd1Hg6Ks9Bt2Jp4Mx0FaQz7W\")\n",
			[]string{"Ex4mpleFake0", "Lc5Vd1Hg6Ks9"},
		},
		"a key of Google": {
			"secrets/split-token", "f(\"AIz\x61Ex4mple0Fake1To\" +\n\"ken2Ex4mple0Fake1Tok\")\n",
			[]string{"Ex4mple0", "ken2Ex4mple0"},
		},
		"lines of a private key": {
			"secrets/private-key-in-parts",
			"b.append(\"-----BEGIN RSA \x50RIVATE KEY-----\\n\");\nb.append(\"" + key + "\\n\");\nb.append(\"Token2Ex4m==\\n\");\n" +
				"b.append(\"-----END RSA PRIVATE KEY-----\");\n",
			[]string{"MIIEexample", "NOTreal0", "Token2Ex4m"},
		},
		"a private key in base64": {
			"secrets/base64-private-key",
			"key: |\n  LS0tLS1CRUdJT\x69BSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFZXhhbXBsZUZBS0VrZXlOT1RyZWFs\n" +
				"  MElJRWV4YW1wbGVGQUtFa2V5Tk9UcmVhbDBNSUlFZXhhbXBsZUYKTUlJRWV4YW1wbGVGQUtFa2V5\n  S0VZLS0tLS0K\nother: 1\n",
			[]string{"LS0tLS1C", "NSUlFZXhhbX", "MElJRWV4", "S0VZLS0t"},
		},
	} {
		got := run(t, &pull{files: []scan.File{file("a.js", c.text)}}, rules...)
		found := 0
		for _, f := range got.Findings {
			for _, part := range c.parts {
				assert.NotContains(t, f.Snippet, part, "%s: %s", name, f.RuleID)
			}
			if f.RuleID == c.rule {
				found++
			}
		}
		assert.Equal(t, 1, found, name)
		assert.Greater(t, len(got.Findings), 1, "the lines are shown, too: %s", name)
	}
}
