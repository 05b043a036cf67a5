package review_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	accepted, err := b.service.Create(t.Context(), org, review.CreateInput{Repo: "acme/api", PRNumber: 7})
	require.NoError(t, err)
	assert.Regexp(t, `^rev_[a-z0-9]{26}$`, accepted.ReviewID)
	assert.Equal(t, int32(5000), accepted.EstimatedMS, "nothing was measured yet")

	r, err := b.service.Get(t.Context(), org, accepted.ReviewID)
	require.NoError(t, err)
	assert.Equal(t, review.Queued, r.Status)
	assert.Equal(t, "acme/api", r.Ruleset)
	assert.Equal(t, b.clock.Stored(), r.CreatedAt)

	in := review.CreateInput{Repo: "acme/api", PRNumber: 7, Ruleset: "default"}
	second, err := b.service.Create(t.Context(), org, in)
	require.NoError(t, err)
	assert.Equal(t, int32(7500), second.EstimatedMS, "one waits, and two workers share the queue")

	// Other servers scan four, and then all that wait have as many workers.
	for range 2 {
		b.create(t)
	}

	for range 4 {
		_, err := b.store.Claim(t.Context(), review.Claiming{Worker: "elsewhere", Lease: time.Minute})
		require.NoError(t, err)
	}

	for range 2 {
		b.create(t)
	}

	last, err := b.service.Create(t.Context(), org, review.CreateInput{Repo: "acme/api", PRNumber: 7})
	require.NoError(t, err)
	assert.Equal(t, int32(7500), last.EstimatedMS, "two wait, and four run at once")
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ok := review.CreateInput{Repo: "acme/api", PRNumber: 1}
	const invalid = errs.InvalidArgument

	for name, c := range map[string]struct {
		change func(*review.CreateInput)
		kind   errs.Kind
		fields []string
	}{
		"repo":    {func(in *review.CreateInput) { in.Repo = "acme" }, invalid, []string{"repo"}},
		"number":  {func(in *review.CreateInput) { in.PRNumber = 0 }, invalid, []string{"pr_number"}},
		"ruleset": {func(in *review.CreateInput) { in.Ruleset = "acme/web" }, invalid, []string{"ruleset"}},
		"all at once": {
			func(in *review.CreateInput) { *in = review.CreateInput{Repo: "x", Ruleset: "y"} },
			invalid, []string{"repo", "pr_number", "ruleset"},
		},
		"long key": {
			func(in *review.CreateInput) { in.IdempotencyKey = strings.Repeat("k", 256) }, invalid, []string{"Idempotency-Key"},
		},
		"key with spaces": {func(in *review.CreateInput) { in.IdempotencyKey = "a b" }, invalid, []string{"Idempotency-Key"}},
		"not allowed":     {func(in *review.CreateInput) { in.Repo = "other/api" }, errs.PermissionDenied, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := ok
			c.change(&in)
			_, err := b.service.Create(t.Context(), org, in)
			var e *errs.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.kind, e.Kind)
			var fields []string
			for _, f := range e.Fields {
				fields = append(fields, f.Field)
			}
			assert.Equal(t, c.fields, fields)
		})
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sha := strings.Repeat("a", 40)
	in := review.CreateInput{
		Repo: "acme/api", PRNumber: 1, IdempotencyKey: "k",
		Commits: finding.Commits{Head: sha, BaseRef: "main"}, FailOn: rule.Low,
	}

	first, err := b.service.Create(t.Context(), org, in)
	require.NoError(t, err)
	again, err := b.service.Create(t.Context(), org, in)
	require.NoError(t, err)
	assert.True(t, again.Replayed)
	again.Replayed = false
	assert.Equal(t, first, again)

	for _, change := range []func(*review.CreateInput){
		func(in *review.CreateInput) { in.PRNumber = 2 },
		func(in *review.CreateInput) { in.Repo = "acme/web" },
		func(in *review.CreateInput) { in.Ruleset = "acme/api" },
		func(in *review.CreateInput) { in.Commits.Head = strings.Repeat("b", 40) },
		func(in *review.CreateInput) { in.Commits.BaseRef = "next" },
		func(in *review.CreateInput) { in.Commits = finding.Commits{Head: sha, Base: sha} },
		func(in *review.CreateInput) { in.RequireBase = true },
		func(in *review.CreateInput) { in.FailOn = rule.High },
		func(in *review.CreateInput) { in.FailOn = 0 },
	} {
		other := in
		change(&other)
		_, err = b.service.Create(t.Context(), org, other)
		assert.Equal(t, errs.ReasonIdempotencyConflict, errs.ReasonOf(err))
	}

	b.clock.Advance(24*time.Hour + time.Microsecond)
	fresh, err := b.service.Create(t.Context(), org, in)
	require.NoError(t, err)
	assert.NotEqual(t, first.ReviewID, fresh.ReviewID, "kept for 24 hours")
}

func TestListPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var newest []string
	for range 7 { // all at the same time
		newest = append(newest, b.create(t))
	}
	var paged []string
	token := ""
	for {
		page, next, err := b.service.List(t.Context(), org, review.ListInput{PageSize: 3, PageToken: token})
		require.NoError(t, err)

		for _, r := range page {
			paged = append(paged, r.ID)
		}
		if token = next; token == "" {
			break
		}
	}

	assert.ElementsMatch(t, newest, paged)
	_, token, err := b.service.List(t.Context(), org, review.ListInput{PageSize: 3})
	require.NoError(t, err)

	for _, bad := range []review.ListInput{
		{PageToken: "x"}, {PageToken: token + "x"},
		{PageToken: token, Selection: review.Selection{Repo: "acme/api"}},
		{PageToken: token, Selection: review.Selection{Query: "x"}},
		{PageToken: token, Status: review.Failed},
		{Selection: review.Selection{Query: "a b c d e f"}},
		{PageSize: -1}, {PageSize: 201},
	} {
		_, _, err := b.service.List(t.Context(), org, bad)
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%+v", bad)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(t)
	updates := make(chan review.Update)
	ended := make(chan error, 1)

	go func() {
		ended <- b.service.Watch(t.Context(), org, id, func(u review.Update) error {
			if !u.KeepAlive { // the machine may be slow
				updates <- u
			}

			return nil
		})
	}()

	assert.Equal(t, review.Queued, (<-updates).Review.Status, "at once")

	b.dispatcher(t, nil)
	scan := b.scanner.next(t)
	assert.Equal(t, review.InProgress, (<-updates).Review.Status)
	scan.progress(review.Progress{FilesDone: 3, FilesTotal: 9})
	u := <-updates
	assert.Equal(t, review.Progress{FilesDone: 3, FilesTotal: 9}, u.Review.Progress)
	scan.end(finding.Result{}, nil)

	for u.Review.Status != review.Complete {
		u = <-updates
	}

	require.NoError(t, <-ended)

	_, err := b.service.Get(t.Context(), "globex", id)
	assert.Equal(t, errs.ReasonReviewNotFound, errs.ReasonOf(err))
	err = b.service.Watch(t.Context(), "globex", id, nil)
	assert.Equal(t, errs.ReasonReviewNotFound, errs.ReasonOf(err))
	broken := errors.New("client gone")
	err = b.service.Watch(t.Context(), org, id, func(review.Update) error { return broken })
	require.ErrorIs(t, err, broken)
	waiting := b.create(t)
	b.scanner.next(t)
	ctx, cancel := context.WithCancel(t.Context())
	err = b.service.Watch(ctx, org, waiting, func(review.Update) error { cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
}

// outage is a store that is away for a while after it was first asked, and in
// which the review is complete afterwards.
type outage struct {
	review.Reviews
	began time.Time
	from  time.Duration
	lasts time.Duration
}

func (o *outage) GetReviewState(context.Context, string, string) (review.Review, error) {
	if o.began.IsZero() {
		o.began = time.Now()
	}

	switch at := time.Since(o.began); {
	case at < o.from:
		return review.Review{ID: "rev_a", Status: review.InProgress, Attempt: 1}, nil
	case at < o.from+o.lasts:
		return review.Review{}, errs.New(errs.Unavailable, errs.ReasonUnavailable, "away")
	}

	return review.Review{ID: "rev_a", Status: review.Complete, Attempt: 1}, nil
}

// A watch stays while the store is away for a moment, with keep-alives, and
// ends when that goes on.
func TestWatchWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		lasts time.Duration
		kept  bool
	}{
		"for a second": {time.Second, true}, "for 28 seconds": {28 * time.Second, true}, "for long": {time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &outage{from: 5 * time.Second, lasts: c.lasts}
				var statuses []review.Status
				alive := 0
				service := review.NewService(store, nil, review.NewNotifier(), &scanner{}, 1)
				err := service.Watch(t.Context(), org, "rev_a", func(u review.Update) error {
					if u.KeepAlive {
						alive++
					} else {
						statuses = append(statuses, u.Review.Status)
					}

					return nil
				})

				if !c.kept {
					assert.Equal(t, errs.Unavailable, errs.KindOf(err))
					assert.Equal(t, []review.Status{review.InProgress}, statuses)
					assert.InDelta(t, 35, time.Since(store.began).Seconds(), 2)
					return
				}

				require.NoError(t, err)
				assert.Equal(t, []review.Status{review.InProgress, review.Complete}, statuses)
				assert.Equal(t, int((5*time.Second+c.lasts)/(15*time.Second)), alive)
			})
		})
	}
}
