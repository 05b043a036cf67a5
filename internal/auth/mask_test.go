package auth_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/auth"
)

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
