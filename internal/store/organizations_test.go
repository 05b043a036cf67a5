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
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// eachKind runs a test with a new database of each kind.
func eachKind(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	for name, database := range map[string]func(testing.TB) string{"SQLite": newDatabase, "Postgres": pgtest.New} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, database(t))
		})
	}
}

func TestClaimsAreOfNamedOrganizations(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, database string) {
		open := func(organizations ...string) *Store {
			return openAt(t, Options{Database: database, Organizations: organizations})
		}
		claim := func(s *Store) string {
			c, err := s.Claim(t.Context(), "worker", time.Minute)
			require.NoError(t, err)
			if c == nil {
				return ""
			}
			return c.Organization
		}
		all, both, one := open(), open("acme", `o"dd', ]`), open("acme")
		none := open("unknown")
		for _, org := range []string{"acme", "acme", "removed", `o"dd', ]`, "removed"} {
			_, err := all.CreateReview(t.Context(), newReview(org, review.NewID()), 10)
			require.NoError(t, err)
		}
		assert.Empty(t, claim(none))
		assert.Equal(t, "acme", claim(one))
		assert.Equal(t, "acme", claim(one), "the others go first, if they are one's own")
		assert.Empty(t, claim(one))
		assert.Equal(t, `o"dd', ]`, claim(both))
		assert.Empty(t, claim(both))
		assert.Equal(t, "removed", claim(all))
		assert.Equal(t, "removed", claim(open("removed")))
	})
}

// failure is what becomes of reviews of removed organizations.
func failure() review.Failure {
	return review.Failure{Code: review.CodeOrganizationRemoved, Message: "It was removed."}
}

func TestReviewsOfRemovedOrganizationsFail(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, database string) {
		ctx, clock := t.Context(), storetest.NewClock()
		open := func(organizations ...string) *Store {
			return openAt(t, Options{Database: database, Organizations: organizations, Now: clock.Now})
		}
		// The configuration of one server is older than that of the other.
		before, after := open("acme", "removed"), open("acme", "new")
		failAll := func(s *Store) (failed []string) {
			for more := true; more; {
				var ids []string
				var err error
				ids, more, err = s.FailRemoved(ctx, review.Grace, failure())
				require.NoError(t, err)
				failed = append(failed, ids...)
			}
			return failed
		}
		create := func(org, id string) {
			_, err := before.CreateReview(ctx, newReview(org, id), review.MaxQueued)
			require.NoError(t, err)
		}
		require.NoError(t, before.Announce(ctx))
		require.NoError(t, after.Announce(ctx))
		create("acme", "rev_acme")
		create("removed", "rev_running")
		create("new", "rev_new")
		c, err := open("removed").Claim(ctx, "worker", time.Hour)
		require.NoError(t, err)
		require.Equal(t, "rev_running", c.ReviewID)
		const n = purgeSmall + 3
		for i := range n {
			create("removed", fmt.Sprintf("rev_%04d", i))
		}

		for range 5 { // as long as one of them names it
			announceFor(t, after, clock, review.Grace-time.Second)
			require.NoError(t, before.Announce(ctx))
			assert.Empty(t, failAll(before))
			assert.Empty(t, failAll(after))
		}
		announceFor(t, after, clock, review.Grace-time.Second)
		assert.Empty(t, failAll(after), "the other may only be restarting")
		clock.Advance(time.Second)
		failed := failAll(after)
		assert.Len(t, failed, n)
		assert.NotContains(t, failed, "rev_running")
		r, err := after.GetReview(ctx, "removed", "rev_0000")
		require.NoError(t, err)
		assert.Equal(t, review.Failed, r.Status)
		assert.Equal(t, "organization_removed", r.Failure.Code)
		assert.Equal(t, clock.Stored(), r.CompletedAt)
		assertCounts(t, after)
		assert.Empty(t, failAll(after))

		// What was running may end; what comes back to the queue fails then.
		require.NoError(t, before.Release(ctx, *c, 0))
		assert.Equal(t, []string{"rev_running"}, failAll(after))
		assertCounts(t, after)

		// Added back it works again.
		again := open("removed")
		require.NoError(t, again.Announce(ctx))
		create("removed", "rev_again")
		assert.Empty(t, failAll(after))
		c, err = again.Claim(ctx, "worker", time.Hour)
		require.NoError(t, err)
		assert.Equal(t, "rev_again", c.ReviewID)
	})
}

// announceFor has a server announce its organizations for a time, as its loop
// does.
func announceFor(t *testing.T, s *Store, clock *storetest.Clock, d time.Duration) {
	t.Helper()
	require.NoError(t, s.Announce(t.Context()))
	for ; d > 0; d -= time.Minute {
		clock.Advance(min(d, time.Minute))
		require.NoError(t, s.Announce(t.Context()))
	}
}

// A database from before there were announcements loses nothing at once.
func TestOrganizationsThatWereNeverAnnounced(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, database string) {
		clock := storetest.NewClock()
		s := openAt(t, Options{Database: database, Now: clock.Now, Organizations: []string{"acme"}})
		_, err := s.CreateReview(t.Context(), newReview("old", "rev_a"), 1)
		require.NoError(t, err)
		for _, want := range [][]string{nil, {"rev_a"}} {
			failed, _, err := s.FailRemoved(t.Context(), review.Grace, failure())
			require.NoError(t, err)
			assert.Equal(t, want, append([]string(nil), failed...))
			announceFor(t, s, clock, review.Grace)
		}
	})
}

// Time in which no server could announce anything is nobody's removal: each
// server that comes back finds the others' organizations unnamed for long.
func TestOrganizationsAfterAnOutage(t *testing.T) {
	t.Parallel()
	const night = 12 * time.Hour
	for name, outage := range map[string]func(t *testing.T, clock *storetest.Clock, server func() *Store) *Store{
		"no server ran": func(t *testing.T, clock *storetest.Clock, server func() *Store) *Store {
			t.Helper()
			clock.Advance(night)
			return server()
		},
		"the server, or the clock, was elsewhere": func(t *testing.T, clock *storetest.Clock, server func() *Store) *Store {
			t.Helper()
			s := server()
			announceFor(t, s, clock, 2*review.Grace)
			clock.Advance(night)
			return s
		},
		"announcements failed": func(t *testing.T, clock *storetest.Clock, server func() *Store) *Store {
			t.Helper()
			s := server()
			announceFor(t, s, clock, review.Grace-time.Second)
			away, cancel := context.WithCancel(t.Context())
			cancel()
			require.Error(t, s.Announce(away))
			clock.Advance(2 * time.Second)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachKind(t, func(t *testing.T, database string) {
				ctx, clock := t.Context(), storetest.NewClock()
				open := func(org string) *Store {
					return openAt(t, Options{Database: database, Organizations: []string{org}, Now: clock.Now})
				}
				other := open("other")
				require.NoError(t, other.Announce(ctx))
				_, err := other.CreateReview(ctx, newReview("other", "rev_a"), 1)
				require.NoError(t, err)

				s := outage(t, clock, func() *Store { return open("acme") })
				none := func() {
					t.Helper()
					failed, more, err := s.FailRemoved(ctx, review.Grace, failure())
					require.NoError(t, err)
					require.Empty(t, failed)
					assert.False(t, more)
				}
				none()
				announceFor(t, s, clock, review.Grace-time.Second)
				none()
				announceFor(t, s, clock, time.Second)
				failed, _, err := s.FailRemoved(ctx, review.Grace, failure())
				require.NoError(t, err)
				assert.Equal(t, []string{"rev_a"}, failed, "it had the time to say that it is there")
			})
		})
	}
}

func TestAnnounceMany(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, database string) {
		clock := storetest.NewClock()
		names := make([]string, 2*announceAtOnce+1)
		for i := range names {
			names[i] = fmt.Sprint("org", i)
		}
		s := openAt(t, Options{Database: database, Now: clock.Now, Organizations: names})
		for range 2 {
			clock.Advance(time.Hour)
			require.NoError(t, s.Announce(t.Context()))
			all, err := s.Organizations(t.Context())
			require.NoError(t, err)
			require.Len(t, all, len(names))
			for _, o := range all {
				assert.Equal(t, clock.Stored(), o.ConfiguredAt, o.Name)
			}
		}
		none := openAt(t, Options{Database: database, Organizations: []string{}})
		require.NoError(t, none.Announce(t.Context()))
	})
}

func TestPurgeOrganization(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, database string) {
		ctx, clock := t.Context(), storetest.NewClock()
		s := openAt(t, Options{Database: database, Now: clock.Now, Organizations: []string{"acme", "removed"}})
		require.NoError(t, s.Announce(ctx))
		created := clock.Stored()
		for _, org := range []string{"acme", "removed"} {
			for i := range 2*purgeReviews + 2 {
				n := newReview(org, fmt.Sprintf("rev_%s_%03d", org, i))
				n.Idempotency = &review.Idempotency{Key: fmt.Sprint(i), RequestHash: "h", TTL: time.Hour}
				_, err := s.CreateReview(ctx, n, review.MaxQueued)
				require.NoError(t, err)
			}
			_, err := s.CreateRule(ctx, org, rule.Rule{ID: "r", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low, Scope: rule.ScopeOrg}, 10)
			require.NoError(t, err)
			_, err = s.CreateKey(ctx, auth.Key{ID: "key_" + org, Organization: org, Name: "n", Hash: "hash of " + org})
			require.NoError(t, err)
		}
		_, err := s.CreateKey(ctx, auth.Key{ID: "key_only", Organization: "keyless", Name: "n", Hash: "hash of another"})
		require.NoError(t, err)
		for range 4 {
			clock.Advance(time.Microsecond) // so that they take turns
			c, err := s.Claim(ctx, "worker", time.Hour)
			require.NoError(t, err)
			o := manyFindings(30)
			o.RulesFileValid, o.RulesFile = true, []rule.Rule{{ID: "f", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low}}
			require.NoError(t, s.Finish(ctx, *c, o))
		}
		running := map[string]review.Claim{}
		for range 2 {
			clock.Advance(time.Microsecond)
			c, err := s.Claim(ctx, "worker", time.Hour)
			require.NoError(t, err)
			running[c.Organization] = *c
		}
		require.Len(t, running, 2)

		purge := func(org string) (review.Deleted, []int, error) {
			var progress []int
			d, err := s.PurgeOrganization(ctx, org, review.Grace, func(n int) { progress = append(progress, n) })
			return d, progress, err
		}
		_, _, err = purge("removed")
		require.ErrorContains(t, err, `a server had the organization "removed" in its configuration at 2026-11-20T09:00:00Z`)
		_, _, err = purge("nobody")
		require.ErrorContains(t, err, `the database has nothing of an organization "nobody"`)

		clock.Advance(review.Grace)
		d, progress, err := purge("removed")
		require.NoError(t, err)
		assert.Equal(t, review.Deleted{Reviews: 2*purgeReviews + 2, Findings: 60, IdempotencyKeys: 2*purgeReviews + 2, APIKeys: 1}, d)
		assert.Equal(t, []int{purgeReviews, 2 * purgeReviews, 2*purgeReviews + 2, 2*purgeReviews + 2}, progress)
		require.ErrorIs(t, s.Finish(ctx, running["removed"], finding.Result{}), review.ErrLeaseLost)
		require.NoError(t, s.Finish(ctx, running["acme"], finding.Result{}))
		d, _, err = purge("keyless")
		require.NoError(t, err)
		assert.Equal(t, review.Deleted{APIKeys: 1}, d)

		all, err := s.Organizations(ctx)
		require.NoError(t, err)
		assert.Equal(t, []Organization{{
			Name: "acme", Queued: 2*purgeReviews - 1, Reviews: 2*purgeReviews + 2, Rules: 1, Keys: 1,
			ConfiguredAt: created, LastReview: created,
		}}, all)
		assertCounts(t, s)
		require.NoError(t, s.read(ctx, "look", everyone, func(t2 *tx) error {
			for _, table := range []string{"reviews", "rules", "rules_files", "scan_durations", "idempotency_keys", "api_keys"} {
				var n int
				require.NoError(t, t2.get(ctx, &n, "SELECT COUNT(*) FROM "+table+" WHERE organization = ?", "removed"))
				assert.Zero(t, n, table)
			}
			return nil
		}))
		_, _, err = purge("removed")
		require.ErrorContains(t, err, "nothing of an organization")
	})
}

// A purge runs in a process of its own, and SQLite lets nobody in who waits
// while another takes one step after the other.
func TestCreationsBesideAPurgeOfAnOrganization(t *testing.T) {
	t.Parallel()
	o := Options{Database: newDatabase(t)}
	s, purger := openAt(t, o), openAt(t, o)
	const reviews, findings, atOnce = 500, 20, purgeRows / 20
	fillEnded(t, s, "removed", reviews, findings)
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
	d, err := purger.PurgeOrganization(t.Context(), "removed", review.Grace, func(int) {})
	beside := created.Load()
	stop()
	creating.Wait()
	require.NoError(t, err)
	assert.Equal(t, review.Deleted{Reviews: reviews, Findings: reviews * findings}, d)
	assert.GreaterOrEqual(t, beside, int64(reviews/atOnce), "at least one after each step")
}
