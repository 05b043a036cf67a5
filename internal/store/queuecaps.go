package store

import (
	"context"
	"maps"
	"slices"
)

// SetCaps sets the most reviews of each organization that may be in progress at
// once, over all workers of all servers. Those that are not named, or have 0,
// have no cap. A cap that is lowered ends nothing that runs. Only what differs
// is written.
func (s *Store) SetCaps(ctx context.Context, caps map[string]int) error {
	return s.write(ctx, "set caps", everyone, func(t *tx) error {
		var rows []struct {
			Name       string `db:"name"`
			MaxRunning int    `db:"max_running"`
		}
		if err := t.list(ctx, &rows, `SELECT name, max_running FROM organizations WHERE max_running > 0`); err != nil {
			return err
		}
		change := make(map[string]int)
		for name, most := range caps {
			if most > 0 {
				change[name] = most
			}
		}
		for _, row := range rows {
			if change[row.Name] == row.MaxRunning {
				delete(change, row.Name)
			} else {
				change[row.Name] = caps[row.Name]
			}
		}
		// In one order, or two servers that start at once could wait for each
		// other.
		for _, name := range slices.Sorted(maps.Keys(change)) {
			if _, err := t.exec(ctx, `INSERT INTO organizations (name, max_running) VALUES (?, ?)
				ON CONFLICT (name) DO UPDATE SET max_running = excluded.max_running`, name, change[name]); err != nil {
				return err
			}
		}
		if len(change) > 0 {
			t.waits()
		}
		return nil
	})
}
