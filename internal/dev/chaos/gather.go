package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq" // the driver "postgres"
	"github.com/prometheus/procfs"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// auditSQL has Postgres write down every change of a review's state, in the transaction that makes it, whoever that is.
const auditSQL = `
CREATE SCHEMA chaos;
CREATE TABLE chaos.transitions (
	position BIGSERIAL PRIMARY KEY, review_id TEXT NOT NULL, was TEXT NOT NULL, is_now TEXT NOT NULL,
	attempt INTEGER NOT NULL
);
CREATE FUNCTION chaos.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	INSERT INTO chaos.transitions (review_id, was, is_now, attempt)
	VALUES (NEW.id, CASE TG_OP WHEN 'INSERT' THEN '' ELSE OLD.status END, NEW.status, NEW.attempt);
	RETURN NULL;
END $$;
CREATE TRIGGER chaos_created AFTER INSERT ON reviews FOR EACH ROW EXECUTE FUNCTION chaos.note();
CREATE TRIGGER chaos_changed AFTER UPDATE ON reviews FOR EACH ROW
	WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.attempt IS DISTINCT FROM NEW.attempt
		OR OLD.completed_at IS DISTINCT FROM NEW.completed_at) EXECUTE FUNCTION chaos.note();
`

// stored is what the database has.
type stored struct {
	reviews     map[string]row // by identifier
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
	Review  string `db:"review_id"`
	Was     string // "" for a creation
	Is      string `db:"is_now"`
	Attempt int
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
	err = errors.Join(
		db.SelectContext(ctx, &rows, `SELECT id, organization, repo, pr_number, status, coalesce(failure_code, '') AS code
			FROM reviews`),
		db.SelectContext(ctx, &s.counts, `SELECT o.name, o.queued, o.running,
			(SELECT count(*) FROM reviews r WHERE r.organization = o.name AND r.status = 'queued') AS rowsqueued,
			(SELECT count(*) FROM reviews r WHERE r.organization = o.name AND r.status = 'in_progress') AS rowsrun
			FROM organizations o`))
	if w.cluster != nil {
		err = errors.Join(err, db.SelectContext(ctx, &s.transitions, `SELECT review_id, was, is_now, attempt
			FROM chaos.transitions ORDER BY position`))
	}

	s.reviews = map[string]row{}
	for _, r := range rows {
		s.reviews[r.ID] = r
	}
	return s, err
}

// gather collects the evidence, and ends the world's processes on the way.
func (r *run) gather(ctx context.Context) (*evidence, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.s.settle)
	defer cancel()
	e := &evidence{
		mostPassing: r.s.mostPassing, faults: r.made,
		records: r.clients.records, shown: r.clients.readAll(ctx),
	}
	if err := r.stop(ctx); err != nil {
		return nil, err
	}

	left, err1 := r.leftovers(ctx)
	stored, err2 := r.readStored(ctx)
	e.strange, e.stored = slices.Concat(r.clients.complaints, left), stored
	return e, errors.Join(err1, err2)
}

// leftovers are processes that work in the folder of the world, when they had time to end, temporary files, and lines
// of logs that should not be there.
func (w *world) leftovers(ctx context.Context) (left []string, err error) {
	left, err = processesIn(w.s.dir)
	for n := 0; n < 100 && err == nil && len(left) > 0; n++ {
		_ = pause(ctx, 200*time.Millisecond) // what was killed may still be ending
		left, err = processesIn(w.s.dir)
	}

	for _, p := range w.processes() {
		files, err1 := filepath.Glob(filepath.Join(p.TempDir(), "*"))
		lines, err2 := p.readLog()
		left, err = slices.Concat(left, files, lines), errors.Join(err, err1, err2)
	}

	return left, err
}

// processesIn are the command lines of the processes that work in a folder.
func processesIn(dir string) (found []string, err error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		cwd, err := p.Cwd()
		if err != nil || !strings.HasPrefix(cwd+"/", dir+"/") {
			continue // it ended, or is somebody else's
		}
		line, _ := p.CmdLine()
		found = append(found, fmt.Sprintf("process %d: %s", p.PID, strings.Join(line, " ")))
	}

	return found, nil
}
