package store

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/lib/pq"
)

// pgRows are the rows of lib/pq.
type pgRows interface {
	driver.Rows
	driver.RowsNextResultSet
}

// ask asks questions in one message, which is one transaction. It begins for
// whom the asking is, and what comes back begins with the first question.
func (c *pgConn) ask(a *asking, questions string) (_ driver.Rows, err error) {
	if err := a.ctx.Err(); err != nil {
		return nil, err
	}
	if err := a.scope.check(); err != nil {
		return nil, err
	}
	stop := c.net.endWith(a.ctx)
	defer func() {
		if err != nil {
			stop()
		}
	}()
	mode := "REPEATABLE READ READ ONLY"
	if a.write {
		mode = "READ COMMITTED READ WRITE"
	}
	begin := "SET TRANSACTION ISOLATION LEVEL " + mode + "; SELECT " + a.scope.set() + ", " + pgMessageTimeouts + "; "
	out, err := c.send(a, begin+questions)
	var refused *pq.Error
	if a.compile != nil && errors.As(err, &refused) && lacksCompiled(string(refused.Code)) {
		out, err = c.send(a, begin+a.compile()+questions)
	}
	if err != nil {
		return nil, err
	}
	out.stop = stop
	return out, nil
}

// send sends a message, and passes over the answer to its first SELECT.
func (c *pgConn) send(a *asking, text string) (*pgAnswers, error) {
	rows, err := c.pqConn.QueryContext(context.WithoutCancel(a.ctx), text, nil)
	if err != nil {
		return nil, err
	}
	out := &pgAnswers{stop: func() {}}
	var ok bool
	if out.pgRows, ok = rows.(pgRows); !ok {
		err = errors.New("lib/pq has changed: its rows have no more than one answer")
	} else if err = out.pgRows.Next(make([]driver.Value, 1)); err == nil {
		err = out.NextResultSet()
	}
	if err != nil {
		return nil, firstError(err, rows.Close())
	}
	return out, nil
}

// pgAnswers are answers that come while the end of a context is watched.
type pgAnswers struct {
	pgRows
	stop func()
}

// NextResultSet implements driver.RowsNextResultSet. What is left of the answer
// before is passed over.
func (r *pgAnswers) NextResultSet() error {
	for !r.HasNextResultSet() {
		// It returns io.EOF at the end of each answer, and of all.
		if err := r.Next(make([]driver.Value, len(r.Columns()))); err != nil && !r.HasNextResultSet() {
			return err
		}
	}
	return r.pgRows.NextResultSet()
}

// Close implements driver.Rows.
func (r *pgAnswers) Close() error {
	defer r.stop()
	return r.pgRows.Close()
}
