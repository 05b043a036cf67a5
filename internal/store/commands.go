package store

import "context"

// KeepCommand implements command.Store.
func (s *Store) KeepCommand(ctx context.Context, org, connectionID, name string) (first bool, err error) {
	err = s.write(ctx, "remember a command", of(org), func(t *tx) error {
		n, err := t.exec(ctx, `INSERT INTO commands (organization, connection_id, name, handled_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (organization, connection_id, name) DO NOTHING`, org, connectionID, clean(name), at(t.now))
		first = n > 0

		return err
	})

	return first, err
}

// KnowsCommand implements command.Store.
func (s *Store) KnowsCommand(ctx context.Context, org, connectionID, name string) (known bool, err error) {
	err = s.read(ctx, "look for a command", of(org), func(t *tx) error {
		return t.get(ctx, &known, `SELECT EXISTS (SELECT 1 FROM commands
			WHERE organization = ? AND connection_id = ? AND name = ?)`, org, connectionID, clean(name))
	})

	return known, err
}

// ForgetCommand implements command.Store.
func (s *Store) ForgetCommand(ctx context.Context, org, connectionID, name string) error {
	return s.write(ctx, "forget a command", of(org), func(t *tx) error {
		_, err := t.exec(ctx, `DELETE FROM commands WHERE organization = ? AND connection_id = ? AND name = ?`,
			org, connectionID, clean(name))

		return err
	})
}
