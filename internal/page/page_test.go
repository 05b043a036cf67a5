package page_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/page"
)

func TestTokenBelongsToItsFilters(t *testing.T) {
	t.Parallel()
	token := page.Token("a.b", "x", "y")
	place, ok := page.Place(token, "x", "y")
	assert.True(t, ok)
	assert.Equal(t, "a.b", place)

	for _, filters := range [][]string{{"x"}, {"xy"}, {"x", "z"}, nil} {
		_, ok = page.Place(token, filters...)
		assert.False(t, ok, "%q", filters)
	}
	for _, odd := range []string{"", "!", "e30", token[1:], page.Token("\xff", "x", "y"), page.Token("a\x00", "x", "y")} {
		_, ok = page.Place(odd, "x", "y")
		assert.False(t, ok, odd)
	}
}
