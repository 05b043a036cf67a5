package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lib/pq"

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

// countInWindows counts and starts windows in one statement. Rows are taken in
// the order of their names, so that two servers can't wait for each other. A
// window that ends later than one can is the work of a clock that was wrong; a
// statement that waited for a row may see one that began a moment after it.
var countInWindows = strings.ReplaceAll(`INSERT INTO rate_limits AS w (name, window_end, taken)
	SELECT d.name, COALESCE($3, `+pgClock+`) + $window, d.n
	FROM unnest(CAST($1 AS TEXT[]), CAST($2 AS INTEGER[])) AS d (name, n) ORDER BY d.name
	ON CONFLICT (name) DO UPDATE SET
		taken = CASE WHEN w.window_end BETWEEN excluded.window_end - $window + 1 AND excluded.window_end + $window
			THEN w.taken + excluded.taken ELSE excluded.taken END,
		window_end = CASE WHEN w.window_end BETWEEN excluded.window_end - $window + 1 AND excluded.window_end + $window
			THEN w.window_end ELSE excluded.window_end END
	RETURNING name, taken, window_end, COALESCE($3, `+pgClock+`) AS now`,
	"$window", strconv.FormatInt(auth.Window.Microseconds(), 10))

// window is a window as the database returns it.
type window struct {
	Name  string    `db:"name"`
	Taken int       `db:"taken"`
	End   timestamp `db:"window_end"`
	Now   timestamp `db:"now"`
}

// CountInWindows implements auth.Windows. Names must differ. The table belongs
// to no organization, so one statement without a transaction does.
func (w Windows) CountInWindows(ctx context.Context, demands []auth.Demand) ([]auth.Counted, error) {
	const op = "count requests"
	names, numbers := make([]string, len(demands)), make([]int64, len(demands))
	for i, d := range demands {
		names[i], numbers[i] = d.Name, int64(d.N)
	}

	conn, err := w.store.pools.connection(ctx, w.store.pools.writer)
	if err != nil {
		return nil, w.store.translate(ctx, op, err)
	}
	defer func() { _ = conn.Close() }() // it goes back to its pool
	var rows []window
	err = conn.SelectContext(ctx, &rows, countInWindows, pq.Array(names), pq.Array(numbers), w.store.clock.parameter())
	if err != nil {
		return nil, w.store.translate(ctx, op, err)
	}
	byName := make(map[string]auth.Counted, len(rows))
	for _, r := range rows {
		byName[r.Name] = auth.Counted{Taken: r.Taken, End: r.End.Time, Left: r.End.Sub(r.Now.Time)}
	}

	out := make([]auth.Counted, len(demands))
	for i, d := range demands {
		var ok bool
		if out[i], ok = byName[d.Name]; !ok {
			return nil, fmt.Errorf("count requests: no window for %q", d.Name)
		}
	}

	return out, nil
}

// DropWindows implements auth.Windows. It waits for no other server.
func (w Windows) DropWindows(ctx context.Context, most int) (int, error) {
	var dropped int64
	err := w.store.write(ctx, "delete ended windows", allOrganizations, func(t *tx) (err error) {
		dropped, err = t.exec(ctx, `DELETE FROM rate_limits WHERE name IN (
			SELECT name FROM rate_limits WHERE window_end <= ? LIMIT ? FOR UPDATE SKIP LOCKED)`, at(t.now), most)
		return err
	})

	return int(dropped), err
}
