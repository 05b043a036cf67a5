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

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

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
			if claim, err = s.Claim(ctx, review.Claiming{Worker: "worker", Lease: 20 * time.Second}); claim != nil {
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

// planOf returns how SQLite answers a query.
func planOf(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	var plan []struct {
		ID, Parent, Notused int
		Detail              string
	}
	require.NoError(t, s.pools.reader.SelectContext(t.Context(), &plan, "EXPLAIN QUERY PLAN "+query, args...))
	var details []string
	for _, p := range plan {
		details = append(details, p.Detail)
	}

	return strings.Join(details, "\n")
}

// TestClaimReadsLittle holds that choosing a review never reads all reviews.
func TestClaimReadsLittle(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	all := planOf(t, s, claimQuery, claimArgs(at(time.Now()), "", at(time.Now()))...)
	assert.Contains(t, all, "SCAN o USING INDEX organizations_turn")
	assert.Contains(t, all, "SEARCH n USING COVERING INDEX reviews_queue (organization=?)")
	assert.Contains(t, all, "SEARCH r USING COVERING INDEX reviews_queue (organization=? AND priority=? AND due_at<?)")
	assert.Contains(t, all, "LAST 3 TERMS OF ORDER BY")
	assert.NotContains(t, all, "SCAN r")
	assert.NotContains(t, all, "SCAN w")
	assert.NotContains(t, all, "SCAN n")

	// Nor does the start of a server, however many reviews there were.
	assert.Contains(t, planOf(t, s, "SELECT id FROM reviews WHERE status = 'in_progress' AND lease_expires <= ?",
		int64(math.MaxInt64)), "SEARCH reviews USING INDEX reviews_lease")
}

// TestEventsReadLittle holds that a filter of the audit log doesn't read all of it.
func TestEventsReadLittle(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	after := page.Cursor{At: time.Now(), ID: "evt_a"}
	for want, f := range map[string]audit.Filter{
		"PRIMARY KEY (organization=?":                            {Since: time.Now()},
		"INDEX audit_events_actor (organization=? AND actor=?":   {Actor: "system", After: after},
		"INDEX audit_events_action (organization=? AND action=?": {Action: audit.KeyCreate, Until: time.Now()},
	} {
		query, args := s.eventsQuery("acme", f)
		plan := planOf(t, s, query, args...)
		assert.Contains(t, plan, want)
		assert.NotContains(t, plan, "ORDER BY", "they come in their order")
	}
}

// TestListsReadLittle holds that lists come in the order of an index, and that all
// reviews are counted without reading them.
func TestListsReadLittle(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	base, _ := reviewConditions("acme", review.Filter{Since: time.Now()})
	query, args := standingsQuery(base)
	plan := planOf(t, s, query, args...)
	assert.Equal(t, len(review.Standings()),
		strings.Count(plan, "SEARCH reviews USING INDEX reviews_standing (organization=? AND standing=? AND created_at>?)"), plan)

	base, rest := reviewConditions("acme", review.Filter{Repo: "acme/shop", Words: []string{"a"}})
	query, args = someQuery(base, rest)
	assert.Contains(t, planOf(t, s, query, args...), "INDEX reviews_repo (organization=? AND repo=?)")

	query, args = repositoriesQuery("acme", review.RepositoryFilter{After: "acme/shop", Words: []string{"a"}})
	plan = planOf(t, s, query, args...)
	assert.Contains(t, plan, "COVERING INDEX reviews_repo (organization=? AND repo>?")
	assert.NotContains(t, plan, "TEMP B-TREE")

	query, args = s.dialect.searchConditions("acme", review.Search{Decision: finding.Open})
	plan = planOf(t, s, `SELECT COUNT(*)`+searchFrom+query, args...)
	assert.Contains(t, plan, "SEARCH r USING INDEX reviews_open (organization=?")
	assert.Contains(t, plan, "SEARCH f USING PRIMARY KEY (review_id=? AND kind=?")

	query, args = countAllQuery("acme", "")
	assert.Contains(t, planOf(t, s, query, args...), "COVERING INDEX reviews_open (organization=?)")

	after := page.Cursor{At: time.Now(), ID: "rev_a"}
	for want, f := range map[string]review.Filter{
		"INDEX reviews_created (organization=?":                 {After: after, Words: []string{"a"}, CreatedBy: "key:a"},
		"INDEX reviews_standing (organization=? AND standing=?": {Outcome: finding.Fail, Status: review.Complete},
		"INDEX reviews_status (organization=? AND status=?":     {Status: review.Complete},
		"INDEX reviews_repo (organization=? AND repo=?":         {After: after, Repo: "acme/shop"},
		"INDEX reviews_pr_number (organization=? AND pr_num":    {PRNumber: 7, Repo: "acme/shop"},
	} {
		base, rest := reviewConditions("acme", f)
		all := base
		if rest.text != "" {
			all.add("(created_at, id) >= (?, ?)", at(after.At), after.ID)
			all.add(rest.text, rest.args...)
		}
		plan := planOf(t, s, `SELECT `+reviewColumns+` FROM reviews WHERE `+all.text+newestFirst, append(all.args, 50)...)
		assert.Contains(t, plan, want)
		assert.NotContains(t, plan, "ORDER BY", "they come in their order")

		plan = planOf(t, s, lookedAtQuery(base), append(base.args, 2, 4)...)
		assert.Contains(t, plan, want)
		assert.NotContains(t, plan, "ORDER BY", "they come in their order")
	}
}
