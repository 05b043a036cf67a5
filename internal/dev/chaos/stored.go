package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	_ "github.com/lib/pq"  // the driver "postgres"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// auditSQL has Postgres write down every change of a review's state, in the transaction that makes it, whoever that is.
// Times are microseconds since 1970, of the moment and not of the transaction's begin.
const auditSQL = `
CREATE SCHEMA chaos;
CREATE TABLE chaos.transitions (
	position BIGSERIAL PRIMARY KEY, at BIGINT NOT NULL, review_id TEXT NOT NULL, was TEXT NOT NULL, is_now TEXT NOT NULL,
	attempt INTEGER NOT NULL, failures INTEGER NOT NULL, worker TEXT NOT NULL
);
CREATE FUNCTION chaos.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	INSERT INTO chaos.transitions (at, review_id, was, is_now, attempt, failures, worker)
	VALUES ((extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT, NEW.id,
		CASE TG_OP WHEN 'INSERT' THEN '' ELSE OLD.status END, NEW.status, NEW.attempt, NEW.failures, NEW.worker);
	RETURN NULL;
END $$;
CREATE TRIGGER chaos_created AFTER INSERT ON reviews FOR EACH ROW EXECUTE FUNCTION chaos.note();
CREATE TRIGGER chaos_changed AFTER UPDATE ON reviews FOR EACH ROW
	WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.attempt IS DISTINCT FROM NEW.attempt
		OR OLD.completed_at IS DISTINCT FROM NEW.completed_at) EXECUTE FUNCTION chaos.note();
`

// stored is what the database has.
type stored struct {
	reviews     map[string]row
	keys        map[string]string // of an organization and an idempotency key: the review
	counts      map[string]counts // of an organization
	transitions []transition      // in the order in which they were made; nil for SQLite
}

// row is a review.
type row struct {
	organization, repo string
	number             int
	status             string
	code, message      string // of a failure
}

// counts are those that an organization keeps, and those of its rows.
type counts struct{ queued, running, rowsQueued, rowsRunning int }

// transition is a change of a review's state or attempt.
type transition struct {
	at       int64
	review   string
	was, is  string // states; was is "" for a creation
	attempt  int
	failures int
	worker   string
}

// readStored reads the database past everything that prwarden puts before it.
func (w *world) readStored(ctx context.Context) (s stored, err error) {
	driver, source := "sqlite", strings.TrimPrefix(w.database, "sqlite:")
	if w.cluster != nil {
		driver, source = "postgres", w.cluster.SuperuserDSN(databaseName)
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	s = stored{reviews: map[string]row{}, keys: map[string]string{}, counts: map[string]counts{}}
	for _, read := range []func(context.Context, *sql.DB) error{s.readReviews, s.readKeys, s.readCounts} {
		if err := read(ctx, db); err != nil {
			return s, fmt.Errorf("read the database: %w", err)
		}
	}
	if w.cluster != nil {
		err = s.readTransitions(ctx, db)
	}
	return s, err
}

// each calls read for every row of a query.
func each(ctx context.Context, db *sql.DB, query string, read func(scan func(...any) error) error) (err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *stored) readReviews(ctx context.Context, db *sql.DB) error {
	const query = `SELECT id, organization, repo, pr_number, status, failure_code, failure_message FROM reviews`
	return each(ctx, db, query, func(scan func(...any) error) error {
		var id string
		var r row
		var code sql.NullString
		var message []byte
		err := scan(&id, &r.organization, &r.repo, &r.number, &r.status, &code, &message)
		r.code, r.message = code.String, string(message)
		s.reviews[id] = r
		return err
	})
}

func (s *stored) readKeys(ctx context.Context, db *sql.DB) error {
	const query = `SELECT organization, idem_key, review_id FROM idempotency_keys`
	return each(ctx, db, query, func(scan func(...any) error) error {
		var organization, key, id string
		err := scan(&organization, &key, &id)
		s.keys[organization+" "+key] = id
		return err
	})
}

func (s *stored) readCounts(ctx context.Context, db *sql.DB) error {
	const query = `SELECT o.name, o.queued, o.running,
			(SELECT count(*) FROM reviews r WHERE r.organization = o.name AND r.status = 'queued'),
			(SELECT count(*) FROM reviews r WHERE r.organization = o.name AND r.status = 'in_progress')
		FROM organizations o`
	return each(ctx, db, query, func(scan func(...any) error) error {
		var name string
		var c counts
		err := scan(&name, &c.queued, &c.running, &c.rowsQueued, &c.rowsRunning)
		s.counts[name] = c
		return err
	})
}

func (s *stored) readTransitions(ctx context.Context, db *sql.DB) error {
	const query = `SELECT at, review_id, was, is_now, attempt, failures, worker FROM chaos.transitions ORDER BY position`
	s.transitions = []transition{}
	return each(ctx, db, query, func(scan func(...any) error) error {
		var t transition
		err := scan(&t.at, &t.review, &t.was, &t.is, &t.attempt, &t.failures, &t.worker)
		s.transitions = append(s.transitions, t)
		return err
	})
}
