package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func createdReview(t *testing.T, h Harness) {
	n := newReview(acme, "rev_a")
	n.PRNumber, n.Ruleset = 1<<31-1, "default"
	assert.Equal(t, review.Accepted{ReviewID: "rev_a", EstimatedMS: 4_200}, accept(t, h, n))

	want := review.Review{
		ID: "rev_a", Organization: acme, Repo: repo, PRNumber: 1<<31 - 1, Ruleset: "default",
		Status: review.Queued, CreatedAt: h.Clock.Stored(), Summary: finding.Summary{},
		FailOn: rule.High, Priority: review.Normal,
	}
	h.Clock.Advance(time.Hour)
	got := get(t, h, acme, "rev_a")
	assert.Equal(t, want, got)
	assert.Equal(t, want, state(t, h, acme, "rev_a"))
	assert.Equal(t, time.UTC, got.CreatedAt.Location())

	f := review.FindingFilter{Kind: finding.KindReported, Limit: 10}
	_, err := h.Store.ListFindings(t.Context(), acme, "rev_a", f)
	wantError(t, err, errs.FailedPrecondition, errs.ReasonReviewNotComplete)
	gone(t, h, acme, "rev_b")
}

func takenIdentifier(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")

	for _, org := range []string{acme, other} {
		_, err := h.Store.CreateReview(t.Context(), newReview(org, "rev_a"), 10)
		require.Error(t, err)
		assert.Equal(t, errs.Internal, errs.KindOf(err), "identifiers are random: this can't be a caller's fault")
	}
	assert.Equal(t, 1, load(t, h, acme, repo).Ahead, "what was refused is not counted")
}

func queueLimit(t *testing.T, h Harness) {
	add := func(org, id string) error {
		_, err := h.Store.CreateReview(t.Context(), newReview(org, id), 3)
		return err
	}
	full := func() {
		t.Helper()
		err := add(acme, "rev_more")
		wantError(t, err, errs.Unavailable, errs.ReasonQueueFull)
		var e *errs.Error
		require.ErrorAs(t, err, &e)
		assert.Positive(t, e.RetryAfter)
		gone(t, h, acme, "rev_more")
	}
	for i := range 3 {
		require.NoError(t, add(acme, fmt.Sprintf("rev_%d", i)))
	}
	full()
	require.NoError(t, add(other, "rev_other"), "another organization's queue is its own")

	// A place becomes free when a review leaves the queue, and is taken again
	// when it comes back.
	c := claim(t, h)
	require.Equal(t, acme, c.Organization)
	require.NoError(t, add(acme, "rev_3"))
	full()
	require.NoError(t, h.Store.Release(t.Context(), c, 0))
	full()
	cancel(t, h, acme, "rev_1")
	cancel(t, h, acme, "rev_2")
	require.NoError(t, add(acme, "rev_4"))
	full()
}

func reviewsApart(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	create(t, h, other, "rev_o")
	gone(t, h, other, "rev_a")
	assert.Equal(t, review.Queued, state(t, h, acme, "rev_a").Status)

	assert.Equal(t, []string{"rev_o"}, ids(list(t, h, other, review.Filter{Limit: 10})))
	assert.Empty(t, list(t, h, "nobody", review.Filter{Limit: 10}))

	// Whoever holds a claim of one organization can't use it on another's.
	c := claim(t, h)
	c.Organization = other
	require.ErrorIs(t, h.Store.Finish(t.Context(), c, finding.Result{}), review.ErrLeaseLost)
	require.ErrorIs(t, extend(t, h, c, lease, review.Progress{}), review.ErrLeaseLost)
}

func listPages(t *testing.T, h Harness) {
	// Three reviews at each time, so that pages end between equal times.
	var want []string
	for i := range 7 {
		for _, suffix := range []string{"b", "c", "a"} {
			create(t, h, acme, fmt.Sprintf("rev_%d%s", i, suffix))
		}
		want = append(want, fmt.Sprintf("rev_%da", i), fmt.Sprintf("rev_%db", i), fmt.Sprintf("rev_%dc", i))
		create(t, h, other, fmt.Sprintf("rev_other%d", i))
		h.Clock.Advance(time.Microsecond)
	}
	slices.Reverse(want)

	for size := 1; size <= len(want)+1; size++ {
		var got []string
		f := review.Filter{Limit: size}
		for {
			some := list(t, h, acme, f)
			require.LessOrEqual(t, len(some), size)
			got = append(got, ids(some)...)
			if len(some) < size {
				break
			}
			last := some[len(some)-1]
			f.After = page.Cursor{At: last.CreatedAt, ID: last.ID}
		}
		require.Equal(t, want, got, "pages of %d", size)
	}
}

func listFilters(t *testing.T, h Harness) {
	add := func(id, repo string, number int32) {
		n := newReview(acme, id)
		n.Repo, n.PRNumber, n.CreatedBy = repo, number, "key:"+repo
		accept(t, h, n)
		h.Clock.Advance(time.Second)
	}
	add("rev_1", "acme/shop", 1)
	add("rev_2", "acme/shop", 2)
	add("rev_3", "acme/site", 1)
	add("rev_4", "acme/shop", 1)
	require.Equal(t, "rev_1", claim(t, h).ReviewID)
	cancel(t, h, acme, "rev_2")

	second := state(t, h, acme, "rev_2")
	cases := map[string]struct {
		filter review.Filter
		want   []string
	}{
		"all":          {review.Filter{}, []string{"rev_4", "rev_3", "rev_2", "rev_1"}},
		"repository":   {review.Filter{Repo: "acme/shop"}, []string{"rev_4", "rev_2", "rev_1"}},
		"no such one":  {review.Filter{Repo: "acme/sh"}, []string{}},
		"pull request": {review.Filter{Repo: "acme/shop", PRNumber: 1}, []string{"rev_4", "rev_1"}},
		"number alone": {review.Filter{PRNumber: 1}, []string{"rev_4", "rev_3", "rev_1"}},
		"queued":       {review.Filter{Status: review.Queued}, []string{"rev_4", "rev_3"}},
		"in progress":  {review.Filter{Status: review.InProgress}, []string{"rev_1"}},
		"canceled":     {review.Filter{Status: review.Canceled}, []string{"rev_2"}},
		"failed":       {review.Filter{Status: review.Failed}, []string{}},
		"creator":      {review.Filter{CreatedBy: "key:acme/site"}, []string{"rev_3"}},
		"all of them":  {review.Filter{Repo: "acme/shop", PRNumber: 1, Status: review.Queued}, []string{"rev_4"}},
		"after a review": {review.Filter{After: page.Cursor{At: second.CreatedAt, ID: second.ID}},
			[]string{"rev_1"}},
		"all and after": {review.Filter{
			Repo: "acme/shop", PRNumber: 1, Status: review.InProgress,
			After: page.Cursor{At: second.CreatedAt, ID: second.ID},
		}, []string{"rev_1"}},
	}
	for name, c := range cases {
		c.filter.Limit = 10
		assert.Equal(t, c.want, ids(list(t, h, acme, c.filter)), name)
	}
}

func cancelOpen(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	create(t, h, acme, "rev_b")
	h.Clock.Advance(time.Second)

	for _, id := range []string{"rev_a", "rev_b"} {
		r := cancel(t, h, acme, id)
		assert.Equal(t, review.Canceled, r.Status)
		assert.Equal(t, h.Clock.Stored(), r.CompletedAt)
		assert.Nil(t, r.Failure)
		assert.Equal(t, r, state(t, h, acme, id))
	}
	allLost(t, h, c)
	noClaim(t, h)
	h.Clock.Advance(time.Hour)
	assert.Empty(t, reap(t, h, 10))
}

func cancelFinal(t *testing.T, h Harness) {
	create(t, h, acme, "rev_complete")
	require.NoError(t, h.Store.Finish(t.Context(), claim(t, h), outcome(1)))
	create(t, h, acme, "rev_failed")
	require.NoError(t, h.Store.Fail(t.Context(), claim(t, h), review.Failure{Code: "x", Message: "y"}))
	create(t, h, acme, "rev_canceled")
	cancel(t, h, acme, "rev_canceled")

	for _, id := range []string{"rev_complete", "rev_failed", "rev_canceled"} {
		before := state(t, h, acme, id)
		h.Clock.Advance(time.Second)
		_, err := h.Store.CancelReview(t.Context(), acme, id)
		wantError(t, err, errs.FailedPrecondition, errs.ReasonReviewFinished)
		assert.Equal(t, before, state(t, h, acme, id))
	}
	gone(t, h, acme, "rev_none")
}

func loadAverages(t *testing.T, h Harness) {
	want := func(org, repo string, l review.Load) {
		t.Helper()
		assert.Equal(t, l, load(t, h, org, repo))
	}
	want(acme, repo, review.Load{})
	n := 0
	scan := func(org, repo string, d time.Duration) {
		t.Helper()
		n++
		r := newReview(org, fmt.Sprintf("rev_%d", n))
		r.Repo = repo
		accept(t, h, r)
		h.Clock.Advance(time.Hour) // the time in the queue is not measured
		c := claim(t, h)
		h.Clock.Advance(d)
		require.NoError(t, h.Store.Finish(t.Context(), c, finding.Result{}))
	}
	scan(acme, "acme/shop", 2*time.Second)
	want(acme, "acme/shop", review.Load{Average: 2 * time.Second, Overall: 2 * time.Second})
	scan(acme, "acme/site", 4*time.Second)
	want(acme, "acme/shop", review.Load{Average: 2 * time.Second, Overall: 3 * time.Second})
	want(acme, "acme/site", review.Load{Average: 4 * time.Second, Overall: 3 * time.Second})
	want(acme, "acme/new", review.Load{Average: 3 * time.Second, Overall: 3 * time.Second}) // the organization's
	want(other, "acme/shop", review.Load{Overall: 3 * time.Second})
	scan(other, "acme/shop", 9*time.Second)
	want(other, "acme/shop", review.Load{Average: 9 * time.Second, Overall: 5 * time.Second})
	want(acme, "acme/shop", review.Load{Average: 2 * time.Second, Overall: 5 * time.Second})

	// It moves: what is long ago counts less and less.
	for range 40 {
		scan(acme, "acme/shop", 10*time.Second)
	}
	assert.InDelta(t, 10, load(t, h, acme, "acme/shop").Average.Seconds(), 0.1)
}

// ahead holds that Load knows what goes first: claims are fair, so of another
// organization's queue no more than this one's and one.
func ahead(t *testing.T, h Harness) {
	for i := range 5 {
		create(t, h, acme, fmt.Sprintf("rev_a%d", i))
	}
	create(t, h, other, "rev_b")

	for org, want := range map[string]int{acme: 5 + 1, other: 1 + 2, "third": 1 + 1} {
		assert.Equal(t, review.Load{Ahead: want}, load(t, h, org, repo), org)
	}
}

func canceledContext(t *testing.T, h Harness) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Store.CreateReview(ctx, newReview(acme, "rev_a"), 10)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, errs.Canceled, errs.KindOf(err))
	_, err = h.Store.GetReview(ctx, acme, "rev_a")
	require.ErrorIs(t, err, context.Canceled)
	_, err = h.Store.Claim(ctx, review.Claiming{Worker: "worker", Lease: lease})
	require.ErrorIs(t, err, context.Canceled)

	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	_, _, err = h.Store.ListReviews(late, acme, review.Filter{Limit: 1})
	require.ErrorIs(t, err, context.DeadlineExceeded)

	create(t, h, acme, "rev_a") // and the store is well
}

// keyed returns a review to be created with an idempotency key.
func keyed(org, id, key, hash string) review.NewReview {
	n := newReview(org, id)
	n.Idempotency = &review.Idempotency{Key: key, RequestHash: hash, TTL: review.IdempotencyTTL}
	return n
}

func sameRequest(t *testing.T, h Harness) {
	first, err := h.Store.CreateReview(t.Context(), keyed(acme, "rev_1", "key", "hash"), 1)
	require.NoError(t, err)
	assert.Equal(t, review.Accepted{ReviewID: "rev_1", EstimatedMS: 4_200}, first)

	again := func() {
		t.Helper()
		n := keyed(acme, "rev_2", "key", "hash")
		n.EstimatedMS = 9_999
		got, err := h.Store.CreateReview(t.Context(), n, 1) // the queue is full, which is no matter
		require.NoError(t, err)
		assert.Equal(t, review.Accepted{ReviewID: "rev_1", EstimatedMS: 4_200, Replayed: true}, got)
		gone(t, h, acme, "rev_2")
	}
	again()
	h.Clock.Advance(review.IdempotencyTTL - time.Microsecond)
	again()

	// The answer stays the first one, whatever became of the review.
	require.NoError(t, h.Store.Finish(t.Context(), claim(t, h), outcome(0)))
	again()
	noClaim(t, h)
}

func anotherRequest(t *testing.T, h Harness) {
	accept(t, h, keyed(acme, "rev_1", "key", "hash"))
	_, err := h.Store.CreateReview(t.Context(), keyed(acme, "rev_2", "key", "other hash"), 10)
	wantError(t, err, errs.Aborted, errs.ReasonIdempotencyConflict)
	gone(t, h, acme, "rev_2")

	// Keys are compared byte by byte.
	for i, key := range []string{"Key", "key ", "ke", "%"} {
		assert.False(t, accept(t, h, keyed(acme, fmt.Sprintf("rev_%d", 10+i), key, "hash")).Replayed, key)
	}

	// Another organization's are its own.
	assert.False(t, accept(t, h, keyed(other, "rev_other", "key", "other hash")).Replayed)
}

func keyExpires(t *testing.T, h Harness) {
	accept(t, h, keyed(acme, "rev_1", "key", "hash"))
	h.Clock.Advance(review.IdempotencyTTL)
	want := review.Accepted{ReviewID: "rev_2", EstimatedMS: 4_200}
	assert.Equal(t, want, accept(t, h, keyed(acme, "rev_2", "key", "other hash")))
	want.Replayed = true
	assert.Equal(t, want, accept(t, h, keyed(acme, "rev_3", "key", "other hash")))
	assert.Equal(t, review.Queued, state(t, h, acme, "rev_1").Status)

	// A creation that was refused keeps no key.
	_, err := h.Store.CreateReview(t.Context(), keyed(acme, "rev_4", "new", "hash"), 2)
	wantError(t, err, errs.Unavailable, errs.ReasonQueueFull)
	assert.Equal(t, "rev_5", accept(t, h, keyed(acme, "rev_5", "new", "hash")).ReviewID)
}
