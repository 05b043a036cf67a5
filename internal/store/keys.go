package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// keyColumns are those of keyRow.
const keyColumns = `id, organization, name, hash, scopes, rate_limit, created_at, expires_at, last_used_at, revoked_at`

// keyRow is an API key as it is stored.
type keyRow struct {
	ID           string    `db:"id"`
	Organization string    `db:"organization"`
	Name         string    `db:"name"`
	Hash         string    `db:"hash"`
	Scopes       texts     `db:"scopes"`
	RateLimit    int       `db:"rate_limit"`
	CreatedAt    timestamp `db:"created_at"`
	ExpiresAt    timestamp `db:"expires_at"`
	LastUsedAt   timestamp `db:"last_used_at"`
	RevokedAt    timestamp `db:"revoked_at"`
}

func (r keyRow) key() auth.Key {
	var scopes []auth.Scope
	for _, s := range r.Scopes {
		scopes = append(scopes, auth.Scope(s))
	}

	return auth.Key{
		ID: r.ID, Organization: r.Organization, Name: r.Name, Hash: r.Hash, Scopes: scopes, RateLimit: r.RateLimit,
		CreatedAt: r.CreatedAt.Time, ExpiresAt: r.ExpiresAt.Time, LastUsedAt: r.LastUsedAt.Time, RevokedAt: r.RevokedAt.Time,
	}
}

// CreateKey implements auth.KeyStore. A key is created neither used nor
// revoked, whatever k says.
func (s *Store) CreateKey(ctx context.Context, k auth.Key) (auth.Key, error) {
	var scopes texts
	for _, scope := range k.Scopes {
		scopes = append(scopes, string(scope))
	}
	var row keyRow
	err := s.write(ctx, "create a key", of(k.Organization), func(t *tx) error {
		return t.get(ctx, &row, `INSERT INTO api_keys
				(id, organization, name, hash, scopes, rate_limit, created_at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING `+keyColumns,
			k.ID, k.Organization, k.Name, k.Hash, scopes, k.RateLimit, at(t.now), at(k.ExpiresAt))
	})
	if err != nil {
		return auth.Key{}, err
	}

	return row.key(), nil
}

// KeyByHash implements auth.KeyStore.
func (s *Store) KeyByHash(ctx context.Context, hash string) (k auth.Key, ok bool, err error) {
	var rows []keyRow
	err = s.read(ctx, "find a key", allOrganizations, func(t *tx) error {
		return t.list(ctx, &rows, `SELECT `+keyColumns+` FROM api_keys WHERE hash = ?`, hash)
	})
	if err != nil || len(rows) == 0 {
		return auth.Key{}, false, err
	}

	return rows[0].key(), true, nil
}

// keyScope is the scope of calls that are about an organization's keys, or
// about all for "".
func keyScope(org string) scope {
	if org == "" {
		return allOrganizations
	}

	return of(org)
}

// ListKeys implements auth.KeyStore.
func (s *Store) ListKeys(ctx context.Context, org string) ([]auth.Key, error) {
	query, args := `SELECT `+keyColumns+` FROM api_keys WHERE revoked_at IS NULL`, []any(nil)
	if org != "" {
		query, args = query+` AND organization = ?`, append(args, org)
	}
	var rows []keyRow
	err := s.read(ctx, "list keys", keyScope(org), func(t *tx) error {
		return t.list(ctx, &rows, query+` ORDER BY created_at DESC, id DESC`, args...)
	})
	if err != nil {
		return nil, err
	}
	out := make([]auth.Key, 0, len(rows))
	for _, row := range rows {
		out = append(out, row.key())
	}

	return out, nil
}

// RevokeKey implements auth.KeyStore.
func (s *Store) RevokeKey(ctx context.Context, org, id string) error {
	return s.write(ctx, "revoke a key", keyScope(org), func(t *tx) error {
		query, args := `UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`, []any{at(t.now), id}
		if org != "" {
			query, args = query+` AND organization = ?`, append(args, org)
		}
		n, err := t.exec(ctx, query, args...)
		if err == nil && n == 0 {
			return errs.New(errs.NotFound, errs.ReasonKeyNotFound, "There is no key %q.", id)
		}

		return err
	})
}

// TouchKeys implements auth.KeyStore.
func (s *Store) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	if len(used) == 0 {
		return nil
	}

	return s.write(ctx, "store when keys were used", allOrganizations, func(t *tx) error {
		// In one order, so that two servers can't wait for each other's rows.
		for _, id := range slices.Sorted(maps.Keys(used)) {
			if _, err := t.exec(ctx, `UPDATE api_keys SET last_used_at = ?
				WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)`, at(used[id]), id, at(used[id])); err != nil {
				return err
			}
		}

		return nil
	})
}
