package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/review"
)

// announceAtOnce is how many organizations one transaction announces: creations
// of reviews wait for their organization's row.
const announceAtOnce = 50

// announceGap is the longest pause between two announcements in which the
// organizations of other servers can't have become unnamed for review.Grace:
// theirs come every minute, too.
const announceGap = review.Grace / 2

// announcing is when a server announced what its configuration names: from
// since to last, without a gap. Both are zero before the first time, and after
// an attempt that failed.
type announcing struct {
	mu          sync.Mutex
	since, last time.Time
}

// did notes an announcement.
func (a *announcing) did(now time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch gap := now.Sub(a.last); {
	case err != nil:
		a.since, a.last = time.Time{}, time.Time{}
		return
	case gap < 0 || gap > announceGap:
		a.since = now
	}
	a.last = now
}

// forAll tells whether the server announced all the while from a time to now.
func (a *announcing) forAll(from, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.last.IsZero() && !a.since.After(from) && now.Sub(a.last) <= announceGap
}

// Announce implements review.RetentionStore.
func (s *Store) Announce(ctx context.Context) error {
	var now time.Time
	// In one order, so that two servers can't wait for each other's rows.
	for names := range slices.Chunk(slices.Sorted(slices.Values(s.organizations)), announceAtOnce) {
		err := s.write(ctx, "announce organizations", everyone, func(t *tx) error {
			now = t.now
			args := make([]any, 0, 2*len(names))
			for _, name := range names {
				args = append(args, name, at(t.now))
			}
			_, err := t.exec(ctx, `INSERT INTO organizations (name, configured_at) VALUES (?, ?)`+strings.Repeat(", (?, ?)", len(names)-1)+`
				ON CONFLICT (name) DO UPDATE SET configured_at = excluded.configured_at`, args...)
			return err
		})
		if err != nil {
			s.announcing.did(now, err)
			return err
		}
	}
	if !now.IsZero() { // it has organizations
		s.announcing.did(now, nil)
	}
	return nil
}

// FailRemoved implements review.RetentionStore. It does nothing unless this store has
// announced its own organizations all the while: what kept it from that may have
// kept other servers from it, too. An organization that no server has ever
// announced, of a database from before there were announcements, has the grace
// from the first look on.
func (s *Store) FailRemoved(ctx context.Context, grace time.Duration, f review.Failure) (failed []string, more bool, err error) {
	more, err = s.step(ctx, "fail reviews of removed organizations", func(t *tx) (bool, error) {
		failed = nil
		if _, err := t.exec(ctx, `UPDATE organizations SET configured_at = ? WHERE configured_at = 0`, at(t.now)); err != nil {
			return false, err
		}
		if !s.announcing.forAll(t.now.Add(-grace), t.now) {
			return false, nil
		}
		var org string
		err := t.get(ctx, &org, `SELECT name FROM organizations WHERE queued > 0 AND configured_at <= ?
			ORDER BY name LIMIT 1`, at(t.now.Add(-grace)))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return false, nil
		case err != nil:
			return false, err
		}
		if err := t.list(ctx, &failed, `SELECT id FROM reviews WHERE organization = ? AND status = 'queued'
			ORDER BY created_at, id LIMIT ?`+t.dialect.lockRow, org, purgeSmall); err != nil {
			return false, err
		}
		for _, id := range failed {
			if _, err := t.exec(ctx, `UPDATE reviews SET `+failSet+` WHERE organization = ? AND id = ?`,
				at(t.now), f.Code, []byte(f.Message), org, id); err != nil {
				return false, err
			}
			t.changed(id)
		}
		// There may be another organization, too.
		return len(failed) > 0, t.count(ctx, org, review.Queued, review.Failed, len(failed))
	})
	if err != nil {
		return nil, false, err
	}
	return failed, more, nil
}

// Organization is what a database has of an organization.
type Organization struct {
	Name         string
	Queued       int       // reviews that wait
	Running      int       // reviews in progress
	Reviews      int       // all reviews
	Rules        int       // rules that were created over the API
	Keys         int       // API keys that are not revoked
	ConfiguredAt time.Time // when a server last had it in its configuration; zero for never
	LastReview   time.Time // when the newest review was created; zero without any
}

// organizationRow is an Organization as the database counts it.
type organizationRow struct {
	Name         string `db:"name"`
	Queued       int    `db:"queued"`
	Running      int    `db:"running"`
	Reviews      int    `db:"reviews"`
	Rules        int    `db:"rules"`
	Keys         int    `db:"keys"`
	ConfiguredAt stamp  `db:"configured_at"`
	LastReview   stamp  `db:"last_review"`
}

// Organizations lists all organizations that the database has anything of, by
// name. It counts every review, which takes a while with millions: one statement
// an organization, each within the time that a statement has.
func (s *Store) Organizations(ctx context.Context) ([]Organization, error) {
	var names []string
	err := s.read(ctx, "list organizations", everyone, func(t *tx) error {
		names = nil
		// An organization may have keys before it has anything else.
		return t.list(ctx, &names, `SELECT name FROM organizations UNION SELECT organization FROM api_keys ORDER BY name`)
	})
	if err != nil {
		return nil, err
	}
	out := make([]Organization, len(names))
	for i, name := range names {
		var r organizationRow
		if err := s.read(ctx, "count an organization", of(name), func(t *tx) error {
			return t.get(ctx, &r, `SELECT n.name AS name, COALESCE(o.queued, 0) AS queued, COALESCE(o.running, 0) AS running,
					(SELECT COUNT(*) FROM reviews r WHERE r.organization = n.name) AS reviews,
					COALESCE(o.rules, 0) AS rules,
					(SELECT COUNT(*) FROM api_keys k WHERE k.organization = n.name AND k.revoked_at IS NULL) AS keys,
					NULLIF(o.configured_at, 0) AS configured_at,
					(SELECT MAX(r.created_at) FROM reviews r WHERE r.organization = n.name) AS last_review
				FROM (SELECT CAST(? AS TEXT) AS name) n LEFT JOIN organizations o ON o.name = n.name`, name)
		}); err != nil {
			return nil, err
		}
		out[i] = Organization{
			Name: r.Name, Queued: r.Queued, Running: r.Running, Reviews: r.Reviews, Rules: r.Rules, Keys: r.Keys,
			ConfiguredAt: r.ConfiguredAt.Time, LastReview: r.LastReview.Time,
		}
	}
	return out, nil
}

// PurgeOrganization deletes everything of an organization, its keys first,
// step by step, as review.Steps does, until there is no more, or ctx ends. progress hears how many
// reviews are deleted so far. It refuses, with a sentence for the operator, while
// a server has announced the organization less than grace ago, and when there
// is nothing of it.
func (s *Store) PurgeOrganization(ctx context.Context, org string, grace time.Duration, progress func(reviews int)) (review.Deleted, error) {
	var total review.Deleted
	err := review.Steps(ctx, func() (more bool, err error) {
		var d review.Deleted
		var refusal error
		err = s.write(ctx, "delete an organization", of(org), func(t *tx) (err error) {
			if refusal, err = t.mayPurge(ctx, org, grace); refusal != nil || err != nil {
				return err
			}
			d, more, err = t.purgeStep(ctx, org)
			return err
		})
		if err = errors.Join(refusal, err); err != nil {
			return false, err
		}
		total = total.Plus(d)
		progress(total.Reviews)
		return more, nil
	})
	return total, err
}

// mayPurge says why an organization may not be deleted, nil when it may.
func (t *tx) mayPurge(ctx context.Context, org string, grace time.Duration) (refusal, err error) {
	var all struct {
		Rows         int   `db:"row_count"`
		ConfiguredAt stamp `db:"configured_at"`
	}
	if err := t.get(ctx, &all, `SELECT (SELECT COUNT(*) FROM organizations WHERE name = ?) +
			(SELECT COUNT(*) FROM api_keys WHERE organization = ?) AS row_count,
			(SELECT NULLIF(configured_at, 0) FROM organizations WHERE name = ?) AS configured_at`, org, org, org); err != nil {
		return nil, err
	}
	switch {
	case all.Rows == 0:
		return fmt.Errorf("the database has nothing of an organization %q", org), nil
	case all.ConfiguredAt.After(t.now.Add(-grace)):
		return fmt.Errorf("a server had the organization %q in its configuration at %s; remove it there from every server, restart them, and try again %s later",
			org, all.ConfiguredAt.Format(time.RFC3339), grace), nil
	}
	return nil, nil
}

// purgeStep deletes a part of what there is of an organization. Its row goes
// last; more is false then.
func (t *tx) purgeStep(ctx context.Context, org string) (deleted review.Deleted, more bool, err error) {
	// Without keys nobody can add to what is being deleted.
	keys, err := t.exec(ctx, `DELETE FROM api_keys WHERE organization = ?`, org)
	if err != nil {
		return deleted, false, err
	}
	var rows []ended
	if err := t.list(ctx, &rows, `SELECT `+endedColumns+` FROM reviews r WHERE organization = ?
		ORDER BY created_at, id LIMIT ?`+t.lockOf("r"), org, purgeReviews); err != nil {
		return deleted, false, err
	}
	batch := firstBatch(rows)
	if deleted, err = t.deleteReviews(ctx, batch); err != nil {
		return deleted, false, err
	}
	deleted.APIKeys = int(keys)
	for _, r := range batch {
		if !r.Status.Final() {
			if err := t.count(ctx, org, r.Status, "", 1); err != nil {
				return deleted, false, err
			}
		}
	}
	if len(batch) > 0 {
		return deleted, true, nil
	}
	for _, from := range []string{"idempotency_keys", "rules", "rules_files", "scan_durations"} {
		n, err := t.exec(ctx, `DELETE FROM `+from+` WHERE organization = ?`, org)
		if err != nil {
			return deleted, false, err
		}
		if from == "idempotency_keys" {
			deleted.IdempotencyKeys = int(n)
		}
	}
	_, err = t.exec(ctx, `DELETE FROM organizations WHERE name = ?`, org)
	return deleted, false, err
}
