package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// keyColumns are those of keyRow.
const keyColumns = `id, organization, name, hash, scopes, rate_limit, created_at, expires_at, last_used_at, ` +
	`revoked_at, created_by, parent`

// keyRow is an API key as it is stored.
type keyRow struct {
	ID           string               `db:"id"`
	Organization string               `db:"organization"`
	Name         string               `db:"name"`
	Hash         string               `db:"hash"`
	Scopes       jsonOf[[]auth.Scope] `db:"scopes"`
	RateLimit    int                  `db:"rate_limit"`
	CreatedAt    timestamp            `db:"created_at"`
	ExpiresAt    timestamp            `db:"expires_at"`
	LastUsedAt   timestamp            `db:"last_used_at"`
	RevokedAt    timestamp            `db:"revoked_at"`
	CreatedBy    string               `db:"created_by"`
	Parent       string               `db:"parent"`
}

func (r keyRow) key() auth.Key {
	return auth.Key{
		ID: r.ID, Organization: r.Organization, Name: r.Name, Hash: r.Hash, Scopes: r.Scopes.value, RateLimit: r.RateLimit,
		CreatedAt: r.CreatedAt.Time, ExpiresAt: r.ExpiresAt.Time, LastUsedAt: r.LastUsedAt.Time, RevokedAt: r.RevokedAt.Time,
		CreatedBy: r.CreatedBy, Parent: r.Parent,
	}
}

// CreateKey implements auth.KeyStore. A key is created neither used nor
// revoked, whatever k says.
func (s *Store) CreateKey(ctx context.Context, k auth.Key, quota int) (auth.Key, error) {
	row := keyRow{
		ID: k.ID, Organization: k.Organization, Name: k.Name, Hash: k.Hash, Scopes: jsonOf[[]auth.Scope]{k.Scopes},
		RateLimit: k.RateLimit, ExpiresAt: at(k.ExpiresAt), CreatedBy: k.CreatedBy, Parent: k.Parent,
	}
	err := s.write(ctx, "create a key", of(k.Organization), func(t *tx) error {
		row.CreatedAt = at(t.now)
		if err := t.admitKey(ctx, k, quota); err != nil {
			return err
		}
		if err := t.insertRow(ctx, "api_keys", keyColumns, row); err != nil {
			return err
		}

		return t.audit(ctx, k.Organization, audit.Change{Action: audit.KeyCreate, Target: k.ID, Fields: row.key().Audited()})
	})
	if err != nil {
		return auth.Key{}, err
	}

	return row.key(), nil
}

// admitKey fails when an organization may have no more keys, or the key or person
// that makes this one may not any more: a server may still know a key that was
// just revoked. It keeps others from making or revoking keys meanwhile.
func (t *tx) admitKey(ctx context.Context, k auth.Key, quota int) error {
	if err := t.lockOrganization(ctx, k.Organization); err != nil {
		return err
	}

	if k.Parent != "" {
		if err := t.checkKey(ctx, k.Organization, k.Parent); err != nil {
			return err
		}
	}
	if maker := audit.FromContext(ctx); maker.Kind == audit.User {
		role, err := t.role(ctx, k.Organization, maker.ID)
		if err == nil {
			err = auth.Caller{UserID: maker.ID, Role: role, Scopes: role.Scopes()}.Require(auth.KeysAdmin)
		}
		if err != nil {
			return err
		}
	}

	var valid int
	err := t.get(ctx, &valid, `SELECT COUNT(*) FROM api_keys WHERE organization = ? AND revoked_at IS NULL
		AND (expires_at IS NULL OR expires_at > ?)`, k.Organization, at(t.now))
	if err == nil && valid >= quota {
		return errs.New(errs.FailedPrecondition, errs.ReasonKeyQuota,
			"The organization has %d valid keys, which is the most. Revoke one first.", valid)
	}

	return err
}

// checkKey fails with Unauthenticated unless a key of an organization works.
func (t *tx) checkKey(ctx context.Context, org, id string) error {
	var row keyRow
	err := t.get(ctx, &row, `SELECT `+keyColumns+` FROM api_keys WHERE id = ? AND organization = ?`, id, org)
	if errors.Is(err, sql.ErrNoRows) {
		return errs.New(errs.Unauthenticated, errs.ReasonKeyInvalid, "There is no such API key on this server.")
	}
	if err != nil {
		return err
	}

	return row.key().Check(t.now)
}

// KeyByHash implements auth.KeyStore.
func (s *Store) KeyByHash(ctx context.Context, hash string) (k auth.Key, ok bool, err error) {
	var row struct {
		keyRow
		OrganizationLimit int `db:"organization_limit"`
	}
	err = s.read(ctx, "read a key", allOrganizations, func(t *tx) error {
		return t.get(ctx, &row, `SELECT `+keyColumns+`, COALESCE(
			(SELECT o.rate_limit FROM organizations o WHERE o.name = api_keys.organization), 0) AS organization_limit
			FROM api_keys WHERE hash = ?`, hash)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return auth.Key{}, false, nil
	}
	k = row.key()
	k.OrganizationLimit = row.OrganizationLimit

	return k, err == nil, err
}

// ListKeys implements auth.KeyStore.
func (s *Store) ListKeys(ctx context.Context, org string) ([]auth.Key, error) {
	where, limit := "organization = ?", auth.MaxListed
	if org == "" {
		where, limit = "? = ''", math.MaxInt32
	}

	var rows []keyRow
	err := s.read(ctx, "read keys", keyScope(org), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT `+keyColumns+` FROM api_keys WHERE `+where+`
			ORDER BY (revoked_at IS NOT NULL OR (expires_at IS NOT NULL AND expires_at <= ?)), created_at DESC, id DESC
			LIMIT ?`, org, at(t.now), limit)
	})
	out := make([]auth.Key, len(rows))
	for i, row := range rows {
		out[i] = row.key()
	}

	return out, err
}

// keyScope is the scope of calls that are about an organization's keys, or
// about all for "".
func keyScope(org string) scope {
	if org == "" {
		return allOrganizations
	}

	return of(org)
}

// RevokeKey implements auth.KeyStore.
func (s *Store) RevokeKey(ctx context.Context, org, id string, children bool) (revoked []string, err error) {
	err = s.write(ctx, "revoke a key", keyScope(org), func(t *tx) error {
		var owner string
		err := t.get(ctx, &owner, `SELECT organization FROM api_keys WHERE id = ? AND (organization = ? OR ? = '')`,
			id, org, org)
		if errors.Is(err, sql.ErrNoRows) {
			return errs.New(errs.NotFound, errs.ReasonKeyNotFound, "There is no key %q.", id)
		}
		if err != nil {
			return err
		}
		if revoked, err = t.revokeKeys(ctx, owner, id, children); err != nil || len(revoked) == 0 {
			return err
		}

		return t.audit(ctx, owner, audit.Change{Action: audit.KeyRevoke, Target: id, Fields: childFields(id, revoked)})
	})

	return revoked, err
}

// revokeKeys revokes a key of an organization, and with children all that descend
// from it and work. A key that one of them makes at the same time is revoked or
// refused.
func (t *tx) revokeKeys(ctx context.Context, org, id string, children bool) (revoked []string, err error) {
	if err := t.lockOrganization(ctx, org); err != nil {
		return nil, err
	}

	family, args := `SELECT id FROM api_keys WHERE id = ?`, []any{id}
	if children {
		family += ` UNION SELECT k.id FROM family f JOIN api_keys k ON k.parent = f.id AND k.parent <> ''`
	}
	err = t.list(ctx, &revoked, `WITH RECURSIVE family (id) AS (`+family+`)
		UPDATE api_keys SET revoked_at = ? WHERE id IN (SELECT id FROM family) AND revoked_at IS NULL
			AND (id = ? OR expires_at IS NULL OR expires_at > ?) RETURNING id`,
		append(args, at(t.now), id, at(t.now))...)

	return revoked, err
}

// childFields names the keys that were revoked beside the one that was asked for.
func childFields(id string, revoked []string) []audit.Field {
	var fields []audit.Field
	for _, child := range slices.Sorted(slices.Values(revoked)) {
		if child != id {
			fields = append(fields, audit.Field{Name: "child", Before: child})
		}
	}

	return fields
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

// Windows returns the windows of the rate limit that all servers on a Postgres
// database count in. Their table is not logged: after a crash of the database it
// is empty, and all windows begin anew. It is nil for SQLite, which one server
// has to itself.
func (s *Store) Windows() auth.Windows {
	if !s.dialect.postgres {
		return nil
	}

	return s
}

// countRequest counts and starts windows in one statement: that of a key, and
// that of its organization unless the key has no requests left. All statements
// lock the rows in this order. A window that ends later than one can is the work
// of a clock that was wrong; a statement that waited for the row may see one that
// began a moment after it.
var countRequest = strings.NewReplacer(
	"$now", `COALESCE($2, `+pgClock+`)`, "$window", strconv.FormatInt(auth.Window.Microseconds(), 10),
).Replace(strings.ReplaceAll(`WITH own AS (
		INSERT INTO rate_limits AS w (name, window_end, taken) VALUES ($1, $now + $window, 1) $upsert),
	organization AS (
		INSERT INTO rate_limits AS w (name, window_end, taken)
		SELECT $3, $now + $window, 1 FROM own WHERE own.taken <= $4 AND $3 <> '' $upsert)
	SELECT own.taken, own.window_end, COALESCE(o.taken, 0) AS group_taken, o.window_end AS group_end, $now AS now
	FROM own LEFT JOIN organization o ON TRUE`, "$upsert", `ON CONFLICT (name) DO UPDATE SET
		taken = CASE WHEN w.window_end BETWEEN excluded.window_end - $window + 1 AND excluded.window_end + $window
			THEN w.taken + 1 ELSE 1 END,
		window_end = CASE WHEN w.window_end BETWEEN excluded.window_end - $window + 1 AND excluded.window_end + $window
			THEN w.window_end ELSE excluded.window_end END
		RETURNING taken, window_end`))

// CountRequest implements auth.Windows. The table belongs to no organization,
// so one statement without a transaction does. It has a row for each key that
// was used in the last day, and one for its organization, no more: addresses are not counted
// here.
func (s *Store) CountRequest(
	ctx context.Context, name string, limit int, group string,
) (own, of auth.Counted, err error) {
	var now timestamp // NULL for the database's clock
	if s.clock.fixed != nil {
		now = at(s.Now())
	}
	var row struct {
		Taken      int
		End        timestamp `db:"window_end"`
		GroupTaken int       `db:"group_taken"`
		GroupEnd   timestamp `db:"group_end"`
		Now        timestamp
	}

	limited, cancel := context.WithTimeout(ctx, s.pools.wait)
	defer cancel()
	if err := s.pools.writer.GetContext(limited, &row, countRequest, name, now, group, limit); err != nil {
		return auth.Counted{}, auth.Counted{}, s.translate(ctx, "count a request", err)
	}

	own = auth.Counted{Taken: row.Taken, End: row.End.Time, Left: row.End.Sub(row.Now.Time)}
	if row.GroupTaken > 0 {
		of = auth.Counted{Taken: row.GroupTaken, End: row.GroupEnd.Time, Left: row.GroupEnd.Sub(row.Now.Time)}
	}

	return own, of, nil
}
