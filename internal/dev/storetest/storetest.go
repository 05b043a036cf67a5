// Package storetest is the conformance suite of stores: every sentence of
// review.Store, rule.Store, auth.KeyStore, stats.Store, policy.Store, publish.Store,
// connection.Store, inbox.Store, triage.Store,
// webhook.Store, account.Store and command.Store as a test, whichever database is behind them.
package storetest

import (
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/command"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/stats"
	"github.com/prwarden/prwarden/internal/triage"
	"github.com/prwarden/prwarden/internal/webhook"
)

// Store is all that a store does.
type Store interface {
	review.Store
	organization.Store
	rule.Store
	auth.KeyStore
	audit.Store
	review.RetentionStore
	stats.Store
	policy.Store
	publish.Store
	connection.Store
	inbox.Store
	inbox.PullRequests
	triage.Store
	command.Store
	inbox.Sweeps
	webhook.Store
	account.Store
}

// Harness is an empty store to be tested.
type Harness struct {
	Store Store

	// Clock is what the store reads the time from.
	Clock *Clock

	// Reopen closes the store and opens another one on the same data.
	Reopen func(t *testing.T) Store
}

// Run runs the suite. open makes a new, empty store for each test and closes
// it at its end; it is called from parallel tests.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	t.Helper()
	all := reviewTests()
	maps.Copy(all, otherTests())
	maps.Copy(all, triageTests())
	maps.Copy(all, connectedTests())
	maps.Copy(all, webhookTests())
	maps.Copy(all, accountTests())
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func reviewTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"Reviews/a created review is queued":             createdReview,
		"Reviews/an identifier is taken once":            takenIdentifier,
		"Reviews/the queue has a limit":                  queueLimit,
		"Reviews/organizations are apart":                reviewsApart,
		"Reviews/the list is newest first, page by page": listPages,
		"Reviews/the list is filtered":                   listFilters,
		"Reviews/they are searched":                      searchedReviews,
		"Reviews/they are counted by where they stand":   countedReviews,
		"Reviews/they know title and author":             headOfReviews,

		"Search/findings of the latest reviews":     searchedFindings,
		"Search/findings are counted by a group":    groupedFindings,
		"Search/what is open is counted once":       onlyOneCount,
		"Search/repositories with what is open":     listedRepositories,
		"Search/the latest is the youngest created": latestFinished,

		"Reviews/queued and running ones are canceled": cancelOpen,
		"Reviews/a final state stays":                  cancelFinal,
		"Reviews/load":                                 loadAverages,
		"Reviews/the load knows what goes first":       ahead,
		"Reviews/a canceled context is its own error":  canceledContext,

		"Idempotency/the same request gets the first answer": sameRequest,
		"Idempotency/another request is a conflict":          anotherRequest,
		"Idempotency/a key expires":                          keyExpires,

		"Queue/a claim makes a review in progress":       claimed,
		"Queue/a retry waits and counts":                 retried,
		"Queue/a failure is stored":                      failed,
		"Queue/a lease that ran out is reaped":           reaped,
		"Queue/an extended lease is not reaped":          extended,
		"Queue/a review lost too often fails":            lostTooOften,
		"Queue/a delayed review does not hold up others": delayed,
		"Queue/what waits is counted by organization":    waitingCounted,

		"Fence/a lost claim writes nothing": lostClaim,

		"Fairness/the oldest review goes first":                   oldestFirst,
		"Fairness/the fewest running go first":                    fewestRunning,
		"Fairness/low priority after normal":                      lowAfterNormal,
		"Fairness/large scans yield":                              largeYields,
		"Fairness/the size of scans is known":                     knownSizes,
		"Fairness/one is left out":                                exceptOne,
		"Fairness/then the one served least recently":             leastRecently,
		"Fairness/a long queue delays others by at most one scan": longQueue,

		"Caps/a capped organization never blocks others": cappedBlocksNobody,
		"Caps/freed capacity is used at once":            freedCapacity,
		"Caps/caps follow the last setting":              capsFollow,

		"Organizations/a created one is read and changed":          organizationLife,
		"Organizations/a file declares, and the last file applies": organizationsDeclared,
		"Organizations/without a file there is one":                organizationDefault,

		"Finish/everything in the outcome is stored": storedOutcome,
		"Finish/any bytes are kept":                  anyBytes,
		"Finish/a refused outcome leaves nothing":    refusedOutcome,
		"Finish/the rules file":                      rulesFile,

		"Compare/new, existing, fixed":           comparedStates,
		"Compare/the review before":              previousReview,
		"Compare/10,000 of each":                 mostCompared,
		"Compare/commits and threshold are kept": keptCommits,
		"Compare/findings page by page":          findingPages,
		"Compare/findings are filtered":          findingFilters,

		"Races/nothing is claimed twice":            claimRace,
		"Races/one review for one idempotency key":  idempotencyRace,
		"Races/the queue's limit holds":             queueRace,
		"Races/either canceled or complete":         cancelRace,
		"Races/either finished or reaped":           reapRace,
		"Races/findings become visible all at once": atomicFinish,
	}
}

func otherTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"Rules/a rule is stored as it was sent":                storedRule,
		"Rules/a rule is changed as long as nobody else did":   changedRule,
		"Rules/many are pushed at once, or none":               pushedRules,
		"Rules/changes stay in the history":                    ruleHistory,
		"Rules/an id is taken once":                            takenRuleID,
		"Rules/there is a quota, and a deletion frees a place": ruleQuota,
		"Rules/their texts are bounded in sum":                 rulesSize,
		"Rules/rules are listed by scope":                      listedRules,
		"Rules/rules are counted":                              countedRules,
		"Rules/organizations' rules are apart":                 rulesApart,

		"Keys/a key is found by its hash": foundKey,
		"Keys/keys are listed":            listedKeys,
		"Keys/keys are revoked":           revokedKey,
		"Keys/use is stored":              touchedKeys,
		"Keys/a family is revoked":        revokedFamily,
		"Keys/there is a quota":           keyQuota,
		"Keys/their organization's limit": organizationLimit,

		"Audit/a change leaves one event":              changesAudited,
		"Audit/what changes nothing leaves none":       nothingAudited,
		"Audit/events are newest first, page by page":  auditPages,
		"Audit/events are filtered":                    auditFilters,
		"Audit/organizations are apart":                auditApart,
		"Audit/an event is bounded and holds no token": auditBounded,

		"Races/the quota of keys holds":               keyQuotaRace,
		"Races/an organization is created once":       organizationsRace,
		"Races/rules are changed one after the other": rulesRace,

		"Retention/old events go":               purgedEvents,
		"Retention/only what ended is deleted":  purgedEnded,
		"Retention/one step does little":        purgedInSteps,
		"Retention/expired idempotency keys go": purgedIdempotency,
		"Retention/dead API keys go":            purgedKeys,
		"Retention/many dead API keys go":       manyDeadKeys,

		"Retention/old numbers go": purgedNumbers,

		"Stats/what changes is counted":       countedFindings,
		"Stats/numbers are listed and summed": listedNumbers,
		"Stats/decisions are counted":         countedDecisions,
		"Stats/trends":                        trends,
		"Stats/what reviews leave behind":     leftBehind,

		"Policies/one is set, read and replaced": storedPolicy,
		"Policies/organizations are apart":       policiesApart,
		"Policies/another etag changes nothing":  policyEtag,
		"Finish/a stricter threshold is kept":    keptThreshold,

		"Reopen/everything is still there": everythingStays,
		"Reopen/a closed store is away":    closedStore,
	}
}

// Clock is a clock that moves only when told. It is safe for concurrent use.
type Clock struct {
	begin time.Time
	moved atomic.Int64 // nanoseconds since
}

// NewClock returns a clock that stands at a time with nanoseconds and a zone,
// neither of which may come out of a store.
func NewClock() *Clock {
	return &Clock{begin: time.Date(2026, 11, 20, 10, 0, 0, 123_456_789, time.FixedZone("CET", 3600))}
}

// Now returns where the clock stands.
func (c *Clock) Now() time.Time { return c.begin.Add(time.Duration(c.moved.Load())) }

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) { c.moved.Add(int64(d)) }

// Stored returns the clock's time as a store returns it.
func (c *Clock) Stored() time.Time { return c.Now().UTC().Truncate(time.Microsecond) }

const (
	lease = 20 * time.Second // as the dispatcher has it
	acme  = "acme"
	other = "other"
	repo  = "acme/shop"
)

// newReview returns a review to be created.
func newReview(org, id string) review.NewReview {
	return review.NewReview{
		ID: id, Organization: org, Repo: repo, PRNumber: 7, Ruleset: repo, EstimatedMS: 4_200,
	}
}

// accept creates a review.
func accept(t *testing.T, h Harness, n review.NewReview) review.Accepted {
	t.Helper()
	a, err := h.Store.CreateReview(t.Context(), n, review.MaxQueued)
	require.NoError(t, err)

	return a
}

// create creates a review and returns its id.
func create(t *testing.T, h Harness, org, id string) string {
	t.Helper()
	require.Equal(t, id, accept(t, h, newReview(org, id)).ReviewID)

	return id
}

// cancel cancels a review.
func cancel(t *testing.T, h Harness, org, id string) review.Review {
	t.Helper()
	r, err := h.Store.CancelReview(t.Context(), org, id)
	require.NoError(t, err)

	return r
}

// createMany creates n reviews, each a microsecond younger than the one
// before, with ids that sort as they were created.
func createMany(t *testing.T, h Harness, org string, n int) []string {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = create(t, h, org, fmt.Sprintf("rev_%s_%05d", org, i))
		h.Clock.Advance(time.Microsecond)
	}

	return ids
}

// claim claims the next review, which must be there.
func claim(t *testing.T, h Harness) review.Claim {
	t.Helper()
	c, err := h.Store.Claim(t.Context(), review.Claiming{Worker: "worker", Lease: lease})
	require.NoError(t, err)
	require.NotNil(t, c, "no review waits")
	return *c
}

// extend prolongs the lease of one claim; review.ErrLeaseLost when that is lost.
func extend(t *testing.T, h Harness, c review.Claim, lease time.Duration, p review.Progress) error {
	t.Helper()
	lost, err := h.Store.Extend(t.Context(), []review.Heartbeat{{Claim: c, Progress: p}}, lease)
	if err == nil && len(lost) > 0 {
		require.Equal(t, []review.Claim{c}, lost)
		return review.ErrLeaseLost
	}

	return err
}

// noClaim requires that no review can be claimed.
func noClaim(t *testing.T, h Harness) {
	t.Helper()
	c, err := h.Store.Claim(t.Context(), review.Claiming{Worker: "worker", Lease: lease})
	require.NoError(t, err)
	require.Nil(t, c)
}

// state reads a review without its findings.
func state(t *testing.T, h Harness, org, id string) review.Review {
	t.Helper()
	r, err := h.Store.GetReviewState(t.Context(), org, id)
	require.NoError(t, err)
	return r
}

// get reads a review with its findings.
func get(t *testing.T, h Harness, org, id string) review.Review {
	t.Helper()
	r, err := h.Store.GetReview(t.Context(), org, id)
	require.NoError(t, err)

	return r
}

// gone requires that there is no such review.
func gone(t *testing.T, h Harness, org, id string) {
	t.Helper()
	_, err := h.Store.GetReview(t.Context(), org, id)
	wantError(t, err, errs.NotFound, errs.ReasonReviewNotFound)
	_, err = h.Store.GetReviewState(t.Context(), org, id)
	wantError(t, err, errs.NotFound, errs.ReasonReviewNotFound)
	_, err = h.Store.ListFindings(t.Context(), org, id, review.FindingFilter{Kind: finding.KindReported, Limit: 10})
	wantError(t, err, errs.NotFound, errs.ReasonReviewNotFound)
	_, err = h.Store.CancelReview(t.Context(), org, id)
	wantError(t, err, errs.NotFound, errs.ReasonReviewNotFound)
}

// list lists reviews.
func list(t *testing.T, h Harness, org string, f review.Filter) []review.Review {
	t.Helper()
	reviews, _, err := h.Store.ListReviews(t.Context(), org, f)
	require.NoError(t, err)

	return reviews
}

// load reads what estimates are made of.
func load(t *testing.T, h Harness, org, repo string) review.Load {
	t.Helper()
	l, err := h.Store.Load(t.Context(), org, repo)
	require.NoError(t, err)

	return l
}

// wantError requires an error of one kind and reason, with a sentence.
func wantError(t *testing.T, err error, kind errs.Kind, reason string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, kind, errs.KindOf(err), "%v", err)
	require.Equal(t, reason, errs.ReasonOf(err))
	var e *errs.Error
	require.ErrorAs(t, err, &e)
	assert.NotEmpty(t, e.Message)
}

// ids returns the identifiers of reviews.
func ids(reviews []review.Review) []string {
	out := make([]string, 0, len(reviews))
	for _, r := range reviews {
		out = append(out, r.ID)
	}

	return out
}
