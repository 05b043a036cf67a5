package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// TestProgramsOfVersion2 does to the database what programs for schema version 2
// do that work on it, too.
func TestProgramsOfVersion2(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		ctx, s := t.Context(), openAt(t, o)
		given := newReview("acme", "rev_given")
		given.Commits = review.Commits{Head: strings.Repeat("a", 40), BaseRef: "main"}
		_, err := s.CreateReview(ctx, given, 10)
		require.NoError(t, err)
		claimable := func() (ids []string) {
			require.NoError(t, s.read(ctx, "look", of("acme"), func(t *tx) error {
				return t.list(ctx, &ids, `SELECT w.id FROM reviews w WHERE w.organization = 'acme' AND w.status = 'queued'
					AND w.not_before <= ? ORDER BY w.created_at, w.id`, at(t.now))
			}))
			return ids
		}
		assert.Empty(t, claimable(), "they would scan something else")
		for range 2 {
			c, err := s.Claim(ctx, "worker", 0)
			require.NoError(t, err)
			assert.Equal(t, given.Commits, c.Commits)
			// They take it for lost, and then it waits as before.
			_, err = s.ReapExpired(ctx, 10)
			require.NoError(t, err)
			assert.Empty(t, claimable())
			c, err = s.Claim(ctx, "worker", 0)
			require.NoError(t, err)
			require.NoError(t, s.Release(ctx, *c, 0))
			assert.Empty(t, claimable())
		}
		_, err = s.CancelReview(ctx, "acme", "rev_given")
		require.NoError(t, err)

		// What they store is read, and compared with.
		require.NoError(t, s.write(ctx, "store as before", of("acme"), func(t *tx) error {
			if _, err := t.exec(ctx, `INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at, completed_at, summary)
				VALUES ('rev_old', 'acme', 'acme/shop', 7, 'acme/shop', 'complete', 1, 2, '{"high":2}')`); err != nil {
				return err
			}
			_, err := t.exec(ctx, `INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint)
				VALUES ('rev_old', 0, 'custom/r', 'high', ?, 1, 1, 1, ?, ?, 'f0'), ('rev_old', 1, 'custom/r', 'high', ?, 2, 2, 1, ?, ?, 'f1')`,
				[]byte("a"), []byte("m"), []byte("s"), []byte("b"), []byte("m"), []byte("s"))
			return err
		}))
		old, err := s.GetReview(ctx, "acme", "rev_old")
		require.NoError(t, err)
		assert.Equal(t, rule.High, old.FailOn)
		assert.False(t, old.Passes())
		assert.Equal(t, review.Commits{}, old.Commits)
		require.Len(t, old.Findings, 2)
		assert.Equal(t, review.New, old.Findings[0].State)

		_, err = s.CreateReview(ctx, newReview("acme", "rev_new"), 10)
		require.NoError(t, err)
		c, err := s.Claim(ctx, "worker", 0)
		require.NoError(t, err)
		now := manyFindings(1)
		now.Findings[0].Fingerprint = "f1"
		require.NoError(t, s.Finish(ctx, *c, now))
		r, err := s.GetReview(ctx, "acme", "rev_new")
		require.NoError(t, err)
		assert.Equal(t, "rev_old", r.PreviousID)
		assert.Equal(t, review.Existing, r.Findings[0].State)
		require.Len(t, r.Fixed, 1)
		assert.Equal(t, "a", r.Fixed[0].File)

		// Their way to delete takes along what they don't know.
		require.NoError(t, s.write(ctx, "delete as before", everyone, func(t *tx) error {
			for _, query := range []string{"DELETE FROM findings", "DELETE FROM skips", "DELETE FROM reviews"} {
				if _, err := t.exec(ctx, query); err != nil {
					return err
				}
			}
			return nil
		}))
		var left int
		require.NoError(t, s.read(ctx, "look", everyone, func(t *tx) error { return t.get(ctx, &left, "SELECT COUNT(*) FROM findings_apart") }))
		assert.Zero(t, left)
	})
}
