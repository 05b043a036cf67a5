package review_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// oneReview has one review.
type oneReview struct {
	review.Reviews
	review.Review
}

func (s oneReview) GetReviewState(_ context.Context, org, id string) (review.Review, error) {
	if org != s.Organization || id != s.ID {
		return review.Review{}, errs.New(errs.NotFound, errs.ReasonReviewNotFound, "None.")
	}
	r := s.Review
	r.Findings, r.Suppressed, r.Observed = nil, nil, nil

	return r, nil
}

func (s oneReview) GetReview(context.Context, string, string) (review.Review, error) {
	return s.Review, nil
}

// diffs is a scanner of diffs that a test gives.
type diffs func(review.DiffJob) (finding.Diff, error)

func (f diffs) Diff(_ context.Context, j review.DiffJob) (finding.Diff, error) { return f(j) }

// noPolicies is a source of the default policy.
type noPolicies struct{}

func (noPolicies) Policy(context.Context, string) (policy.Policy, error) {
	return policy.Default(), nil
}

// rulesets has rules, whose digest a test changes.
type rulesets struct{ digest string }

func (r *rulesets) RulesFor(context.Context, string, string) (rule.Set, error) {
	return rule.Set{Digest: r.digest}, nil
}

func complete() review.Review {
	r := reviewsOf(1)[0]
	r.Status = review.Complete
	for i := range 70 {
		r.Findings = append(r.Findings, finding.Finding{File: fmt.Sprintf("f%02d", i)}, finding.Finding{File: "a"})
	}
	r.Suppressed = []finding.Finding{{File: "suppressed"}}
	r.Observed = []finding.Finding{{File: "observed"}}

	return r
}

func newDiffs(r review.Review, rules *rulesets, s diffs) *review.Diffs {
	return review.NewDiffs(review.DiffsNeeds{
		Reviews: oneReview{Review: r}, Scanner: s, Rules: rules, Policies: noPolicies{}, Organizations: organizations{},
		Sources: sources{}, Enabled: true, Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
		OnEnd: func(string, time.Duration) {},
	})
}

func TestDiffsPageByPageAndKeepAnswers(t *testing.T) {
	t.Parallel()
	var jobs []review.DiffJob
	rules := &rulesets{digest: "d1"}
	d := newDiffs(complete(), rules, func(j review.DiffJob) (finding.Diff, error) {
		jobs = append(jobs, j)
		out := finding.Diff{Done: min(50, len(j.Paths))}
		for _, path := range j.Paths[:out.Done] {
			out.Files = append(out.Files, finding.FileDiff{Path: path})
		}
		return out, nil
	})

	in := review.DiffInput{ReviewID: "rev_0", Context: 3}
	first, err := d.Get(t.Context(), org, in)
	require.NoError(t, err)
	assert.Equal(t, review.DiffAvailable, first.Availability)
	assert.Len(t, first.Files, 50)
	assert.Equal(t, "a", first.Files[0].Path, "by path, each once")
	require.Len(t, jobs, 1)
	assert.Len(t, jobs[0].Paths, 64)
	assert.Equal(t, finding.Commits{Head: complete().HeadSHA, Base: complete().BaseSHA}, jobs[0].Commits)
	assert.Equal(t, "for rev_0", jobs[0].Source.Credential.Token)

	in.PageToken = first.NextPageToken
	second, err := d.Get(t.Context(), org, in)
	require.NoError(t, err)
	assert.Len(t, second.Files, 23)
	assert.Equal(t, "suppressed", second.Files[22].Path)
	assert.Empty(t, second.NextPageToken)
	_, err = d.Get(t.Context(), org, in)
	require.NoError(t, err)
	require.Len(t, jobs, 2, "the second page is kept")
	rules.digest = "d2"
	_, err = d.Get(t.Context(), org, in)
	require.NoError(t, err)
	assert.Len(t, jobs, 3, "other rules hide other lines")
	d.Now = func() time.Time { return time.Unix(1_800_000_000, 0).Add(time.Hour) }
	_, err = d.Get(t.Context(), org, in)
	require.NoError(t, err)
	assert.Len(t, jobs, 4, "nothing is kept for longer than an hour")

	in.Context = 4
	_, err = d.Get(t.Context(), org, in)
	assert.Equal(t, errs.InvalidArgument, errs.KindOf(err), "the token is for another context")
}

func TestDiffsThatCanNotBeShown(t *testing.T) {
	t.Parallel()
	failure := func(code string, lasting bool) error {
		return &review.ScanError{Failure: review.Failure{Code: code, Message: "M."}, Lasting: lasting, After: time.Minute}
	}
	fault := errors.New("fault")
	for name, tt := range map[string]struct {
		change func(*review.Review, *review.Diffs)
		err    error // of the scanner
		want   review.Availability
		kind   errs.Kind
	}{
		"off":              {change: func(_ *review.Review, d *review.Diffs) { d.Enabled = false }, want: review.DiffDisabled},
		"not allowed":      {change: func(r *review.Review, _ *review.Diffs) { r.Repo = "other/api" }, want: review.DiffGone},
		"gone":             {err: failure("commit_not_found", true), want: review.DiffGone},
		"too large":        {err: failure("pull_request_too_large", true), want: review.DiffTooLarge},
		"unreachable":      {err: failure("host_unreachable", false), kind: errs.Unavailable},
		"not complete":     {change: func(r *review.Review, _ *review.Diffs) { r.Status = review.Failed }, kind: errs.FailedPrecondition},
		"another's":        {change: func(r *review.Review, _ *review.Diffs) { r.Organization = "other" }, kind: errs.NotFound},
		"an unknown fault": {err: fault, kind: errs.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := complete()
			calls := 0
			d := newDiffs(r, &rulesets{}, func(review.DiffJob) (finding.Diff, error) { calls++; return finding.Diff{}, tt.err })
			if tt.change != nil {
				tt.change(&r, d)
				d.Reviews = oneReview{Review: r}
			}
			for range 2 {
				got, err := d.Get(t.Context(), org, review.DiffInput{ReviewID: "rev_0"})
				if tt.want != "" {
					require.NoError(t, err)
					assert.Equal(t, review.ShownDiff{Availability: tt.want}, got)
					continue
				}
				require.Error(t, err)
				assert.Equal(t, tt.kind, errs.KindOf(err))
			}
			if tt.err != nil {
				assert.Equal(t, 2, calls, "failures are not kept")
			} else {
				assert.Zero(t, calls)
			}
		})
	}
}

func TestDiffInput(t *testing.T) {
	t.Parallel()
	d := newDiffs(complete(), &rulesets{}, func(j review.DiffJob) (finding.Diff, error) {
		return finding.Diff{Done: len(j.Paths)}, nil
	})
	for field, in := range map[string]review.DiffInput{
		"from":       {Files: []string{"a"}, To: 2},
		"to":         {Files: []string{"a"}, From: 1, To: 201},
		"files":      {Files: []string{"a", "b"}, From: 1, To: 200},
		"page_token": {Files: []string{"a"}, From: 1, To: 200, PageToken: "x"},
	} {
		in.ReviewID = "rev_0"
		_, err := d.Get(t.Context(), org, in)
		e, ok := errors.AsType[*errs.Error](err)
		require.True(t, ok, field)
		require.Len(t, e.Fields, 1)
		assert.Equal(t, field, e.Fields[0].Field)
	}
	_, err := d.Get(t.Context(), org, review.DiffInput{ReviewID: "rev_0", Files: []string{"a"}, From: 1, To: 200})
	require.NoError(t, err)
}
