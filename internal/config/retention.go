package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Retention says how long is kept what is not needed any more.
type Retention struct {
	KeepReviews Age `koanf:"keep_reviews"` // after they ended; 0 for ever
}

// Bounds of keep_reviews. An idempotency key is answered with its review for
// 24 hours, so the review is there for as long.
const (
	minKeepReviews = Age(24 * time.Hour)
	maxKeepReviews = 36_500 * day
)

func (r Retention) settings() []Setting {
	return []Setting{{
		Key: "keep_reviews", Commands: Serve, Value: "AGE", Default: "for ever",
		Usage: "How long reviews are kept after they ended, such as 90d or 36h; at least\n24h. Older ones are deleted " +
			"with their findings.",
	}}
}

func (r Retention) validate(ps *Problems) {
	if r.KeepReviews != 0 && (r.KeepReviews < minKeepReviews || r.KeepReviews > maxKeepReviews) {
		ps.add(
			"keep_reviews", "%v is not allowed; it must be 0, which is for ever, or from %v to %v", r.KeepReviews,
			minKeepReviews, maxKeepReviews,
		)
	}
}

// Age is a time that is counted in hours or days of 24 hours.
type Age time.Duration

const day = Age(24 * time.Hour)

// String writes a in days when it is whole days, and else in hours.
func (a Age) String() string {
	if a%day == 0 {
		return strconv.FormatInt(int64(a/day), 10) + "d"
	}
	return strconv.FormatInt(int64(a/Age(time.Hour)), 10) + "h"
}

// ParseAge reads a whole number of hours or days, such as 36h or 90d, and 0.
func ParseAge(text string) (Age, error) {
	if text == "0" {
		return 0, nil
	}
	for suffix, unit := range map[string]Age{"h": Age(time.Hour), "d": day} {
		digits, ok := strings.CutSuffix(text, suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || Age(n) > maxKeepReviews/unit {
			break
		}
		return Age(n) * unit, nil
	}
	return 0, fmt.Errorf(
		"%q is not an age; write a whole number of days or hours, such as 90d or 36h, at most %v", text, maxKeepReviews,
	)
}
