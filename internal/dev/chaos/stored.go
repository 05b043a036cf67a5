package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
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
	reviews     map[string]row    // by identifier
	keys        map[string]string // of an organization and an idempotency key: the review
	counts      []counts
	transitions []transition // in the order in which they were made; nil for SQLite
}

// row is a review.
type row struct {
	ID     string
	Org    string `db:"organization"`
	Repo   string
	Number int `db:"pr_number"`
	Status string
	Code   string
}

func (r row) pull() string { return fmt.Sprintf("%s#%d", r.Repo, r.Number) }

// counts are those that an organization keeps, and those of its rows.
type counts struct {
	Name                string
	Queued, Running     int
	RowsQueued, RowsRun int
}

// transition is a change of a review's state or attempt.
type transition struct {
	At       int64
	Review   string `db:"review_id"`
	Was      string // "" for a creation
	Is       string `db:"is_now"`
	Attempt  int
	Failures int
	Worker   string
}

// readStored reads the database past everything that prwarden puts before it.
func (w *world) readStored(ctx context.Context) (s stored, err error) {
	driver, source := "sqlite", strings.TrimPrefix(w.Database, "sqlite:")
	if w.cluster != nil {
		driver, source = "postgres", w.cluster.SuperuserDSN(databaseName)
	}
	db, err := sqlx.ConnectContext(ctx, driver, source)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	var rows []row
	var keys []struct{ Name, ID string }
	err = errors.Join(
		db.SelectContext(ctx, &rows, `SELECT id, organization, repo, pr_number, status, coalesce(failure_code, '') AS code
			FROM reviews`),
		db.SelectContext(ctx, &keys, `SELECT organization || ' ' || idem_key AS name, review_id AS id FROM idempotency_keys`),
		db.SelectContext(ctx, &s.counts, `SELECT o.name, o.queued, o.running,
			(SELECT count(*) FROM reviews r WHERE r.organization = o.name AND r.status = 'queued') AS rowsqueued,
			(SELECT count(*) FROM reviews r WHERE r.organization = o.name AND r.status = 'in_progress') AS rowsrun
			FROM organizations o`))
	if w.cluster != nil {
		err = errors.Join(err, db.SelectContext(ctx, &s.transitions, `SELECT at, review_id, was, is_now, attempt, failures,
			worker FROM chaos.transitions ORDER BY position`))
	}

	s.reviews, s.keys = map[string]row{}, map[string]string{}
	for _, r := range rows {
		s.reviews[r.ID] = r
	}
	for _, k := range keys {
		s.keys[k.Name] = k.ID
	}
	return s, err
}
