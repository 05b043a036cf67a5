package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// question is a query, whose parameters are all text, and what reads the rows
// of its answer.
type question struct {
	query string
	args  []string
	read  func(*sql.Rows) error
}

// ask reads the answers to questions from one state of the database, as far as
// the scope goes. It does what read does with the least that each database
// needs for that, because it is what callers wait for most often: Postgres gets
// everything in one message, and SQLite keeps the compiled queries. So the
// queries must be constants.
func (s *Store) ask(ctx context.Context, op string, scope scope, questions ...question) error {
	ask := s.askEach
	if s.dialect.askAtOnce {
		ask = s.askAtOnce
	}
	if err := ask(ctx, scope, questions); err != nil {
		return s.translate(ctx, op, err)
	}
	return nil
}

// asking goes with the context to a connection to Postgres, which says for
// whom before it asks.
type asking struct {
	ctx   context.Context // of the caller; its end ends the questions
	scope scope
}

// askingKey is the context's key of an *asking.
type askingKey struct{}

// askAtOnce sends all questions together. They are one transaction, which ends
// by itself, also when one of them fails.
func (s *Store) askAtOnce(ctx context.Context, scope scope, questions []question) (err error) {
	var text strings.Builder
	for i, q := range questions {
		if i > 0 {
			text.WriteString("; ")
		}
		if err := q.write(&text); err != nil {
			return err
		}
	}
	conn, err := s.pools.reader.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, conn.Close()) }()
	// The connection itself watches the caller's context.
	inner := context.WithValue(context.WithoutCancel(ctx), askingKey{}, &asking{ctx, scope})
	rows, err := conn.QueryContext(inner, text.String())
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, rows.Close()) }()
	for i, q := range questions {
		if i > 0 && !rows.NextResultSet() {
			return firstError(rows.Err(), errors.New("a question was not answered"))
		}
		if err := q.read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// write writes the query with its parameters in it. Messages of several
// statements have no other place for them.
func (q question) write(to *strings.Builder) error {
	parts := strings.Split(q.query, "?")
	if len(parts) != len(q.args)+1 {
		return fmt.Errorf("a question with %d places for %d parameters", len(parts)-1, len(q.args))
	}
	to.WriteString(parts[0])
	for i, arg := range q.args {
		if strings.ContainsRune(arg, 0) {
			return errors.New("a parameter with a NUL byte, where the statements would end")
		}
		to.WriteString(pq.QuoteLiteral(arg))
		to.WriteString(parts[i+1])
	}
	return nil
}

// askEach asks one after the other in a transaction.
func (s *Store) askEach(ctx context.Context, _ scope, questions []question) (err error) {
	conn, err := s.pools.reader.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, conn.Close()) }()
	// A question takes far less time than what it would take to watch ctx.
	ctx = context.WithoutCancel(ctx)
	t, err := conn.BeginTx(ctx, s.dialect.readTx)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }() // nothing was written
	for _, q := range questions {
		if err := s.askOne(ctx, t, q); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) askOne(ctx context.Context, t *sql.Tx, q question) (err error) {
	compiled, err := s.compiled.get(ctx, s.pools.reader, q.query)
	if err != nil {
		return err
	}
	args := make([]any, len(q.args))
	for i, arg := range q.args {
		args[i] = arg
	}
	rows, err := t.StmtContext(ctx, compiled).QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, rows.Close()) }()
	if err := q.read(rows); err != nil {
		return err
	}
	return rows.Err()
}

// compiledQueries are queries that connections keep compiled. They live as long
// as their pool.
type compiledQueries struct {
	mu      sync.RWMutex
	byQuery map[string]*sql.Stmt
}

func (c *compiledQueries) get(ctx context.Context, db *sqlx.DB, query string) (*sql.Stmt, error) {
	c.mu.RLock()
	stmt := c.byQuery[query]
	c.mu.RUnlock()
	if stmt != nil {
		return stmt, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if stmt := c.byQuery[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if c.byQuery == nil {
		c.byQuery = make(map[string]*sql.Stmt)
	}
	c.byQuery[query] = stmt
	return stmt, nil
}
