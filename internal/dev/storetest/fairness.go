package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
)

func oldestFirst(t *testing.T, h Harness) {
	// Of one organization, with equal times by id.
	create(t, h, acme, "rev_b")
	create(t, h, acme, "rev_a")
	h.Clock.Advance(time.Microsecond)
	create(t, h, acme, "rev_0")

	for _, want := range []string{"rev_a", "rev_b", "rev_0"} {
		assert.Equal(t, want, claim(t, h).ReviewID)
	}

	// Of organizations that are equal otherwise.
	for i, org := range []string{"m", "z", "a"} {
		create(t, h, org, fmt.Sprintf("rev_n%d", i))
		h.Clock.Advance(time.Microsecond)
	}
	for _, want := range []string{"m", "z", "a"} {
		assert.Equal(t, want, claim(t, h).Organization)
	}
}

func fewestRunning(t *testing.T, h Harness) {
	createMany(t, h, acme, 5)
	createMany(t, h, other, 5)
	running := map[string][]review.Claim{}
	next := func() string {
		t.Helper()
		c := claim(t, h)
		h.Clock.Advance(time.Millisecond) // nobody has to doubt that its worker lives
		running[c.Organization] = append(running[c.Organization], c)
		return c.Organization
	}
	for range 2 {
		assert.Equal(t, acme, next())
		assert.Equal(t, other, next())
	}

	// acme was served longer ago and has older reviews, but other has fewer
	// running now.
	require.NoError(t, h.Store.Finish(t.Context(), running[other][0], finding.Result{}))
	assert.Equal(t, other, next())
	require.NoError(t, h.Store.Finish(t.Context(), running[other][1], finding.Result{}))
	require.NoError(t, h.Store.Finish(t.Context(), running[other][2], finding.Result{}))
	assert.Equal(t, other, next())
	assert.Equal(t, other, next())
	assert.Equal(t, acme, next())
}

func leastRecently(t *testing.T, h Harness) {
	orgs := []string{"a", "b", "c"}
	for _, org := range orgs {
		createMany(t, h, org, 4)
	}

	// One worker: nothing runs when it claims, so it goes round.
	var got []string
	for range 9 {
		c := claim(t, h)
		got = append(got, c.Organization)
		h.Clock.Advance(time.Second)
		require.NoError(t, h.Store.Finish(t.Context(), c, finding.Result{}))
	}
	assert.Equal(t, []string{"a", "b", "c", "a", "b", "c", "a", "b", "c"}, got)

	// One that was never served is before all.
	create(t, h, "new", "rev_new")
	assert.Equal(t, "new", claim(t, h).Organization)
}

func longQueue(t *testing.T, h Harness) {
	const workers, long = 3, 200
	createMany(t, h, "big", long)
	var running []review.Claim
	work := func() string {
		t.Helper()
		if len(running) == workers {
			require.NoError(t, h.Store.Finish(t.Context(), running[0], finding.Result{}))
			running = running[1:]
		}
		c := claim(t, h)
		h.Clock.Advance(time.Second)
		running = append(running, c)
		return c.Organization
	}
	for range 10 {
		require.Equal(t, "big", work())
	}
	for i := range 20 {
		// Every worker is busy with big's. The next one to be free takes it.
		create(t, h, "small", fmt.Sprintf("rev_small%d", i))
		require.Equal(t, "small", work(), "round %d", i)

		for range workers {
			require.Equal(t, "big", work())
		}
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
	var claims []review.Claim
	allows := func(n int) {
		t.Helper()
		for range n {
			claims = append(claims, claim(t, h))
		}
		noClaim(t, h)
	}
	setCaps(t, h, map[string]int{acme: 3})
	allows(3)
	declare(t, h.Store) // a file that no longer names one leaves its cap
	allows(0)
	setCaps(t, h, map[string]int{acme: 4}) // raised
	allows(1)

	setCaps(t, h, map[string]int{acme: 2}) // lowered: what runs goes on
	for i, c := range claims[:3] {
		allows(0)
		require.NoError(t, h.Store.Finish(t.Context(), c, finding.Result{}))
		if i == 2 { // one runs, and may have one beside it
			allows(1)
		}
	}
	setCaps(t, h, map[string]int{acme: 0}) // removed
	allows(10 - 5)
}

// finishSized ends a claimed review whose scan looked at so many bytes.
func finishSized(t *testing.T, h Harness, c review.Claim, bytes int64) {
	t.Helper()
	require.NoError(t, h.Store.Finish(t.Context(), c, finding.Result{Bytes: bytes}))
}

// claimExcept claims a review of another organization; "" when there is none.
func claimExcept(t *testing.T, h Harness, org string) string {
	t.Helper()
	c, err := h.Store.Claim(t.Context(), review.Claiming{Worker: "worker", Lease: lease, Except: org})
	require.NoError(t, err)
	if c == nil {
		return ""
	}

	return c.Organization
}

func lowAfterNormal(t *testing.T, h Harness) {
	for i := range 3 {
		n := newReview(acme, fmt.Sprintf("rev_low%d", i))
		n.Priority = review.Low
		accept(t, h, n)
		h.Clock.Advance(time.Microsecond)
	}
	createMany(t, h, acme, 2)
	large := newReview(acme, "rev_large")
	large.Large = true
	accept(t, h, large)
	assert.Equal(t, review.Low, state(t, h, acme, "rev_low0").Priority)
	assert.Equal(t, review.Normal, state(t, h, acme, "rev_large").Priority)

	for _, want := range []string{"rev_acme_00000", "rev_acme_00001", "rev_large", "rev_low0", "rev_low1"} {
		c := claim(t, h)
		assert.Equal(t, want, c.ReviewID)
		finishSized(t, h, c, 0)
	}
	create(t, h, acme, "rev_late")
	assert.Equal(t, "rev_late", claim(t, h).ReviewID)

	// Between organizations a low review is like any other.
	create(t, h, other, "rev_other")
	require.NoError(t, h.Store.Finish(t.Context(), claim(t, h), finding.Result{}))
	h.Clock.Advance(time.Second)
	createMany(t, h, "third", 1)
	assert.Equal(t, "third", claim(t, h).Organization)
	createMany(t, h, other, 1)
	assert.Equal(t, other, claim(t, h).Organization, "the fewest run")
	assert.Equal(t, "rev_low2", claim(t, h).ReviewID)
}

func largeYields(t *testing.T, h Harness) {
	large := func(org, id string) {
		n := newReview(org, id)
		n.Large = true
		accept(t, h, n)
		h.Clock.Advance(time.Microsecond)
	}
	large("a", "rev_a_large")
	large("b", "rev_b_large")
	create(t, h, "b", "rev_b")
	createMany(t, h, "c", 3)

	// Small ones go first, within an organization and between them, however many
	// run.
	got := map[string]bool{}
	for range 4 {
		got[claim(t, h).ReviewID] = true
	}
	assert.Equal(t, map[string]bool{"rev_b": true, "rev_c_00000": true, "rev_c_00001": true, "rev_c_00002": true}, got)

	// Nobody else waits.
	assert.Equal(t, "rev_a_large", claim(t, h).ReviewID)

	// After a while it yields no more.
	h.Clock.Advance(review.LargeDelay)
	createMany(t, h, "b", 1)
	assert.Equal(t, "rev_b_large", claim(t, h).ReviewID)
}

func knownSizes(t *testing.T, h Harness) {
	size := func() int64 {
		t.Helper()
		l, err := h.Store.Load(t.Context(), acme, repo)
		require.NoError(t, err)
		return l.Bytes
	}
	assert.Zero(t, size())
	for i, want := range []int64{1000, 1500, 1000} {
		create(t, h, acme, fmt.Sprintf("rev_%d", i))
		finishSized(t, h, claim(t, h), []int64{1000, 2000, 0}[i])
		assert.Equal(t, want, size())
	}
	l, err := h.Store.Load(t.Context(), acme, "acme/unknown")
	require.NoError(t, err)
	assert.Zero(t, l.Bytes, "nothing is known of another repository")
}

func exceptOne(t *testing.T, h Harness) {
	createMany(t, h, acme, 3)
	assert.Equal(t, acme, claimExcept(t, h, acme), "while it is alone")
	createMany(t, h, other, 1)
	assert.Equal(t, other, claimExcept(t, h, acme))
	assert.Empty(t, claimExcept(t, h, acme), "others may come")
	assert.Equal(t, acme, claim(t, h).Organization)
}
