package prwarden

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
)

// Pauses grow up to the longest, however many attempts there may be.
func TestPauseAfter(t *testing.T) {
	t.Parallel()
	for _, attempt := range []int{1, 2, 5, 6, 7, 35, 36, 64, 1000} {
		longest := longestPause
		if attempt < 6 {
			longest = firstPause << (attempt - 1)
		}
		pause, again := pauseAfter(&Error{Code: codes.Unavailable}, "/prwarden.v1.ReviewService/GetReview", attempt)
		assert.True(t, again, attempt)
		assert.GreaterOrEqual(t, pause, longest/2, attempt)
		assert.LessOrEqual(t, pause, longest, attempt)
	}
}
