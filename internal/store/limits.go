package store

import (
	"context"
	"database/sql"
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
	return Windows{s}, s.dialect.clock // which is there for what several servers share
}

// countInWindows counts and starts windows in one statement. Rows are taken in
// the order of their names, so that two servers can't wait for each other. A
// window that ends later than one can is the work of a clock that was wrong; a
// statement that waited for a row may see one that began a moment after it.
var countInWindows = strings.ReplaceAll(`INSERT INTO rate_limits AS w (name, window_end, taken)
	SELECT d.name, /* clock */ + $window, d.n FROM unnest(CAST(? AS TEXT[]), CAST(? AS INTEGER[])) AS d (name, n) ORDER BY d.name
	ON CONFLICT (name) DO UPDATE SET
		taken = CASE WHEN w.window_end BETWEEN excluded.window_end - $window + 1 AND excluded.window_end + $window
			THEN w.taken + excluded.taken ELSE excluded.taken END,
		window_end = CASE WHEN w.window_end BETWEEN excluded.window_end - $window + 1 AND excluded.window_end + $window
			THEN w.window_end ELSE excluded.window_end END
	RETURNING name, taken, window_end, /* clock */`,
	"$window", strconv.FormatInt(auth.Window.Microseconds(), 10))

// CountInWindows implements auth.Windows. Names must differ.
func (w Windows) CountInWindows(ctx context.Context, demands []auth.Demand) ([]auth.Counted, error) {
	names, numbers := make([]string, len(demands)), make([]int64, len(demands))
	for i, d := range demands {
		names[i], numbers[i] = d.Name, int64(d.N)
	}
	byName := make(map[string]auth.Counted, len(demands))
	row := func(rows *sql.Rows) error {
		var name string
		var c auth.Counted
		var end, now stamp
		if err := rows.Scan(&name, &c.Taken, &end, &now); err != nil {
			return err
		}
		c.End, c.Left = end.Time, end.Sub(now.Time)
		byName[name] = c
		return nil
	}
	// With a clock of a test the query is no constant.
	err := w.store.askAtOnce(ctx, asking{scope: everyone, write: true, kept: w.store.clock.fixed == nil}, []question{
		{query: w.store.withClock(countInWindows), args: []any{pq.Array(names), pq.Array(numbers)}, row: row},
	})
	if err != nil {
		return nil, w.store.translate(ctx, "count requests", err)
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

// withClock puts the time into a query of Postgres.
func (s *Store) withClock(query string) string {
	clock := pgClock
	if s.clock.fixed != nil {
		clock = "CAST(" + strconv.FormatInt(s.clock.now().UnixMicro(), 10) + " AS BIGINT)"
	}
	return strings.ReplaceAll(query, "/* clock */", clock)
}

// DropWindows implements auth.Windows. It waits for no other server.
func (w Windows) DropWindows(ctx context.Context, most int) (int, error) {
	var dropped int64
	err := w.store.write(ctx, "delete ended windows", everyone, func(t *tx) (err error) {
		dropped, err = t.exec(ctx, `DELETE FROM rate_limits WHERE name IN (
			SELECT name FROM rate_limits WHERE window_end <= ? LIMIT ? FOR UPDATE SKIP LOCKED)`, at(t.now), most)
		return err
	})
	return int(dropped), err
}
