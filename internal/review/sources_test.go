package review_test

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// sourceAnswers are what a source says, one after the other.
type sourceAnswers chan error

func (a sourceAnswers) Source(_ context.Context, c review.Claim) (review.Source, error) {
	select {
	case err := <-a:
		return review.Source{}, err
	default:
		return review.Source{Credential: codehost.Credential{Token: c.Repo}, Guarded: true}, nil
	}
}

// TestSourceFails holds that a review fails, or waits, as its source says, and is
// scanned with what the source gives after that.
func TestSourceFails(t *testing.T) {
	t.Parallel()
	failure := func(code string) review.Failure { return review.Failure{Code: code, Message: "It is so."} }
	b := setup(t)
	type end struct {
		status review.Status
		code   string
	}
	answers, ends := make(sourceAnswers, 1), make(chan end, 10)
	b.dispatcher(t, func(o *review.DispatcherOptions) {
		o.Sources = answers
		o.OnEnd = func(s review.Status, code string, _ time.Duration) { ends <- end{s, code} }
	})

	answers <- &review.ScanError{Failure: failure("access_denied"), Lasting: true}
	r := b.await(t, b.create(t))
	assert.Equal(t, end{review.Failed, "access_denied"}, <-ends)
	assert.Equal(t, failure("access_denied"), *r.Failure)

	answers <- &review.ScanError{Failure: failure("host_unreachable"), Uncounted: true, After: time.Minute}
	id := b.create(t)
	assert.Equal(t, end{review.Queued, "host_unreachable"}, <-ends)
	b.clock.Advance(59 * time.Second)
	assert.Empty(t, b.scanner.calls)
	b.clock.Advance(time.Second)
	call := b.scanner.next(t)
	assert.Equal(t, review.Source{Credential: codehost.Credential{Token: "acme/api"}, Guarded: true}, call.job.Source)
	call.end(finding.Result{}, nil)
	r = b.await(t, id)
	require.Equal(t, review.Complete, r.Status)
	assert.Equal(t, 2, r.Attempt)
}

// TestCommitsOfTheCodeHost holds that what the host's API names is scanned and said to
// be so, and that a review keeps the commits that it names itself. Those of a connection
// are the host's.
func TestCommitsOfTheCodeHost(t *testing.T) {
	t.Parallel()
	sha := func(digit string) string { return strings.Repeat(digit, 40) }
	b := setup(t)
	b.dispatcher(t, func(o *review.DispatcherOptions) {
		o.Sources = namingSources{Head: sha("a"), BaseRef: "main"}
	})

	key, host := audit.Actor{Kind: audit.Key, ID: "key_a"}, audit.Actor{Kind: audit.Connection, ID: "con_a"}
	for _, tc := range []struct {
		actor   audit.Actor
		commits finding.Commits
		by      finding.BaseFoundBy
	}{
		{key, finding.Commits{}, finding.BaseCodeHost},
		{key, finding.Commits{Head: sha("b"), Base: sha("c")}, finding.BaseRequested},
		{host, finding.Commits{Head: sha("b"), BaseRef: "main"}, finding.BaseCodeHost},
	} {
		by, commits := tc.by, tc.commits
		in := review.CreateInput{Repo: "acme/api", PRNumber: 1, Commits: commits, RequireBase: true}
		accepted, err := b.service.Create(audit.NewContext(t.Context(), tc.actor), org, in)
		require.NoError(t, err)
		call := b.scanner.next(t)
		want := commits
		if want == (finding.Commits{}) {
			want = finding.Commits{Head: sha("a"), BaseRef: "main"}
		}
		assert.Equal(t, want, call.job.Commits)
		call.end(finding.Result{HeadSHA: want.Head, BaseSHA: cmp.Or(want.Base, sha("d")), BaseFoundBy: finding.BaseRequested}, nil)
		r := b.await(t, accepted.ReviewID)
		assert.Equal(t, by, r.BaseFoundBy)
		assert.Equal(t, commits, r.Commits)
	}
}

type namingSources finding.Commits

func (s namingSources) Source(context.Context, review.Claim) (review.Source, error) {
	return review.Source{Commits: finding.Commits(s)}, nil
}
