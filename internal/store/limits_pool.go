package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
)

// poolWait is how long a call waits for a connection. The gate lets a bounded
// number of requests in, so a longer wait means that the database hangs; and
// who waits for it should hear of that while he still listens.
const poolWait = 3 * time.Second

var errPoolWait = errors.New("no connection became free")

// connection takes a connection of one of the pools, within p.wait.
func (p pools) connection(ctx context.Context, db *sqlx.DB) (*sql.Conn, error) {
	return within(ctx, p.wait, func(ctx context.Context) (*sql.Conn, error) { return db.Conn(ctx) })
}

// within gives get only wait. What it gets may not end with its context.
func within[T any](ctx context.Context, wait time.Duration, get func(context.Context) (T, error)) (none T, err error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got, err := get(waiting)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return none, away("wait for a connection", errPoolWait)
	}
	return got, err
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
		err = away("wait for a connection", errPoolWait)
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return t, end, nil
}
