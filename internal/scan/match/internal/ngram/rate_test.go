package ngram

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/scan/match/internal/byteset"
)

func TestRateOrdersWindowsAsCodeDoes(t *testing.T) {
	t.Parallel()
	assert.Greater(t, RateOf([]byte("tion")), 20*RateOf([]byte("gtm_")))
	assert.Greater(t, RateOf([]byte("    ")), 20*RateOf([]byte("tion")))
	assert.Greater(t, Rate([]byteset.Set{byteset.Range('a', 'z')}), 100_000.0)
}
