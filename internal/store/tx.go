package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
)

// scope says whose rows a transaction may see and write. Where the database
// has row-level security, it holds whatever a query says: the second line
// behind the organization in each query.
type scope string

// allOrganizations is the scope of what belongs to no one organization: the
// queue, retention, keys by their hash.
const allOrganizations scope = "*"

// of is the scope of an organization. It is never allOrganizations.
func of(organization string) scope {
	if organization == string(allOrganizations) {
		return "" // no organization has this name: nothing
	}

	return scope(organization)
}

// write does fn in one transaction that may write, as far as the scope goes. It
// is committed, durably, when fn returns nil, and leaves nothing behind
// otherwise. op names it in unexpected errors. fn may be called again, when the
// transaction and another one were in each other's way.
func (s *Store) write(ctx context.Context, op string, scope scope, fn func(*tx) error) error {
	return s.transaction(ctx, op, s.pools.writer, nil, scope, fn)
}

// read does fn in one transaction that sees one state of the database, as far
// as the scope goes.
func (s *Store) read(ctx context.Context, op string, scope scope, fn func(*tx) error) error {
	return s.transaction(ctx, op, s.pools.reader, s.dialect.readTx, scope, fn)
}

// How often a transaction is tried that is in the way of another and that in
// its way, and how long it leaves the other one alone, at most, in between:
// that one has to wake up first.
const (
	tries    = 5
	tryPause = 50 * time.Millisecond
)

func (s *Store) transaction(
	ctx context.Context, op string, db *sqlx.DB, o *sql.TxOptions, scope scope, fn func(*tx) error,
) error {
	for try := 1; ; try++ {
		err := s.try(ctx, db, o, scope, fn)
		if err == nil {
			return nil
		}
		if try == tries || s.dialect.classify(err) != conflict {
			return s.translate(ctx, op, err)
		}

		// The database has undone it.
		select {
		case <-ctx.Done():
		case <-time.After(tryPause/2 + rand.N(tryPause/2)):
		}
	}
}

func (s *Store) try(ctx context.Context, db *sqlx.DB, o *sql.TxOptions, scope scope, fn func(*tx) error) error {
	inner, end, err := s.pools.begin(ctx, db, o)
	if err != nil {
		return err
	}
	defer end()
	// After a commit this does nothing. Its own error adds nothing to the one
	// that led here.
	defer func() { _ = inner.Rollback() }()

	t := &tx{Tx: inner, dialect: &s.dialect}
	if db != s.pools.writer {
		t.prepared = &s.prepared
	}
	if t.now, err = s.enter(ctx, inner, scope); err != nil {
		return err
	}
	if err := fn(t); err != nil {
		return err
	}
	if err := inner.Commit(); err != nil {
		return err
	}
	s.tell(t.events...)

	return nil
}

// enter says for whom a transaction works, and returns when it happens: its
// begin on the database's clock.
func (s *Store) enter(ctx context.Context, t *sqlx.Tx, scope scope) (time.Time, error) {
	if s.dialect.enter == nil {
		return s.clock.now(), nil
	}

	now, err := s.dialect.enter(ctx, t, scope)
	if err != nil {
		return time.Time{}, err
	}
	s.clock.saw(now)
	if s.clock.fixed != nil {
		return s.clock.now(), nil
	}

	return now, nil
}

// begin begins a transaction, within p.wait. end must be called after it.
func (p pools) begin(ctx context.Context, db *sqlx.DB, o *sql.TxOptions) (t *sqlx.Tx, end func(), err error) {
	// A transaction ends with its context, so that can't have the limit.
	ctx, cancel := context.WithCancelCause(ctx)
	end = func() { cancel(nil) }
	timer := time.AfterFunc(p.wait, func() { cancel(errPoolWait) })

	t, err = db.BeginTxx(ctx, o)
	if !timer.Stop() && errors.Is(context.Cause(ctx), errPoolWait) {
		if err == nil {
			_ = t.Rollback() // it has ended already
		}
		err = unavailableError("wait for a connection", errPoolWait)
	}
	if err != nil {
		end()
		return nil, nil, &connectError{err}
	}

	return t, end, nil
}

// tell tells other servers, where there may be some, what is committed.
func (s *Store) tell(events ...string) {
	if s.dialect.shared {
		s.notifier.tell(events...)
	}
}

// tx is a transaction. Its queries are written with `?`.
type tx struct {
	*sqlx.Tx
	dialect *dialect
	now     time.Time // when it happens
	events  []string  // what other servers are told when it is committed

	prepared *prepared // nil where get and each prepare nothing
}

// waits tells other servers, after the commit, that a review waits to be claimed.
func (t *tx) waits() { t.events = append(t.events, waitsEvent) }

// changed tells other servers, after the commit, that a review's state changed.
func (t *tx) changed(id string) { t.events = append(t.events, changedEvent+id) }

// canceled tells other servers, after the commit, that a review was canceled.
func (t *tx) canceled(id string) { t.events = append(t.events, canceledEvent+id) }

// get reads one row into dest; sql.ErrNoRows when there is none.
func (t *tx) get(ctx context.Context, dest any, query string, args ...any) error {
	if stmt := t.prepared.statement(ctx, query); stmt != nil {
		//nolint:sqlclosecheck // the transaction's end closes it
		return t.StmtxContext(ctx, stmt).GetContext(ctx, dest, args...)
	}

	return t.GetContext(ctx, dest, t.rebind(query), args...)
}

// list reads all rows into dest, a pointer to a slice.
func (t *tx) list(ctx context.Context, dest any, query string, args ...any) error {
	return t.SelectContext(ctx, dest, t.rebind(query), args...)
}

// each calls row for each row of the answer.
func (t *tx) each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) (err error) {
	var rows *sql.Rows
	if stmt := t.prepared.statement(ctx, query); stmt != nil {
		rows, err = t.StmtxContext(ctx, stmt).QueryContext(ctx, args...)
	} else {
		rows, err = t.QueryContext(ctx, t.rebind(query), args...)
	}
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong

	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}

	return rows.Err()
}

// exec executes a statement and returns how many rows it changed.
func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := t.ExecContext(ctx, t.rebind(query), args...)
	if err != nil {
		return 0, err
	}

	return res.RowsAffected()
}

// prepareWait is how long a query waits for a connection to be prepared on. The
// transaction that asks has one already, and the others may do the same.
const prepareWait = 20 * time.Millisecond

// prepared are the queries that SQLite's readers keep prepared. There are few:
// get and each have constant ones.
type prepared struct {
	db      *sqlx.DB
	mu      sync.Mutex
	byQuery map[string]*sqlx.Stmt
}

// statement returns a query prepared, and nil when that is not possible now.
func (p *prepared) statement(ctx context.Context, query string) *sqlx.Stmt {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if stmt := p.byQuery[query]; stmt != nil {
		return stmt
	}

	ctx, cancel := context.WithTimeout(ctx, prepareWait)
	defer cancel()
	stmt, err := p.db.PreparexContext(ctx, query) //nolint:sqlclosecheck // it lives as long as its pool
	if err != nil {
		return nil // the query itself says what is wrong
	}
	if p.byQuery == nil {
		p.byQuery = make(map[string]*sqlx.Stmt)
	}
	p.byQuery[query] = stmt

	return stmt
}

func (t *tx) rebind(query string) string { return sqlx.Rebind(t.dialect.bind, query) }

// clock is the clock of a store: times that are stored, and whatever is
// compared with them, are read from it.
type clock struct {
	fixed func() time.Time // for tests; nil for the real one
	ahead atomic.Int64     // nanoseconds that the database's clock is ahead of this machine's, when last seen
}

// saw notes the database's time, which an answer has just brought.
func (c *clock) saw(now time.Time) { c.ahead.Store(int64(time.Until(now))) }

// now is the time on the database's clock, as far as is known.
func (c *clock) now() time.Time {
	if c.fixed != nil {
		return truncate(c.fixed())
	}

	return truncate(time.Now().Add(time.Duration(c.ahead.Load())))
}

// parameter is the time of a test's clock, and NULL for the database's own.
func (c *clock) parameter() timestamp {
	if c.fixed == nil {
		return timestamp{}
	}

	return at(c.now())
}

// Now is the time on the clock that the stored times are from. Servers whose
// own clocks differ agree on it. It is this machine's clock on SQLite, and on
// Postgres as much ahead or behind that as the database's clock was in the last
// transaction: late by at most the time that the begin of that took.
func (s *Store) Now() time.Time { return s.clock.now() }

// setClock finds out what time it is in the database.
func (s *Store) setClock(ctx context.Context) error {
	if !s.dialect.shared {
		return nil
	}

	return s.read(ctx, "read the clock", allOrganizations, func(*tx) error { return nil })
}
