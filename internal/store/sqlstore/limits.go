package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/prwarden/prwarden/internal/admission"
)

// Windows are the windows of the rate limit that all servers on a Postgres
// database count in. Their table is not logged: after a crash of the database
// it is empty, and all windows begin anew.
type Windows struct{ store *Store }

var _ admission.Windows = Windows{}

// Windows returns the windows that are shared; ok is false for SQLite, which
// one server has to itself.
func (s *Store) Windows() (w Windows, ok bool) {
	return Windows{s}, s.dialect.clock // which is there for what several servers share
}

// windowRow is a window as it is stored.
type windowRow struct {
	Name  string `db:"name"`
	End   stamp  `db:"window_end"`
	Taken int    `db:"taken"`
}

// countInWindows counts and starts windows in one statement. Rows are taken in
// the order of their names, so that two servers can't wait for each other. A
// window that ends later than one can is the work of a clock that was wrong; a
// statement that waited for a row may see one that began a moment after it.
const countInWindows = `INSERT INTO rate_limits AS w (name, window_end, taken)
	SELECT d.name, ?::BIGINT, d.n FROM unnest(?::TEXT[], ?::INTEGER[]) AS d (name, n) ORDER BY d.name
	ON CONFLICT (name) DO UPDATE SET
		taken = CASE WHEN w.window_end > ?::BIGINT AND w.window_end <= ?::BIGINT THEN w.taken + excluded.taken ELSE excluded.taken END,
		window_end = CASE WHEN w.window_end > ?::BIGINT AND w.window_end <= ?::BIGINT THEN w.window_end ELSE excluded.window_end END
	RETURNING name, window_end, taken`

// CountInWindows implements admission.Windows. Names must differ.
func (w Windows) CountInWindows(ctx context.Context, demands []admission.Demand) ([]admission.Counted, error) {
	names, numbers := make([]string, len(demands)), make([]int64, len(demands))
	for i, d := range demands {
		names[i], numbers[i] = d.Name, int64(d.N)
	}
	var rows []windowRow
	var now time.Time
	err := w.store.write(ctx, "count requests", everyone, func(t *tx) error {
		now = t.now
		latest := at(now.Add(2 * admission.Window))
		return t.list(ctx, &rows, countInWindows, at(now.Add(admission.Window)), pq.Array(names), pq.Array(numbers),
			at(now), latest, at(now), latest)
	})
	if err != nil {
		return nil, err
	}
	byName := make(map[string]windowRow, len(rows))
	for _, row := range rows {
		byName[row.Name] = row
	}
	out := make([]admission.Counted, len(demands))
	for i, d := range demands {
		row, ok := byName[d.Name]
		if !ok {
			return nil, fmt.Errorf("count requests: no window for %q", d.Name)
		}
		out[i] = admission.Counted{Taken: row.Taken, End: row.End.Time, Left: row.End.Sub(now)}
	}
	return out, nil
}

// DropWindows implements admission.Windows. It waits for no other server.
func (w Windows) DropWindows(ctx context.Context, most int) (int, error) {
	var dropped int64
	err := w.store.write(ctx, "delete ended windows", everyone, func(t *tx) (err error) {
		dropped, err = t.exec(ctx, `DELETE FROM rate_limits WHERE name IN (
			SELECT name FROM rate_limits WHERE window_end <= ? LIMIT ? FOR UPDATE SKIP LOCKED)`, at(t.now), most)
		return err
	})
	return int(dropped), err
}
