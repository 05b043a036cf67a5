// Package quickest measures for tests on machines that have other things to do.
package quickest

import (
	"math"
	"time"
)

// Of does something until that takes less than limit, three times at most, and
// returns the least time that it took: during one of them the machine may have
// other things to do.
func Of(limit time.Duration, do func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		do()
		if least = min(least, time.Since(start)); least < limit {
			break
		}
	}
	return least
}
