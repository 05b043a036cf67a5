package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestReleaseLeases(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	o := Options{Database: newDatabase(t), Exclusive: true, Now: clock.Now}
	ctx := t.Context()
	const maxLost = 3
	s := openAt(t, o)
	for _, id := range []string{"rev_a", "rev_b", "rev_c"} {
		_, err := s.CreateReview(ctx, newReview("acme", id), 10)
		require.NoError(t, err)
	}
	// What a graceful stop handed back has lost nothing.
	c, err := s.Claim(ctx, "worker", time.Minute)
	require.NoError(t, err)
	require.NoError(t, s.Release(ctx, *c, 0))

	for lost := 1; lost <= maxLost; lost++ {
		c, err := s.Claim(ctx, "worker", time.Hour)
		require.NoError(t, err)
		require.Equal(t, "rev_a", c.ReviewID)
		require.Equal(t, lost-1, c.Lost)
		require.NoError(t, s.Close())
		s = openAt(t, o) // no time has passed
		released, err := s.ReleaseLeases(ctx, maxLost)
		require.NoError(t, err)
		then := review.Queued
		if lost == maxLost {
			then = review.Failed
		}
		require.Equal(t, []review.Reaped{{ReviewID: "rev_a", Status: then}}, released)
		gone, err := s.Extend(ctx, []review.Heartbeat{{Claim: *c}}, time.Minute)
		require.NoError(t, err)
		require.Equal(t, []review.Claim{*c}, gone)
	}
	r, err := s.GetReview(ctx, "acme", "rev_a")
	require.NoError(t, err)
	assert.Equal(t, review.Failed, r.Status)
	assert.Equal(t, review.CodeWorkerLost, r.Failure.Code)
	c, err = s.Claim(ctx, "worker", time.Hour)
	require.NoError(t, err)
	assert.Equal(t, "rev_b", c.ReviewID)
	assert.Zero(t, c.Lost)
}

// TestCountsHold does what may be done in a random order, and compares what is
// counted for each organization with the rows.
func TestCountsHold(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := openAt(t, Options{Database: newDatabase(t), Exclusive: true, Now: clock.Now})
	ctx := t.Context()
	const seed = 20261120
	r := rand.New(rand.NewPCG(seed, seed))
	orgs := []string{"a", "b", "c"}
	var created []string
	var claims []review.Claim
	outcomes := map[string]int{}
	for i := range 1_500 {
		org := orgs[r.IntN(len(orgs))]
		var c review.Claim
		if len(claims) > 0 {
			c = claims[max(len(claims)-1-r.IntN(8), 0)] // perhaps lost since
		}
		var err error
		op := r.IntN(13)
		switch op {
		case 0, 1, 2:
			id := fmt.Sprintf("rev_%s_%d", org, i)
			created = append(created, id)
			n := newReview(org, id)
			if r.IntN(2) == 0 {
				n.Idempotency = &review.Idempotency{Key: fmt.Sprint(r.IntN(20)), RequestHash: fmt.Sprint(r.IntN(2)),
					TTL: time.Minute}
			}
			_, err = s.CreateReview(ctx, n, 20)
		case 3, 4, 5:
			var claim *review.Claim
			if claim, err = s.Claim(ctx, "worker", 20*time.Second); claim != nil {
				claims = append(claims, *claim)
			}
		case 6:
			err = s.Finish(ctx, c, manyFindings(r.IntN(30)))
		case 7:
			err = s.Fail(ctx, c, review.Failure{Code: "x", Message: "y"})
		case 8:
			err = s.Retry(ctx, c, time.Duration(r.IntN(20))*time.Second)
		case 9:
			err = s.Release(ctx, c, 0)
		case 10:
			if len(created) > 0 {
				_, err = s.CancelReview(ctx, org, created[r.IntN(len(created))])
			}
		case 11:
			clock.Advance(time.Duration(r.IntN(15)) * time.Second)
			_, err = s.ReapExpired(ctx, 2)
			if r.IntN(10) == 0 {
				_, err = s.ReleaseLeases(ctx, 2)
			}
		case 12:
			id := fmt.Sprintf("rule-%d", r.IntN(12))
			if r.IntN(2) == 0 {
				_, err = s.CreateRule(ctx, org, rule.Rule{ID: id, Type: rule.TypeRegex, Severity: rule.Low, Scope: rule.ScopeOrg},
					8)
			} else {
				err = s.DeleteRule(ctx, org, rule.FullID(id))
			}
		}
		if err != nil && !errors.Is(err, review.ErrLeaseLost) {
			require.NotEqual(t, errs.Internal, errs.KindOf(err), "seed %d, step %d: %v", seed, i, err)
		}
		outcomes[fmt.Sprintf("%d %t", op, err == nil)]++
		if i%20 == 19 {
			assertCounts(t, s)
		}
	}
	assertCounts(t, s)
	for _, op := range []int{2, 6, 7, 8, 9, 10, 12} {
		assert.Greater(t, outcomes[fmt.Sprintf("%d true", op)], 5, "operation %d was hardly tried", op)
		assert.Greater(t, outcomes[fmt.Sprintf("%d false", op)], 5, "operation %d was hardly refused", op)
	}
}

func assertCounts(t *testing.T, s *Store) {
	t.Helper()
	type counts struct {
		Name    string
		Queued  int
		Running int
		Rules   int
	}
	var counted, actual []counts
	require.NoError(t, s.read(t.Context(), "count", allOrganizations, func(tx *tx) error {
		require.NoError(t, tx.list(t.Context(), &counted,
			`SELECT name, queued, running, rules FROM organizations ORDER BY name`))
		return tx.list(t.Context(), &actual, `SELECT name,
			(SELECT COUNT(*) FROM reviews WHERE organization = name AND status = 'queued') AS queued,
			(SELECT COUNT(*) FROM reviews WHERE organization = name AND status = 'in_progress') AS running,
			(SELECT COUNT(*) FROM rules WHERE organization = name) AS rules
			FROM organizations ORDER BY name`)
	}))
	require.NotEmpty(t, counted)
	require.Equal(t, actual, counted)
}

// TestExpiredIdempotencyKeysGo holds that they don't pile up.
func TestExpiredIdempotencyKeysGo(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := openAt(t, Options{Database: newDatabase(t), Now: clock.Now})
	create := func(id string) {
		n := newReview("acme", id)
		n.Idempotency = &review.Idempotency{Key: id, RequestHash: "hash", TTL: time.Hour}
		_, err := s.CreateReview(t.Context(), n, 1_000)
		require.NoError(t, err)
	}
	const early = maxPurgedKeys + 20
	for i := range early {
		create(fmt.Sprint("early", i))
	}
	clock.Advance(time.Hour)
	for i, want := range []int{1 + early - maxPurgedKeys, 2, 3} {
		create(fmt.Sprint("late", i))
		var n int
		require.NoError(t, s.pools.reader.GetContext(t.Context(), &n, "SELECT COUNT(*) FROM idempotency_keys"))
		assert.Equal(t, want, n)
	}
}

// TestClaimReadsLittle holds that choosing a review never reads all reviews.
func TestClaimReadsLittle(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	var plan []struct {
		ID, Parent, Notused int
		Detail              string
	}
	require.NoError(t, s.pools.reader.SelectContext(t.Context(), &plan, "EXPLAIN QUERY PLAN "+claimQuery, at(time.Now())))
	var details []string
	for _, p := range plan {
		details = append(details, p.Detail)
	}
	all := strings.Join(details, "\n")
	assert.Contains(t, all, "SCAN o USING INDEX organizations_turn")
	assert.Contains(t, all, "SEARCH w USING COVERING INDEX reviews_status (organization=? AND status=?)")
	assert.Contains(t, all, "LAST 2 TERMS OF ORDER BY")
	assert.NotContains(t, all, "SCAN r")
	assert.NotContains(t, all, "SCAN w")

	// Nor does the start of a server, however many reviews there were.
	require.NoError(t, s.pools.reader.SelectContext(t.Context(), &plan,
		"EXPLAIN QUERY PLAN SELECT id FROM reviews WHERE status = 'in_progress' AND lease_expires <= ?",
		int64(math.MaxInt64)))
	assert.Contains(t, plan[0].Detail, "SEARCH reviews USING INDEX reviews_lease")
}
