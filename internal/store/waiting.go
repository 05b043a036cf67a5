package store

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/review"
)

// waiting is an organization as Waiting reads it.
type waiting struct {
	Organization string        `db:"name"`
	Queued       int           `db:"queued"`
	Oldest       time.Duration `db:"oldest"`
}

// Waiting implements review.Overview. It looks at one row of reviews for each
// organization that has some waiting.
func (s *Store) Waiting(ctx context.Context) ([]review.Waiting, error) {
	var rows []waiting
	err := s.read(ctx, "look at the queue", everyone, func(t *tx) error {
		return t.list(ctx, &rows, `SELECT o.name, o.queued, COALESCE((? - (SELECT r.created_at FROM reviews r
				WHERE r.organization = o.name AND r.status = 'queued' ORDER BY r.created_at, r.id LIMIT 1)) * 1000, 0) AS oldest
			FROM organizations o WHERE o.queued > 0 ORDER BY o.queued DESC, o.name`, at(t.now))
	})
	if err != nil {
		return nil, err
	}
	out := make([]review.Waiting, len(rows))
	for i, row := range rows {
		out[i] = review.Waiting(row)
	}
	return out, nil
}
