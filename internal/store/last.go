package store

import (
	"context"
	"errors"
	"fmt"
)

// What every transaction of an organization changes, such as its counts, is
// changed last: where the database is another process, together with the
// commit in one message. The row is locked no longer than that takes, and in
// particular not while a client is slow, or frozen, between two statements.

// last executes a statement at the end of the transaction, after all that are
// not last ones. Nothing is known of what it changes.
func (t *tx) last(ctx context.Context, query string, args ...any) error {
	if !t.dialect.atOnce {
		_, err := t.exec(ctx, query, args...)
		return err
	}
	text, err := withLiterals(query, args)
	if err != nil {
		return err
	}
	t.beginning.last = append(t.beginning.last, text)
	return nil
}

// errOverLimit is the end of a transaction in which lastUpTo counted too many.
var errOverLimit = errors.New("more than the limit")

// lastUpTo does what last does with a statement that returns one count. The
// transaction ends with errOverLimit when that is more than limit.
func (t *tx) lastUpTo(ctx context.Context, limit int, query string, args ...any) error {
	if !t.dialect.atOnce {
		var count int
		if err := t.get(ctx, &count, query, args...); err != nil {
			return err
		}
		if count > limit {
			return errOverLimit
		}
		return nil
	}
	// Nobody sees the answer before the commit, so too many must be an error:
	// the only one there is without a function is that of a division.
	return t.last(ctx, fmt.Sprintf(`WITH counted (n) AS (%s) SELECT 1 / (CASE WHEN n <= ? THEN 1 ELSE 0 END) FROM counted`, query),
		append(args, limit)...)
}
