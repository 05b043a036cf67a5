package inbox_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/review"
)

// However many reviews others make, the connection knows its own.
func TestManyReviewsOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(*codehost.PullRequest) {})
		w.tell(t, "opened", hint(7))
		for range review.MaxPageSize {
			<-time.After(time.Millisecond)
			made, err := w.reviews.Create(t.Context(), acme, review.CreateInput{
				Repo: repo, PRNumber: 7, Commits: finding.Commits{Head: head("a"), BaseRef: "main"},
			})
			require.NoError(t, err)
			_, err = w.reviews.Cancel(t.Context(), acme, made.ReviewID)
			require.NoError(t, err)
		}

		own := func() (list []string) {
			reviews, _, err := w.reviews.List(t.Context(), acme, review.ListInput{Selection: review.Selection{CreatedBy: "connection:con_a"}})
			require.NoError(t, err)
			for _, r := range reviews {
				list = append(list, r.Commits.Head[:1]+" "+string(r.Status))
			}
			return list
		}
		w.tell(t, "labeled", hint(7))
		assert.Equal(t, []string{"a queued"}, own())
		w.set(7, func(p *codehost.PullRequest) { p.HeadSHA = head("b") })
		w.tell(t, "pushed", hint(7))
		assert.Equal(t, []string{"b queued", "a canceled"}, own())
	})
}

// What is published of a head is its last scan, so one against another base in between
// counts for nothing.
func TestRetargetedThereAndBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i, base := range []string{"main", "dev", "main", "main"} {
			w.set(7, func(p *codehost.PullRequest) { p.BaseRef = base })
			require.Equal(t, inbox.Done, w.tell(t, fmt.Sprint(i), hint(7)))
			if c, err := w.store.Claim(t.Context(), review.Claiming{Worker: "w", Lease: time.Hour}); i < 3 {
				require.NoError(t, err)
				require.NotNil(t, c, "step %d queues a scan", i)
				assert.Equal(t, base, c.Commits.BaseRef)
				result := finding.Result{HeadSHA: head("a"), BaseSHA: head("0"), Summary: finding.NewSummary()}
				result.Judge(review.DefaultFailOn, func(string) bool { return false })
				require.NoError(t, w.store.Finish(t.Context(), *c, result))
			}
		}
		assert.Equal(t, []string{"a main complete", "a dev complete", "a main complete"}, w.made(t, 7))
	})
}
