package store

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestRemoveOrganization(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		ctx, clock := t.Context(), storetest.NewClock()
		s := openAt(t, Options{Database: o.Database, Now: clock.Now})
		created := clock.Stored()
		fill := func(org string) {
			o := organization.NewDefault()
			o.Name = org
			require.NoError(t, s.CreateOrganization(ctx, o))

			for i := range 2*purgeReviews + 2 {
				n := newReview(org, fmt.Sprintf("rev_%s_%03d", org, i))
				n.Idempotency = &review.Idempotency{Key: fmt.Sprint(i), RequestHash: "h", TTL: time.Hour}
				_, err := s.CreateReview(ctx, n, review.MaxQueued)
				require.NoError(t, err)
			}

			_, err := s.CreateRule(ctx, org, rule.Rule{
				ID: "r", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low, Scope: rule.ScopeOrg,
			}, 10)
			require.NoError(t, err)
			_, err = s.SetPolicy(ctx, org, policy.Policy{FailOn: "low"}, "")
			require.NoError(t, err)
			_, err = s.CreateConnection(ctx, connection.Stored{
				Sealed: []byte("sealed"), Connection: connection.Connection{ID: "con_" + org, Organization: org, State: "active"},
			}, 1)
			require.NoError(t, err)
			k := auth.Key{ID: "key_" + org, Organization: org, Name: "n", Hash: "hash of " + org}
			_, err = s.CreateKey(ctx, k, auth.Quota)
			require.NoError(t, err)
		}
		fill("acme")
		fill("removed")

		for range 4 {
			clock.Advance(time.Microsecond) // so that they take turns
			c := claim(t, s)
			o := manyFindings(30)
			o.RulesFileValid = true
			o.RulesFile = []rule.Rule{{ID: "f", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low}}
			require.NoError(t, s.Finish(ctx, c, o))
		}

		running := map[string]review.Claim{}
		for range 2 {
			clock.Advance(time.Microsecond)
			c := claim(t, s)
			running[c.Organization] = c
		}
		require.Len(t, running, 2)

		_, err := s.DeclareOrganizations(ctx, []organization.Organization{named("removed")})
		require.NoError(t, err)
		_, err = s.RemoveOrganization(ctx, "removed", 0)
		require.ErrorIs(t, err, organization.ErrDeclared)
		_, err = s.RemoveOrganization(ctx, "nobody", 0)
		require.ErrorIs(t, err, organization.ErrNotFound)
		_, err = s.DeclareOrganizations(ctx, nil)
		require.NoError(t, err)

		d, err := s.RemoveOrganization(ctx, "removed", 0)
		require.NoError(t, err)
		assert.Equal(t, Removed{Reviews: 2*purgeReviews + 2, Keys: 1}, d)
		require.ErrorIs(t, s.Finish(ctx, running["removed"], finding.Result{}), review.ErrLeaseLost)
		require.NoError(t, s.Finish(ctx, running["acme"], finding.Result{}))

		all, err := s.OrganizationUsage(ctx)
		require.NoError(t, err)
		assert.Equal(t, []organization.Usage{{
			Organization: named("acme"), Queued: 2*purgeReviews - 1, Reviews: 2*purgeReviews + 2, Rules: 1, Keys: 1,
			LastReview: created,
		}}, all)
		assertCounts(t, s)
		require.NoError(t, s.read(ctx, "look", allOrganizations, func(t2 *tx) error {
			for _, table := range tablesOfOrganizations(t, t2) {
				var n int
				require.NoError(t, t2.get(ctx, &n, "SELECT COUNT(*) FROM "+table+" WHERE organization = ?", "removed"))
				assert.Zero(t, n, table)
			}

			return nil
		}))
		_, err = s.RemoveOrganization(ctx, "removed", 0)
		require.ErrorIs(t, err, organization.ErrNotFound)
	})
}

// TestRemovalLeavesNoRow fails for a table that removal forgets, or that populate leaves
// empty.
func TestRemovalLeavesNoRow(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		s := openAt(t, o)
		populate(t, s, "acme")
		populate(t, s, "other")
		rows := func(org string) map[string]int {
			out := map[string]int{}
			require.NoError(t, s.read(t.Context(), "count", allOrganizations, func(x *tx) error {
				for _, table := range tablesOfOrganizations(t, x) {
					var n int
					if err := x.get(t.Context(), &n, "SELECT COUNT(*) FROM "+table+" WHERE organization = ?", org); err != nil {
						return err
					}
					out[table] = n
				}

				return nil
			}))

			return out
		}

		before, others := rows("acme"), rows("other")
		for table, n := range before {
			assert.Positive(t, n, "%s has no row to remove", table)
		}
		_, err := s.RemoveOrganization(t.Context(), "acme", 0)
		require.NoError(t, err)
		for table, n := range rows("acme") {
			assert.Zero(t, n, "%s is forgotten", table)
		}
		assert.Equal(t, others, rows("other"))
	})
}

// tablesOfOrganizations are all tables whose rows say whose they are.
func tablesOfOrganizations(t *testing.T, x *tx) (tables []string) {
	t.Helper()
	query := `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND c.name = 'organization'`
	if x.dialect.postgres {
		query = `SELECT table_name FROM information_schema.columns
			WHERE table_schema = 'public' AND column_name = 'organization'`
	}
	require.NoError(t, x.list(t.Context(), &tables, query))
	require.Subset(t, tables, []string{"reviews", "rule_history"})

	return tables
}

// One statement on Postgres has 10 seconds, and writers on SQLite wait for it.
func TestRemovalDeletesLittleAtOnce(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		s := openAt(t, o)
		require.NoError(t, s.CreateOrganization(t.Context(), named("acme")))
		const rows = 2*purgeRows - 10
		require.NoError(t, s.write(t.Context(), "fill", of("acme"), func(x *tx) error {
			if err := x.insert(t.Context(), "rule_history", "organization, seq, full_id, at, actor, action, rule", rows,
				func(i int) []any { return []any{"acme", i, "custom/a", 1, "system", "delete", ""} }); err != nil {
				return err
			}
			return x.insert(t.Context(), "finding_days",
				"organization, day, repo, rule_id, severity, found, fixed, suppressed, work", rows,
				func(i int) []any { return []any{"acme", fmt.Sprint(i), "r", "custom/a", "high", 1, 0, 0, 0} })
		}))

		left := 2 * rows
		for more := true; more; {
			require.NoError(t, s.write(t.Context(), "step", of("acme"), func(x *tx) (err error) {
				_, more, err = x.removeStep(t.Context(), "acme")
				return err
			}))
			var now int
			require.NoError(t, s.read(t.Context(), "count", of("acme"), func(x *tx) error {
				return x.get(t.Context(), &now, `SELECT (SELECT COUNT(*) FROM rule_history) + (SELECT COUNT(*) FROM finding_days)`)
			}))
			assert.LessOrEqual(t, left-now, purgeRows)
			left = now
		}
		assert.Zero(t, left)
	})
}

// The end of an organization cancels what waits and ends its keys before
// anything is deleted, and a removal that was interrupted goes on.
func TestRemoveOrganizationEndsAtOnce(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		s := openAt(t, o)
		require.NoError(t, s.CreateOrganization(t.Context(), named("acme")))
		create(t, s, "acme", "rev_a")
		_, err := s.CreateKey(t.Context(), auth.Key{ID: "key_a", Organization: "acme", Name: "n", Hash: "h"}, auth.Quota)
		require.NoError(t, err)

		require.NoError(t, s.write(t.Context(), "end", allOrganizations, func(x *tx) error {
			keys, err := x.endOrganization(t.Context(), "acme")
			assert.Equal(t, 1, keys)

			return err
		}))
		all, err := s.Organizations(t.Context())
		require.NoError(t, err)
		assert.Empty(t, all)
		r, err := s.GetReviewState(t.Context(), "acme", "rev_a")
		require.NoError(t, err)
		assert.Equal(t, review.Canceled, r.Status)
		assertCounts(t, s)

		d, err := s.RemoveOrganization(t.Context(), "acme", 0)
		require.NoError(t, err)
		assert.Equal(t, Removed{Reviews: 1}, d)
		require.NoError(t, s.CreateOrganization(t.Context(), named("acme")), "the name is free again")
	})
}

// A removal runs in a process of its own, and SQLite lets nobody in who waits
// while another takes one step after the other.
func TestCreationsBesideTheRemovalOfAnOrganization(t *testing.T) {
	t.Parallel()
	o := Options{Database: newDatabase(t)}
	s, remover := openAt(t, o), openAt(t, o)
	const reviews, findings, atOnce = 500, 20, purgeRows / 20
	require.NoError(t, s.CreateOrganization(t.Context(), named("removed")))
	sow(t, s, "removed", review.Complete, reviews, findings)
	ctx, stop := context.WithCancel(t.Context())
	var created atomic.Int64
	var creating sync.WaitGroup
	creating.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()

		for ctx.Err() == nil {
			<-tick.C
			_, err := s.CreateReview(t.Context(), newReview("acme", review.NewID()), 1<<30)
			if !assert.NoError(t, err) {
				return
			}
			created.Add(1)
		}
	})

	d, err := remover.RemoveOrganization(t.Context(), "removed", 0)
	beside := created.Load()
	stop()
	creating.Wait()
	require.NoError(t, err)
	assert.Equal(t, Removed{Reviews: reviews}, d)
	assert.GreaterOrEqual(t, beside, int64(reviews/atOnce), "at least one after each step")
}
