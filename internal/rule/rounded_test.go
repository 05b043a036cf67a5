package rule

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRounded(t *testing.T) {
	t.Parallel()
	for want, x := range map[string]float64{
		"0": 0.4, "1": 0.5, "15": 15.3, "100": 99.6, "150": 154.4, "160": 155, "1,000": 999.9, "1,200": 1234,
		"99,000": 99_499, "100,000": 99_500, "1,200,000": 1_234_567,
	} {
		assert.Equal(t, want, grouped(rounded(x)), x)
	}
}
