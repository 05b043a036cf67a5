package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/auth"
)

// Windows are the windows of the rate limit that all servers on a Postgres
// database count in. Their table is not logged: after a crash of the database
// it is empty, and all windows begin anew.
type Windows struct{ store *Store }

var _ auth.Windows = Windows{}

// Windows returns the windows that are shared; ok is false for SQLite, which
// one server has to itself.
func (s *Store) Windows() (w Windows, ok bool) {
	return Windows{s}, s.dialect.shared
}

// countRequest counts and starts windows in one statement. A window that ends
// later than one can is the work of a clock that was wrong; a statement that
// waited for the row may see one that began a moment after it.
var countRequest = strings.ReplaceAll(`INSERT INTO rate_limits AS w (name, window_end, taken)
	VALUES ($1, COALESCE($2, `+pgClock+`) + $window, 1)
	ON CONFLICT (name) DO UPDATE SET
		taken = CASE WHEN w.window_end BETWEEN excluded.window_end - $window + 1 AND excluded.window_end + $window
			THEN w.taken + 1 ELSE 1 END,
		window_end = CASE WHEN w.window_end BETWEEN excluded.window_end - $window + 1 AND excluded.window_end + $window
			THEN w.window_end ELSE excluded.window_end END
	RETURNING taken, window_end, COALESCE($2, `+pgClock+`) AS now`,
	"$window", strconv.FormatInt(auth.Window.Microseconds(), 10))

// CountRequest implements auth.Windows. The table belongs to no organization,
// so one statement without a transaction does. It has a row for each key that
// was used, no more: addresses are not counted here.
func (w Windows) CountRequest(ctx context.Context, name string) (auth.Counted, error) {
	const op = "count a request"
	conn, err := w.store.pools.connection(ctx, w.store.pools.writer)
	if err != nil {
		return auth.Counted{}, w.store.translate(ctx, op, err)
	}
	defer func() { _ = conn.Close() }() // it goes back to its pool

	var row struct {
		Taken int       `db:"taken"`
		End   timestamp `db:"window_end"`
		Now   timestamp `db:"now"`
	}
	if err := conn.GetContext(ctx, &row, countRequest, name, w.store.clock.parameter()); err != nil {
		return auth.Counted{}, w.store.translate(ctx, op, err)
	}

	return auth.Counted{Taken: row.Taken, End: row.End.Time, Left: row.End.Sub(row.Now.Time)}, nil
}
