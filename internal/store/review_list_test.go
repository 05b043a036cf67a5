package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/review"
)

// TestListsAreBounded holds that what no index selects is looked for among some reviews
// at a time, and that all pages together have all.
func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		s := openAt(t, o)
		ctx := t.Context()
		sow(t, s, "acme", review.Complete, review.MaxLookedAt+1, 0)
		require.NoError(t, s.write(ctx, "name two", of("acme"), func(t *tx) error {
			_, err := t.exec(ctx, `UPDATE reviews SET search = 'a cart' WHERE id IN ('rev_acme_00000', 'rev_acme_00001')`)

			return err
		}))

		f := review.Filter{Words: []string{"cart"}, Limit: 10}
		var pages [][]string
		for range 2 {
			list, next, err := s.ListReviews(ctx, "acme", f)
			require.NoError(t, err)
			ids := []string{}
			for _, r := range list {
				ids = append(ids, r.ID)
			}
			pages = append(pages, ids)
			f.After = next
		}
		assert.Equal(t, [][]string{{"rev_acme_00001"}, {"rev_acme_00000"}}, pages)
		assert.Zero(t, f.After)

		for name, tc := range map[string]struct {
			filter  review.Filter
			want    int
			partial bool
		}{
			"all":        {review.Filter{}, review.MaxCount, false},
			"words":      {review.Filter{Words: []string{"cart"}}, 1, true},
			"repository": {review.Filter{Repo: "acme/shop"}, review.MaxCount, true},
			"none":       {review.Filter{PRNumber: 8}, 0, false},
		} {
			counts, partial, err := s.CountReviews(ctx, "acme", tc.filter)
			require.NoError(t, err, name)
			assert.Equal(t, tc.want, counts[review.Unsure], name)
			assert.Equal(t, tc.partial, partial, name)
		}
	})
}
