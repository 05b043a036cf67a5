package auth_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
)

func TestNewTokenHasTheDocumentedForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^prw_[0-9A-Za-z]{36}$`)
	seen := map[string]bool{}
	for range 1000 {
		token := auth.NewToken()
		require.Regexp(t, form, token)
		require.True(t, auth.WellFormed(token), token)
		require.False(t, seen[token], "the same token twice")
		seen[token] = true
	}
}

func TestWellFormedRefusesEveryTypo(t *testing.T) {
	t.Parallel()
	token := auth.NewToken()
	for i := range len(token) {
		for _, c := range []byte{'0', 'z', '_', ' ', 0xff} {
			if token[i] == c {
				continue
			}
			typo := token[:i] + string([]byte{c}) + token[i+1:]
			assert.False(t, auth.WellFormed(typo), "%s for %s", typo, token)
		}
	}
	for i := 4; i < len(token)-1; i++ {
		if token[i] == token[i+1] {
			continue
		}
		swapped := token[:i] + string(token[i+1]) + string(token[i]) + token[i+2:]
		assert.False(t, auth.WellFormed(swapped), "%s for %s", swapped, token)
	}
	for _, bad := range []string{"", "prw_", token + "0", token[:len(token)-1], strings.ToUpper(token), " " + token} {
		assert.False(t, auth.WellFormed(bad), bad)
	}
}

// The checksum is part of the contract: other programs recognise tokens by it.
func TestChecksumStaysAsItIs(t *testing.T) {
	t.Parallel()
	assert.True(t, auth.WellFormed("prw_000000000000000000000000000000"+"2C8GjS"))
}

func FuzzWellFormed(f *testing.F) {
	f.Add(auth.NewToken())
	f.Add("prw_")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if auth.WellFormed(s) {
			assert.Len(t, s, 40)
			assert.True(t, strings.HasPrefix(s, "prw_"))
		}
	})
}

func TestMaskTokens(t *testing.T) {
	t.Parallel()
	a, b := auth.NewToken(), auth.NewToken()
	for text, want := range map[string]string{
		"":                                "",
		"/v1/reviews/rev_1":               "/v1/reviews/rev_1",
		"/v1/reviews/" + a:                "/v1/reviews/prw_***",
		"/" + a + "/" + b + ":x":          "/prw_***/prw_***:x",
		"mistyped " + a[:20] + " and end": "mistyped prw_*** and end",
		"prw_":                            "prw_***",
		a + a + "-":                       "prw_***-",
	} {
		assert.Equal(t, want, auth.MaskTokens(text), text)
	}
}
