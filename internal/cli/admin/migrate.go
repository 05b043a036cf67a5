package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/store/sqlstore"
)

// Migrate brings the schema of the configured database to the version that
// this program needs.
func Migrate(ctx context.Context, st cli.Streams, c config.Config) (err error) {
	store, err := sqlstore.Open(ctx, sqlstore.Options{Database: c.Database})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	before, _, err := store.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	after, _, err := store.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if before == after {
		_, err = fmt.Fprintf(st.Err, "the schema has version %d already\n", after)
	} else {
		_, err = fmt.Fprintf(st.Err, "the schema went from version %d to %d\n", before, after)
	}
	return err
}
