package inbox_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
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
