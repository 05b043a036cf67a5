package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
)

func capTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"a capped organization never blocks others": cappedBlocksNobody,
		"freed capacity is used at once":            freedCapacity,
		"caps follow the last setting":              capsFollow,
	}
}

// setCaps declares organizations with the most of their reviews that may be in
// progress at once; 0 for no cap.
func setCaps(t *testing.T, h Harness, caps map[string]int) {
	t.Helper()
	var list []organization.Organization
	for name, most := range caps {
		o := organization.NewDefault()
		o.Name, o.MaxScans = name, most
		list = append(list, o)
	}
	declare(t, h.Store, list...)
}

func cappedBlocksNobody(t *testing.T, h Harness) {
	// Before it has any review, too.
	setCaps(t, h, map[string]int{"big": 2})
	createMany(t, h, "big", 200)
	createMany(t, h, "small", 30)
	got := map[string]int{}
	for range 32 {
		got[claim(t, h).Organization]++
		h.Clock.Advance(time.Second)
	}
	assert.Equal(t, map[string]int{"big": 2, "small": 30}, got)
	noClaim(t, h)
	create(t, h, "late", "rev_late")
	assert.Equal(t, "late", claim(t, h).Organization)
	noClaim(t, h)
}

func freedCapacity(t *testing.T, h Harness) {
	setCaps(t, h, map[string]int{acme: 1})
	createMany(t, h, acme, 10)
	failure := review.Failure{Code: "x", Message: "y"}
	endings := map[string]func(review.Claim) error{
		"complete": func(c review.Claim) error { return h.Store.Finish(t.Context(), c, finding.Result{}) },
		"failed":   func(c review.Claim) error { return h.Store.Fail(t.Context(), c, failure) },
		"retried":  func(c review.Claim) error { return h.Store.Retry(t.Context(), c, time.Hour) },
		"released": func(c review.Claim) error { return h.Store.Release(t.Context(), c, 0) },
		"canceled": func(c review.Claim) error {
			_, err := h.Store.CancelReview(t.Context(), c.Organization, c.ReviewID)
			return err
		},
		"reaped": func(review.Claim) error {
			h.Clock.Advance(lease)
			_, err := h.Store.ReapExpired(t.Context(), 10)
			return err
		},
	}
	for name, end := range endings {
		c := claim(t, h)
		noClaim(t, h)
		require.NoError(t, end(c), name)
	}
	claim(t, h)
	noClaim(t, h)
}

func capsFollow(t *testing.T, h Harness) {
	createMany(t, h, acme, 10)
	createMany(t, h, other, 1)
	setCaps(t, h, map[string]int{acme: 3, other: 0})
	for range 4 {
		claim(t, h)
	}
	noClaim(t, h)
	setCaps(t, h, map[string]int{acme: 3}) // again: nothing changes
	noClaim(t, h)

	setCaps(t, h, map[string]int{acme: 4}) // raised
	claim(t, h)
	noClaim(t, h)

	setCaps(t, h, map[string]int{acme: 2}) // lowered: what runs goes on
	noClaim(t, h)
	reviews := list(t, h, acme, review.Filter{Status: review.InProgress, Limit: 10})
	require.Len(t, reviews, 4)
	for i, r := range reviews {
		noClaim(t, h)
		require.NoError(t, h.Store.Finish(t.Context(), review.Claim{ReviewID: r.ID, Organization: acme, Attempt: 1},
			finding.Result{}))
		if i == 2 { // one runs, and may have one beside it
			claim(t, h)
		}
	}
	setCaps(t, h, map[string]int{acme: 0}) // removed
	for range 10 - 5 {
		claim(t, h)
	}
	noClaim(t, h)
}
