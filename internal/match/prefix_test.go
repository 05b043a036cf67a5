package match_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

func TestFixedPrefix(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`: true,
		`-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----`: true,
		`(?i)ghp_[a-z]+`:              true,
		`^(token)+=`:                  true,
		`(?:ab){2}c*`:                 true,
		`(?:ab){2,}`:                  true,
		`(?:ab){1,2}xy`:               false,
		`abc`:                         false,
		`abc|defgh`:                   false,
		`x*abcdef`:                    false,
		`(?:abcdef)?gh`:               false,
		`[A-Za-z]abcdef`:              false,
		`"d"\s*:`:                     false,
		`(?:sk|rk)_live_[0-9a-z]{20}`: true,
	} {
		m, err := match.Compile([]match.Rule{{Pattern: pattern}})
		require.NoError(t, err)
		assert.Equal(t, want, m.NewSession(match.Limit{}, nil).FixedPrefix(0), pattern)
	}
}
