package admin

import (
	"context"
	"fmt"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/store"
)

// Backup copies the configured SQLite database into a new file.
func Backup(ctx context.Context, st cli.Streams, c config.Config, file string) error {
	if c.Shared() {
		return cli.Usagef("backup is for SQLite; for Postgres use pg_dump as docs/operations/back-up.md shows")
	}
	copied, err := store.Backup(ctx, c.Database, file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(
		st.Err, "%s has %d bytes, schema version %d, and was read through\n", file, copied.Bytes, copied.Schema.Current,
	)
	return err
}

// Restore makes a backup the configured SQLite database.
func Restore(ctx context.Context, st cli.Streams, c config.Config, file string, force bool) error {
	if c.Shared() {
		return cli.Usagef("restore is for SQLite; for Postgres use pg_restore as docs/operations/back-up.md shows")
	}
	copied, err := store.Restore(ctx, file, c.Database, force)
	if err != nil {
		return err
	}
	fmt.Fprintf(st.Err, "restored %d bytes, schema version %d\n", copied.Bytes, copied.Schema.Current)
	if copied.Schema.Current < copied.Schema.Needed {
		fmt.Fprintf(st.Err, "the next start brings the schema to version %d\n", copied.Schema.Needed)
	}
	_, err = fmt.Fprintln(st.Err, "keys that were revoked since the backup work again; revoke them again")
	return err
}
