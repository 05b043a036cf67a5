package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/prwarden/prwarden/internal/rule"
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
// its way, and how long it leaves the other one alone, at most, in between.
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
	if s.dialect.postgres {
		now, err := enterPostgres(ctx, inner, scope)
		if err != nil {
			return err
		}
		s.clock.saw(now)
	}
	t.now = s.clock.now()

	if err := fn(t); err != nil {
		return err
	}
	if err := inner.Commit(); err != nil {
		return err
	}
	if s.notifier != nil {
		s.notifier.tell(t.events...)
	}
	if f := s.onPublication.Load(); f != nil && t.publishes {
		(*f)()
	}
	if f := s.onMessage.Load(); f != nil && t.messages {
		(*f)()
	}

	return nil
}

// tx is a transaction. Its queries are written with `?`.
type tx struct {
	*sqlx.Tx
	dialect  *dialect
	prepared *prepared // nil where queries are not prepared
	now      time.Time // when it happens, on the database's clock
	events   []string  // what other servers are told when it is committed

	publishes bool // it leaves something to publish
	messages  bool // it leaves messages for webhooks
}

// tell tells other servers after the commit.
func (t *tx) tell(event string) { t.events = append(t.events, event) }

// get reads one row into dest; sql.ErrNoRows when there is none.
func (t *tx) get(ctx context.Context, dest any, query string, args ...any) error {
	if stmt := t.prepared.statement(ctx, query); stmt != nil {
		//nolint:sqlclosecheck // the transaction's end closes it
		return t.StmtxContext(ctx, stmt).GetContext(ctx, dest, args...)
	}

	return t.GetContext(ctx, dest, t.Rebind(query), args...)
}

// list reads all rows into dest, a pointer to a slice.
func (t *tx) list(ctx context.Context, dest any, query string, args ...any) error {
	if stmt := t.prepared.statement(ctx, query); stmt != nil {
		//nolint:sqlclosecheck // the transaction's end closes it
		return t.StmtxContext(ctx, stmt).SelectContext(ctx, dest, args...)
	}

	return t.SelectContext(ctx, dest, t.Rebind(query), args...)
}

// exec executes a statement and returns how many rows it changed.
func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := t.ExecContext(ctx, t.Rebind(query), args...)
	if err != nil {
		return 0, err
	}

	return res.RowsAffected()
}

// insertRow inserts a struct with the columns as tags, or a slice of them, into a
// table.
func (t *tx) insertRow(ctx context.Context, table, columns string, row any) error {
	_, err := t.NamedExecContext(ctx, "INSERT INTO "+table+" ("+columns+
		") VALUES (:"+strings.ReplaceAll(columns, ", ", ", :")+")", row)

	return err
}

// rowsPerInsert bounds the parameters of one statement.
const rowsPerInsert = 100

// insert inserts n rows into a table; row returns the values of the row i.
func (t *tx) insert(ctx context.Context, table, columns string, n int, row func(i int) []any) error {
	return t.upsert(ctx, table, columns, "", n, row)
}

// upsert is insert with what is done about rows that are there already.
func (t *tx) upsert(ctx context.Context, table, columns, conflict string, n int, row func(i int) []any) error {
	values := "(?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	for i := 0; i < n; {
		size := min(rowsPerInsert, n-i)
		query := "INSERT INTO " + table + " (" + columns + ") VALUES " + values + strings.Repeat(", "+values, size-1) +
			conflict
		var args []any
		for end := i + size; i < end; i++ {
			args = append(args, row(i)...)
		}
		if _, err := t.exec(ctx, query, args...); err != nil {
			return err
		}
	}

	return nil
}

// lock ends a SELECT of rows of a table that the transaction goes on to change,
// and keeps others from changing them in between. On SQLite there is one writer.
func (t *tx) lock(table string) string {
	if t.dialect.postgres {
		return " FOR NO KEY UPDATE OF " + table
	}

	return ""
}

// lockFree is lock for the rows that nobody else has locked. It waits for nobody.
func (t *tx) lockFree(table string) string {
	if t.dialect.postgres {
		return t.lock(table) + " SKIP LOCKED"
	}

	return ""
}

// prepared are the queries that SQLite's readers keep prepared. There are few:
// get has constant ones.
type prepared struct {
	db      *sqlx.DB
	mu      sync.Mutex
	byQuery map[string]*sqlx.Stmt
}

// prepareWait is how long a query waits for a connection to be prepared on. The
// transaction that asks has one already, and the others may do the same.
const prepareWait = 20 * time.Millisecond

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

// Now is the time on the clock that the stored times are from. Servers whose
// own clocks differ agree on it. It is this machine's clock on SQLite, and on
// Postgres as much ahead or behind that as the database's clock was in the last
// transaction: late by at most the time that the begin of that took.
func (s *Store) Now() time.Time { return s.clock.now() }

// truncate makes t a time as the store keeps and returns it: UTC, in whole
// microseconds.
func truncate(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// timestamp is a time in the database: microseconds since 1970, NULL for the
// zero time. Integers mean the same in every database and sort.
type timestamp struct{ time.Time }

// at makes a timestamp of any time.
func at(t time.Time) timestamp {
	if t.IsZero() {
		return timestamp{}
	}

	return timestamp{truncate(t)}
}

// Value is what the database keeps.
func (s timestamp) Value() (driver.Value, error) {
	if s.IsZero() {
		return nil, nil
	}

	return s.UnixMicro(), nil
}

// Scan reads what Value wrote.
func (s *timestamp) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*s = timestamp{}
	case int64:
		*s = timestamp{time.UnixMicro(v).UTC()}
	default:
		return fmt.Errorf("a time is kept as an integer, not as %T", src)
	}

	return nil
}

// severity is a severity in the database: its word.
type severity rule.Severity

// Value is what the database keeps.
func (s severity) Value() (driver.Value, error) {
	word := rule.Severity(s).String()
	if word == "" {
		return nil, fmt.Errorf("%d is no severity", s)
	}

	return word, nil
}

// Scan reads what Value wrote.
func (s *severity) Scan(src any) error {
	word, err := text(src)
	if err != nil {
		return err
	}
	known, ok := rule.ParseSeverity(string(word))
	if !ok {
		return fmt.Errorf("unknown severity %q", word)
	}
	*s = severity(known)

	return nil
}

// jsonOf is a value that the database keeps as JSON. Bytes that are not UTF-8
// become U+FFFD.
type jsonOf[T any] struct{ value T }

// Value is what the database keeps.
func (j jsonOf[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(j.value)

	return string(b), err
}

// Scan reads what Value wrote.
func (j *jsonOf[T]) Scan(src any) error {
	b, err := text(src)
	if err != nil {
		return err
	}
	var value T
	err = json.Unmarshal(b, &value)
	j.value = value

	return err
}

// text is a text as drivers give it.
func text(src any) ([]byte, error) {
	switch v := src.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	}

	return nil, fmt.Errorf("a text is kept as text, not as %T", src)
}
