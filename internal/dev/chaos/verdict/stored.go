package verdict

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Read reads what the database has. watched tells whether it wrote transitions
// down.
func Read(ctx context.Context, db *sql.DB, watched bool) (Stored, error) {
	s := Stored{
		Reviews: make(map[string]Review), Findings: make(map[string][]Finding),
		Keys: make(map[Key]string), Organizations: make(map[string]Counts),
	}
	steps := []func(context.Context, *sql.DB) error{s.readReviews, s.readFindings, s.readKeys, s.readOrganizations}
	if watched {
		s.Transitions = []Transition{}
		steps = append(steps, s.readTransitions)
	}
	for _, step := range steps {
		if err := step(ctx, db); err != nil {
			return Stored{}, fmt.Errorf("read the database: %w", err)
		}
	}
	return s, nil
}

// each calls row for every row of a query; row scans it.
func each(ctx context.Context, db *sql.DB, query string, row func(scan func(...any) error) error) (err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *Stored) readReviews(ctx context.Context, db *sql.DB) error {
	const query = `SELECT id, organization, repo, pr_number, status, failure_code, failure_message,
		attempt, failures, lost, completed_at FROM reviews`
	return each(ctx, db, query, func(scan func(...any) error) error {
		var (
			id        string
			r         Review
			code      sql.NullString
			message   []byte
			completed sql.NullInt64
		)
		err := scan(&id, &r.Organization, &r.Repo, &r.Number, &r.Status, &code, &message, &r.Attempt, &r.Failures, &r.Lost, &completed)
		r.FailureCode, r.Message, r.CompletedAt = code.String, string(message), completed.Int64
		s.Reviews[id] = r
		return err
	})
}

func (s *Stored) readFindings(ctx context.Context, db *sql.DB) error {
	const query = `SELECT review_id, position, rule_id, severity, file, line, snippet, fingerprint
		FROM findings ORDER BY review_id, position`
	return each(ctx, db, query, func(scan func(...any) error) error {
		var (
			id            string
			f             Finding
			file, snippet []byte
		)
		err := scan(&id, &f.Position, &f.RuleID, &f.Severity, &file, &f.Line, &snippet, &f.Fingerprint)
		f.File, f.Snippet = string(file), string(snippet)
		s.Findings[id] = append(s.Findings[id], f)
		return err
	})
}

func (s *Stored) readKeys(ctx context.Context, db *sql.DB) error {
	const query = `SELECT organization, idem_key, review_id FROM idempotency_keys`
	return each(ctx, db, query, func(scan func(...any) error) error {
		var k Key
		var id string
		err := scan(&k.Organization, &k.Key, &id)
		s.Keys[k] = id
		return err
	})
}

func (s *Stored) readOrganizations(ctx context.Context, db *sql.DB) error {
	const query = `SELECT o.name, o.queued, o.running,
			(SELECT count(*) FROM reviews r WHERE r.organization = o.name AND r.status = 'queued'),
			(SELECT count(*) FROM reviews r WHERE r.organization = o.name AND r.status = 'in_progress')
		FROM organizations o`
	return each(ctx, db, query, func(scan func(...any) error) error {
		var name string
		var c Counts
		err := scan(&name, &c.Queued, &c.Running, &c.RowsQueued, &c.RowsRunning)
		s.Organizations[name] = c
		return err
	})
}

func (s *Stored) readTransitions(ctx context.Context, db *sql.DB) error {
	const query = `SELECT at, review_id, was, is_now, attempt, failures, lost, worker FROM chaos.transitions ORDER BY position`
	return each(ctx, db, query, func(scan func(...any) error) error {
		var t Transition
		err := scan(&t.At, &t.ReviewID, &t.Was, &t.Is, &t.Attempt, &t.Failures, &t.Lost, &t.Worker)
		s.Transitions = append(s.Transitions, t)
		return err
	})
}
