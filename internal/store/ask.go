package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// question is a query and what reads a row of its answer, nil for nobody.
type question struct {
	query string
	args  []any
	row   func(*sql.Rows) error
	// idle, when not nil, says by the answers to the questions before that there
	// is no answer. It counts where each is asked by itself.
	idle func() bool
}

// read reads the rows of the answer. An error may come after the last one, so
// that they are read for nobody, too.
func (q question) read(rows *sql.Rows) error {
	for rows.Next() {
		if q.row == nil {
			continue
		}
		if err := q.row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// ask reads the answers to questions from one state of the database, as far as
// the scope goes. It does what read does with the least that each database
// needs for that, because it is what callers wait for most often: Postgres gets
// everything in one message, and both keep the compiled queries. So the queries
// must be constants.
func (s *Store) ask(ctx context.Context, op string, scope scope, questions ...question) error {
	var err error
	if s.dialect.atOnce {
		err = s.askAtOnce(ctx, asking{scope: scope, kept: true}, questions)
	} else {
		err = s.askEach(ctx, questions)
	}
	if err != nil {
		return s.translate(ctx, op, err)
	}
	return nil
}

// asking goes with the context to a connection to Postgres, which says for
// whom before it asks.
type asking struct {
	ctx   context.Context // of the caller; its end ends the questions
	scope scope
	write bool // the questions change something
	kept  bool // the queries are constants, which connections keep compiled
	// compile makes a connection that lacks them compile the queries.
	compile func() string
}

// askingKey is the context's key of an *asking.
type askingKey struct{}

// askAtOnce sends all questions together. They are one transaction, which ends
// by itself, also when one of them fails.
func (s *Store) askAtOnce(ctx context.Context, a asking, questions []question) (err error) {
	var text string
	if a.kept {
		name := nameOf(questions)
		a.compile = func() string { return pgCompile(name, questions) }
		text, err = pgExecute(name, questions)
	} else {
		text, err = joined(questions, withLiterals)
	}
	if err != nil {
		return err
	}
	conn, err := s.pools.connection(ctx, s.pools.reader)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, conn.Close()) }()
	// The connection itself watches the caller's context.
	a.ctx = ctx
	inner := context.WithValue(context.WithoutCancel(ctx), askingKey{}, &a)
	rows, err := conn.QueryContext(inner, text)
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
	return nil
}

// askEach asks one after the other in a transaction.
func (s *Store) askEach(ctx context.Context, questions []question) (err error) {
	// First, because compiling takes a connection: whoever holds one already
	// could wait for others who do the same.
	compiled := make([]*sql.Stmt, len(questions))
	for i, q := range questions {
		if compiled[i], err = s.compiled.get(ctx, s.pools, q.query); err != nil { //nolint:sqlclosecheck // it stays
			return err
		}
	}
	conn, err := s.pools.connection(ctx, s.pools.reader)
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
	for i, q := range questions {
		if q.idle != nil && q.idle() {
			continue
		}
		if err := askOne(ctx, t, compiled[i], q); err != nil {
			return err
		}
	}
	return nil
}

func askOne(ctx context.Context, t *sql.Tx, compiled *sql.Stmt, q question) (err error) {
	rows, err := t.StmtContext(ctx, compiled).QueryContext(ctx, q.args...) //nolint:sqlclosecheck // the end of the transaction closes it
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, rows.Close()) }()
	return q.read(rows)
}

// compiledQueries are queries that the connections that read keep compiled. They
// live as long as their pool.
type compiledQueries struct {
	mu      sync.RWMutex
	byQuery map[string]*sql.Stmt
}

func (c *compiledQueries) get(ctx context.Context, p pools, query string) (*sql.Stmt, error) {
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
	stmt, err := within(ctx, p.wait, func(ctx context.Context) (*sql.Stmt, error) { return p.reader.PrepareContext(ctx, query) }) //nolint:sqlclosecheck // it stays
	if err != nil {
		return nil, err
	}
	if c.byQuery == nil {
		c.byQuery = make(map[string]*sql.Stmt)
	}
	c.byQuery[query] = stmt
	return stmt, nil
}
