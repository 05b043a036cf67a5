package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
)

// purgeAtOnce bounds how many expired idempotency keys one creation deletes:
// more than it adds, so that they can't pile up, and few enough to be cheap.
const purgeAtOnce = 100

// claimIdempotencyKey stores n's idempotency key with n's answer, or returns
// the answer that the key has already. The same key with another request is
// Aborted.
func (t *tx) claimIdempotencyKey(ctx context.Context, n review.NewReview) (*review.Accepted, error) {
	now := at(t.now)
	if _, err := t.exec(ctx, `DELETE FROM idempotency_keys WHERE organization = ? AND idem_key IN
		(SELECT idem_key FROM idempotency_keys WHERE organization = ? AND expires_at <= ?
		 ORDER BY expires_at LIMIT ?)`, n.Organization, n.Organization, now, purgeAtOnce); err != nil {
		return nil, err
	}
	// One statement decides between creations at the same time. It also
	// replaces the key when it is expired and was not among those deleted.
	changed, err := t.exec(ctx, `INSERT INTO idempotency_keys
		(organization, idem_key, request_hash, review_id, estimated_ms, expires_at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (organization, idem_key) DO UPDATE SET request_hash = excluded.request_hash,
			review_id = excluded.review_id, estimated_ms = excluded.estimated_ms, expires_at = excluded.expires_at
		WHERE idempotency_keys.expires_at <= ?`,
		n.Organization, n.Idempotency.Key, n.Idempotency.RequestHash, n.ID, n.EstimatedMS,
		at(t.now.Add(n.Idempotency.TTL)), now)
	if err != nil || changed > 0 {
		return nil, err
	}
	var earlier struct {
		RequestHash string `db:"request_hash"`
		ReviewID    string `db:"review_id"`
		EstimatedMS int32  `db:"estimated_ms"`
	}
	err = t.get(ctx, &earlier, `SELECT request_hash, review_id, estimated_ms FROM idempotency_keys
		WHERE organization = ? AND idem_key = ?`, n.Organization, n.Idempotency.Key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, errors.New("an idempotency key is taken and not there")
	case err != nil:
		return nil, err
	case earlier.RequestHash != n.Idempotency.RequestHash:
		return nil, errs.New(errs.Aborted, errs.ReasonIdempotencyConflict,
			"The idempotency key was used with another request. Use a new key for a new request.")
	}
	return &review.Accepted{ReviewID: earlier.ReviewID, EstimatedMS: earlier.EstimatedMS, Replayed: true}, nil
}
