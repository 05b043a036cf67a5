package review_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// reviewed has complete reviews, the newest first.
type reviewed struct {
	review.Reviews
	all []review.Review
}

func (s reviewed) ListReviews(_ context.Context, _ string, f review.Filter) (
	out []review.Review, next page.Cursor, err error,
) {
	for _, r := range s.all {
		after := f.After == page.Cursor{} || r.CreatedAt.Before(f.After.At)
		if !after || f.Repo != "" && r.Repo != f.Repo {
			continue
		}
		if len(out) == f.Limit {
			last := out[len(out)-1]

			return out, page.Cursor{At: last.CreatedAt, ID: last.ID}, nil
		}
		out = append(out, r)
	}

	return out, next, nil
}

// ofRepo has rules of a repository.
type ofRepo []rule.Rule

func (o ofRepo) RulesFor(context.Context, string, string) (rule.Set, error) {
	return rule.Set{Rules: o}, nil
}

// scans is a scanner that a test gives.
type scans func(context.Context, review.Job) (finding.Result, error)

func (scans) Available() bool { return true }

func (f scans) Scan(ctx context.Context, j review.Job, _ func(review.Progress)) (finding.Result, error) {
	return f(ctx, j)
}

func (scans) Await(context.Context) {}

func reviewsOf(n int) (all []review.Review) {
	for i := range n {
		all = append(all, review.Review{
			ID: fmt.Sprintf("rev_%d", i), Organization: "acme", Repo: "acme/shop", PRNumber: int32(i/2 + 1),
			HeadSHA: fmt.Sprintf("%040d", i), BaseSHA: fmt.Sprintf("%040x", 10+i), CreatedAt: time.Unix(int64(-i), 0),
		})
	}

	return all
}

func tried(rules ...rule.Rule) review.TrialInput { return review.TrialInput{Rules: rules, Last: 3} }

func newTrials(all []review.Review, own ofRepo, s scans) *review.Trials {
	return review.NewTrials(reviewed{all: all}, s, own, nil, organizations{}, sources{})
}

func TestTrial(t *testing.T) {
	t.Parallel()
	a := rule.Rule{ID: "a", Pattern: "a", Severity: rule.Low, Disabled: true, Mode: rule.ModeObserve}
	elsewhere := rule.Rule{ID: "b", Pattern: "b", Scope: rule.ScopeRepo, Repo: "acme/site"}
	secret := rule.Rule{ID: "secrets/s", Pattern: "s", Redact: true, Origin: rule.OriginDefault}
	old := rule.Rule{ID: "custom/a", Pattern: "old", Redact: true, Origin: rule.OriginCustom}
	loud := rule.Rule{ID: "loud", Pattern: "x", Origin: rule.OriginCustom}
	var jobs []review.Job
	trials := newTrials(reviewsOf(500), ofRepo{secret, old, loud}, func(_ context.Context, j review.Job) (finding.Result, error) {
		jobs = append(jobs, j)
		if j.PRNumber == 2 {
			return finding.Result{}, &review.ScanError{Failure: review.Failure{Code: "commit_not_found", Message: "Gone."}}
		}
		hit := finding.Finding{RuleID: "custom/a", State: finding.StateNew}

		return finding.Result{
			Findings:  append(slices.Repeat([]finding.Finding{hit}, 12), finding.Finding{RuleID: "secrets/s"}),
			Truncated: true,
		}, nil
	})

	got, err := trials.Try(t.Context(), "acme", tried(a, elsewhere))
	require.NoError(t, err)
	assert.Zero(t, got.Untried)
	require.Len(t, got.PullRequests, 3)
	for i, id := range []string{"rev_0", "rev_2", "rev_4"} {
		assert.Equal(t, id, got.PullRequests[i].Review.ID, "the last review of each")
	}
	first := got.PullRequests[0]
	assert.Equal(t, map[string]int{"custom/a": 12}, first.Hits)
	assert.Len(t, first.Findings, 10)
	assert.Empty(t, first.Findings[0].State)
	assert.True(t, first.Truncated)
	assert.Equal(t, &review.Failure{Code: "commit_not_found", Message: "Gone."}, got.PullRequests[1].Failure)

	a.Origin, a.Disabled, a.Mode = rule.OriginCustom, false, rule.ModeEnforce
	old.ID, old.Origin = "meta/hides-1", rule.OriginDefault
	assert.Equal(t, []rule.Rule{a, secret, old}, jobs[0].Rules.Rules,
		"those tried, and those that hide, also where one to try has the id")
	assert.Equal(t, finding.Commits{Head: first.Review.HeadSHA, Base: first.Review.BaseSHA}, jobs[0].Commits)
	assert.Equal(t, rule.RulesetCustom, jobs[0].Ruleset)
}

func TestTrialLooksBehindManyReviewsOfOnePullRequest(t *testing.T) {
	t.Parallel()
	all := reviewsOf(300)
	for i := range 250 {
		all[i].PRNumber = 1
	}
	trials := newTrials(all, nil, func(context.Context, review.Job) (finding.Result, error) { return finding.Result{}, nil })
	got, err := trials.Try(t.Context(), "acme", tried())
	require.NoError(t, err)
	assert.Len(t, got.PullRequests, 3)
}

func TestTrialEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		trials := newTrials(reviewsOf(8), nil, func(ctx context.Context, j review.Job) (finding.Result, error) {
			if j.PRNumber > 1 {
				<-ctx.Done()
				return finding.Result{}, ctx.Err()
			}
			return finding.Result{}, nil
		})
		begun := time.Now()
		got, err := trials.Try(t.Context(), "acme", tried())
		require.NoError(t, err)
		assert.Equal(t, review.TrialTime, time.Since(begun))
		assert.Len(t, got.PullRequests, 1)
		assert.Equal(t, 2, got.Untried)
	})
}

func TestTrialFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	trials := newTrials(reviewsOf(2), nil, func(context.Context, review.Job) (finding.Result, error) {
		return finding.Result{}, broken
	})
	_, err := trials.Try(t.Context(), "acme", tried())
	require.ErrorIs(t, err, broken)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = trials.Try(gone, "acme", tried())
	require.ErrorIs(t, err, context.Canceled)
}
