package match_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match"
)

// The tokens are made up; Python's zlib computed their checksums. One character of each is
// escaped, so that the secret scanners of hosting sites don't take them for leaks.
func TestHasChecksum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, token string
		want        bool
	}{
		{"github", "ghp\x5FExample0Fake1Token2Example0Fak4f058y", true},
		{"github", "npm\x5FExample0Fake1Token2Example0Fak4f058y", true},
		{"github", "ghr\x5FExample0Fake1Token2Example0Fake1Token2Example0Fake1Token2Example0Fake11iXf4v", true},
		{"github", "ghp\x5FExample0Fake1Token2Example011600O9kG", true}, // a zero in front
		{"github", "ghp\x5FExample0Fake1Token2Example0116O9kG", false},
		{"github", "ghp\x5FExample0Fake1Token2Example0Fak4f058Y", false},
		{"github", "ghp\x5FExampleOFake1Token2Example0Fak4f058y", false},
		{"github", "ghp\x5F000000", false}, // nothing that it could be the checksum of
		{"github", "", false},
		{"github", "a_", false},

		{"gitlab", "glpat\x2DExample0Fake1Token2Example0Fake1.01.0w1ndmdm1", true},
		{"gitlab", "glpat\x2DExample0Fake1Token2Example0Fake1.0w0ee4tvd", true},
		{"gitlab", "glpat\x2DExample0Fake1Token2Example0Fa015.01.0w00vel7x", true}, // a zero in front
		{"gitlab", "glpat\x2DExample0Fake1Token2Example0Fake1.01.0w1NDMDM1", false},
		{"gitlab", "gldt\x2DExample0Fake1Token2Example0Fake1.01.0w1ndmdm1", false}, // the prefix counts
		{"gitlab", "0000000", false},
		{"gitlab", "", false},

		{"grafana", "glsa\x5FExample0Fake1Token2Example0Fake1_4ada3af4", true},
		{"grafana", "glsa\x5FExample0Fake1Token2Example0Fake1_4ADA3AF4", false},
		{"grafana", "glsa\x5FExample0Fake1Token2Example0Fake1_f43ada4a", false}, // its highest byte first
		{"grafana", "glsa\x5FExample0Fake1Token2Example0Fake14ada3af4", false},
		{"grafana", "", false},

		{"unknown", "ghp\x5FExample0Fake1Token2Example0Fak4f058y", false},
	} {
		assert.Equal(t, c.want, match.HasChecksum(c.name, []byte(c.token)), "%s: %s", c.name, c.token)
	}
	assert.Equal(t, []string{"github", "gitlab", "grafana"}, match.Checksums())
}
