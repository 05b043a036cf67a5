package review_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestDispatchCompletes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.dispatcher(t, nil)
	commits := finding.Commits{Head: strings.Repeat("a", 40), BaseRef: "main"}
	in := review.CreateInput{Repo: "acme/api", PRNumber: 1, Commits: commits, FailOn: rule.Medium, RequireBase: true}
	accepted, err := b.service.Create(t.Context(), org, in)
	require.NoError(t, err)
	id := accepted.ReviewID
	scan := b.scanner.next(t)
	assert.Equal(t, review.Job{
		Claim: review.Claim{
			ReviewID: id, Organization: org, Repo: "acme/api", PRNumber: 1, Ruleset: "acme/api", Commits: commits,
			CreatedBy: "system", Attempt: 1, Today: "2026-11-20", FailOn: rule.Medium, RequireBase: true,
		},
		Source: review.Source{
			Host: organization.Host{URL: "https://acme"}, Credential: codehost.Credential{Token: "for " + id},
		},
		Rules: rule.Set{Digest: "d"}, Policy: policy.Default(),
		MaxFindings: review.MaxFindings,
	}, scan.job)

	outcome := finding.Result{
		HeadSHA: commits.Head, BaseSHA: "bb", RulesDigest: "cc", Summary: finding.Summary{rule.High: 1},
		Findings: []finding.Finding{{
			RuleID: "a/b", Severity: rule.High, Confidence: rule.ConfidenceMedium, File: "f\xff", Line: 1, EndLine: 2, Column: 3,
			Message: "m", Snippet: "s", Fingerprint: "p", State: finding.StateNew,
		}},
		Skips:      []finding.Skip{{File: "g", Reason: "binary"}, {File: "h", Reason: "file_too_large"}},
		SkipCounts: finding.SkipCounts{{Reason: "binary"}: 1, {Reason: "file_too_large"}: 5},
	}

	scan.end(outcome, nil)
	r := b.await(t, id)
	assert.Equal(t, review.Complete, r.Status)
	assert.Equal(t, outcome.Findings, r.Findings)
	assert.Equal(t, []finding.Skip{
		{File: "g", Reason: "binary", Tolerated: true}, {File: "h", Reason: "file_too_large"},
	}, r.Skips)
	assert.Equal(t, 1, r.Summary[rule.High])
	assert.Equal(t, &finding.Verdict{Outcome: finding.Fail, Threshold: rule.Medium, NotLookedAt: 5}, r.Verdict)
	assert.Equal(t, commits, r.Commits)
	assert.Equal(t, "bb", r.BaseSHA)
}

func TestDispatchFaults(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	passing := &review.ScanError{Failure: review.Failure{Code: "host_unreachable", Message: "m"}}
	uncounted := &review.ScanError{Failure: review.Failure{Code: "scanner_unavailable"}, Uncounted: true}
	lasting := &review.ScanError{Failure: review.Failure{Code: "no_merge_base", Message: "m"}, Lasting: true}
	for name, c := range map[string]struct {
		errors []error
		status review.Status
		code   string
	}{
		"lasting fails at once":     {[]error{lasting}, review.Failed, "no_merge_base"},
		"passing, then well":        {[]error{passing, passing, nil}, review.Complete, ""},
		"passing three times":       {[]error{passing, passing, passing}, review.Failed, "host_unreachable"},
		"unexpected counts as such": {[]error{boom, passing, nil}, review.Complete, ""},
		"unexpected three times":    {[]error{boom, boom, boom}, review.Failed, "internal"},
		"wrapped":                   {[]error{fmt.Errorf("x: %w", lasting)}, review.Failed, "no_merge_base"},
		"passing, then lasting":     {[]error{passing, lasting}, review.Failed, "no_merge_base"},
		"uncounted, often": {
			[]error{uncounted, uncounted, uncounted, uncounted, passing, passing, nil}, review.Complete, "",
		},
		"a context error of its own": {[]error{context.DeadlineExceeded, nil}, review.Complete, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.timePasses(t)
			b.dispatcher(t, nil)
			id := b.create(t)
			for _, err := range c.errors {
				b.scanner.next(t).end(finding.Result{}, err)
			}
			r := b.await(t, id)
			assert.Equal(t, c.status, r.Status)
			assert.Equal(t, len(c.errors), r.Attempt)
			if c.code == "" {
				assert.Nil(t, r.Failure)
				return
			}
			require.NotNil(t, r.Failure)
			assert.Equal(t, c.code, r.Failure.Code)
			assert.NotContains(t, r.Failure.Message, "boom", "what is unexpected stays in the log")
		})
	}
}

func TestStopHandsBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.dispatcher(t, nil)
	id := b.create(t)
	scan := b.scanner.next(t)
	require.NoError(t, first.Stop(t.Context()))
	done(t, scan.ctx.Done(), "the scan to be canceled")
	require.NoError(t, first.Stop(t.Context()), "twice is once")
	r, err := b.service.Get(t.Context(), org, id)
	require.NoError(t, err)
	assert.Equal(t, review.Queued, r.Status)

	b.dispatcher(t, nil)
	again := b.scanner.next(t)
	again.end(finding.Result{}, nil)
	assert.Equal(t, review.Complete, b.await(t, id).Status)
}

func TestCancelStopsTheScan(t *testing.T) {
	t.Parallel()
	b := setup(t)

	// No heartbeat would notice it: the notifier must tell.
	b.dispatcher(t, func(o *review.DispatcherOptions) { o.Heartbeat = time.Hour })
	id := b.create(t)
	scan := b.scanner.next(t)
	r, err := b.service.Cancel(t.Context(), org, id)
	require.NoError(t, err)
	assert.Equal(t, review.Canceled, r.Status)
	done(t, scan.ctx.Done(), "the scan to be canceled")
	_, err = b.service.Cancel(t.Context(), org, id)
	assert.Equal(t, errs.ReasonReviewFinished, errs.ReasonOf(err))

	next := b.create(t) // the worker goes on
	b.scanner.next(t).end(finding.Result{}, nil)
	assert.Equal(t, review.Complete, b.await(t, next).Status)
	assert.Equal(t, review.Canceled, b.await(t, id).Status)
}

// While no scanner can be reached nothing is claimed.
func TestNothingIsClaimedWithoutAScanner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.scanner.reachable = make(chan struct{})
	id := b.create(t)
	b.dispatcher(t, nil)
	done(t, b.scanner.awaited, "the worker to wait for a scanner")
	r, err := b.service.Get(t.Context(), org, id)
	require.NoError(t, err)
	assert.Equal(t, review.Queued, r.Status)
	close(b.scanner.reachable)
	b.scanner.next(t).end(finding.Result{}, nil)
	assert.Equal(t, review.Complete, b.await(t, id).Status)
}

// A worker whose lease ran out writes nothing: whoever claimed the review after
// it decides.
func TestLostLease(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.dispatcher(t, func(o *review.DispatcherOptions) { o.Heartbeat = time.Hour })
	id := b.create(t)
	stale := b.scanner.next(t)
	b.clock.Advance(21 * time.Second)
	_, err := b.store.ReapExpired(t.Context(), review.MaxLost)
	require.NoError(t, err)
	b.dispatcher(t, nil)
	fresh := b.scanner.next(t)
	stale.end(finding.Result{HeadSHA: "stale"}, nil)
	fresh.end(finding.Result{HeadSHA: "fresh"}, nil)
	r := b.await(t, id)
	assert.Equal(t, "fresh", r.HeadSHA)
	assert.Equal(t, 2, r.Attempt)
}

// flaky is a queue whose store is away for some calls.
type flaky struct {
	review.Queue
	finish chan error
}

func (f *flaky) Finish(ctx context.Context, c review.Claim, o finding.Result) error {
	if err := <-f.finish; err != nil {
		return err
	}

	return f.Queue.Finish(ctx, c, o)
}

func TestFinishWaitsForTheStore(t *testing.T) {
	t.Parallel()
	away, slow := errs.New(errs.Unavailable, errs.ReasonUnavailable, "away"), context.DeadlineExceeded
	for name, c := range map[string]struct {
		errors []error
		status review.Status
		code   string
	}{
		"away for a while": {[]error{away, away, nil}, review.Complete, ""},
		"slow for a while": {[]error{slow, slow, away, slow, slow, nil}, review.Complete, ""},
		"slow for good":    {[]error{slow, slow, slow, slow, slow, slow}, review.Failed, "result_not_stored"},
		"broken for good":  {[]error{errors.New("constraint")}, review.Failed, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			queue := &flaky{b.store, make(chan error, len(c.errors))}
			for _, err := range c.errors {
				queue.finish <- err
			}
			b.dispatcherOf(t, queue, rules{}, nil)
			id := b.create(t)
			b.scanner.next(t).end(finding.Result{}, nil)
			r := b.await(t, id)
			assert.Equal(t, c.status, r.Status)
			if c.code != "" {
				require.NotNil(t, r.Failure)
				assert.Equal(t, c.code, r.Failure.Code)
			}
		})
	}
}

// away is a source of rules whose store is away for some calls.
type away struct{ errors chan error }

func (a away) RulesFor(context.Context, string, string) (rule.Set, error) {
	select {
	case err := <-a.errors:
		return rule.Set{}, err
	default:
		return rule.Set{Digest: "d"}, nil
	}
}

func TestRulesThatAreAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	source := away{make(chan error, 10)}
	for range 5 { // more often than scans may fail
		source.errors <- errs.New(errs.Unavailable, errs.ReasonUnavailable, "away")
	}

	b.dispatcherOf(t, b.store, source, nil)
	id := b.create(t)
	b.timePasses(t)
	b.scanner.next(t).end(finding.Result{}, nil)
	assert.Equal(t, review.Complete, b.await(t, id).Status)
}

// A review whose repository was taken from its organization while it waited is
// never scanned.
func TestRepositoryThatIsNotAllowedAnyMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := newReview(review.NewID())
	n.Repo = "other/api"
	_, err := b.store.CreateReview(t.Context(), n, 10)
	require.NoError(t, err)
	b.dispatcher(t, nil)
	r := b.await(t, n.ID)
	assert.Equal(t, review.Failed, r.Status)
	require.NotNil(t, r.Failure)
	assert.Equal(t, "repository_not_allowed", r.Failure.Code)
	assert.Contains(t, r.Failure.Message, "other/api")
	assert.Equal(t, 1, r.Attempt)
	assert.Empty(t, b.scanner.calls)
}

// Of several workers the last one is kept from an organization that holds all
// others, once there are others at all.
func TestOneOrganizationDoesNotHoldAllWorkers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.timePasses(t)
	create := func(org string) {
		t.Helper()
		_, err := b.service.Create(t.Context(), org, review.CreateInput{Repo: "acme/api", PRNumber: 1})
		require.NoError(t, err)
	}
	b.dispatcher(t, func(o *review.DispatcherOptions) { o.Workers = 3 })

	// Alone it may have all.
	var held []call
	for range 3 {
		create(org)
		held = append(held, b.scanner.next(t))
	}
	create("other")
	held[0].end(finding.Result{}, nil)
	others := b.scanner.next(t)
	require.Equal(t, "other", others.job.Organization)

	// Now that there is another, one worker is kept for it.
	create(org)
	others.end(finding.Result{}, nil)
	create("other")
	others = b.scanner.next(t)
	assert.Equal(t, "other", others.job.Organization)

	// Where one ends, the next may begin.
	held[1].end(finding.Result{}, nil)
	next := b.scanner.next(t)
	assert.Equal(t, org, next.job.Organization)
	for _, c := range []call{held[2], others, next} {
		c.end(finding.Result{}, nil)
	}
}

// A trial counts among the scans of its organization.
func TestATrialLeavesTheLastWorkerToOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.timePasses(t)
	create := func(org string) {
		t.Helper()
		_, err := b.service.Create(t.Context(), org, review.CreateInput{Repo: "acme/api", PRNumber: 1})
		require.NoError(t, err)
	}
	queue := claims{b.store, make(chan review.Claiming)}
	d := b.dispatcherOf(t, queue, rules{}, func(o *review.DispatcherOptions) { o.Workers = 2 })
	try := func(ctx context.Context) <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := d.Scanner().Scan(ctx, review.Job{Claim: review.Claim{Organization: org}}, func(review.Progress) {})
			ended <- err
		}()

		return ended
	}

	// While nobody else has reviews it may have the last worker.
	create(org)
	first := b.scanner.next(t)
	alone := try(t.Context())
	b.scanner.next(t).end(finding.Result{}, nil)
	require.NoError(t, <-alone)

	// Then it waits for the review, as long as the caller does.
	create("other")
	b.scanner.next(t).end(finding.Result{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	given, waiting := try(ctx), try(t.Context())
	cancel()
	require.ErrorIs(t, <-given, context.Canceled)
	assert.Empty(t, b.scanner.calls)
	first.end(finding.Result{}, nil)
	trial := b.scanner.next(t)
	assert.Empty(t, trial.job.ReviewID)

	// And while it runs, the other worker is for others alone.
	queue.claimsExcept(t, org)
	create(org)
	create("other")
	others := b.scanner.next(t)
	assert.Equal(t, "other", others.job.Organization)
	assert.Nil(t, b.scanner.within(20*time.Millisecond))
	others.end(finding.Result{}, nil)
	assert.Nil(t, b.scanner.within(20*time.Millisecond))
	trial.end(finding.Result{}, nil)
	require.NoError(t, <-waiting)
	b.scanner.next(t).end(finding.Result{}, nil)
	queue.claimsExcept(t, "")
}

// A trial and the review that is claimed meanwhile don't both take the last workers.
func TestNoTrialBeginsWhileAReviewIsClaimed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.timePasses(t)
	queue := &claimed{Queue: b.store}
	d := b.dispatcherOf(t, queue, rules{}, func(o *review.DispatcherOptions) { o.Workers = 2 })
	_, err := b.service.Create(t.Context(), "other", review.CreateInput{Repo: "acme/api", PRNumber: 1})
	require.NoError(t, err)
	b.scanner.next(t).end(finding.Result{}, nil)

	ended := make(chan error, 1)
	after := func() {
		go func() {
			_, err := d.Scanner().Scan(t.Context(), review.Job{Claim: review.Claim{Organization: org}},
				func(review.Progress) {})
			ended <- err
		}()
		assert.Nil(t, b.scanner.within(20*time.Millisecond))
	}
	queue.after.Store(&after)
	_, err = b.service.Create(t.Context(), org, review.CreateInput{Repo: "acme/api", PRNumber: 1})
	require.NoError(t, err)

	first := b.scanner.next(t)
	assert.NotEmpty(t, first.job.ReviewID)
	assert.Nil(t, b.scanner.within(20*time.Millisecond))
	first.end(finding.Result{}, nil)
	trial := b.scanner.next(t)
	assert.Empty(t, trial.job.ReviewID)
	trial.end(finding.Result{}, nil)
	require.NoError(t, <-ended)
}

// Many scans of a trial don't keep reviews of the organization waiting.
func TestReviewsGoBetweenTheScansOfATrial(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.timePasses(t)
	d := b.dispatcherOf(t, b.store, rules{}, func(o *review.DispatcherOptions) { o.Workers = 2 })
	_, err := b.service.Create(t.Context(), "other", review.CreateInput{Repo: "acme/api", PRNumber: 1})
	require.NoError(t, err)
	b.scanner.next(t).end(finding.Result{}, nil)

	ended := make(chan error, 1)
	go func() {
		for range 10 {
			_, err := d.Scanner().Scan(t.Context(), review.Job{Claim: review.Claim{Organization: org}},
				func(review.Progress) {})
			if err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	trial := b.scanner.next(t)
	assert.Empty(t, trial.job.ReviewID)
	_, err = b.service.Create(t.Context(), org, review.CreateInput{Repo: "acme/api", PRNumber: 1})
	require.NoError(t, err)
	trial.end(finding.Result{}, nil)
	next := b.scanner.next(t)
	assert.NotEmpty(t, next.job.ReviewID, "the review comes before the next scan of the trial")
	next.end(finding.Result{}, nil)
	for range 9 {
		b.scanner.next(t).end(finding.Result{}, nil)
	}
	require.NoError(t, <-ended)
}

// A trial says at once that there is no scanner.
func TestATrialWithoutScanner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.scanner.reachable = make(chan struct{})
	d := b.dispatcherOf(t, b.store, rules{}, func(o *review.DispatcherOptions) { o.Workers = 1 })
	go func() { b.scanner.next(t).end(finding.Result{}, errors.New("none")) }()
	_, err := d.Scanner().Scan(t.Context(), review.Job{Claim: review.Claim{Organization: org}}, func(review.Progress) {})
	require.EqualError(t, err, "none")
}

// claimed is a queue that calls a function, once, when a review is claimed and before
// anybody knows.
type claimed struct {
	review.Queue
	after atomic.Pointer[func()]
}

func (c *claimed) Claim(ctx context.Context, by review.Claiming) (*review.Claim, error) {
	claim, err := c.Queue.Claim(ctx, by)
	if claim != nil {
		if f := c.after.Swap(nil); f != nil {
			(*f)()
		}
	}

	return claim, err
}

// claims is a queue of which a test sees what is claimed.
type claims struct {
	review.Queue
	asked chan review.Claiming
}

func (c claims) Claim(ctx context.Context, by review.Claiming) (*review.Claim, error) {
	select {
	case c.asked <- by:
	case <-time.After(time.Millisecond): // nobody looks
	}

	return c.Queue.Claim(ctx, by)
}

// claimsExcept waits for a claim that passes over the organization.
func (c claims) claimsExcept(t *testing.T, org string) {
	t.Helper()

	for {
		select {
		case by := <-c.asked:
			if by.Except == org {
				return
			}
		case <-time.After(patience):
			require.FailNow(t, "no such claim", org)
		}
	}
}
