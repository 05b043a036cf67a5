package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/store"
)

// Migrate brings the schema of the configured database to the version that
// this program needs.
func Migrate(ctx context.Context, st cli.Streams, c config.Config) error {
	return withStore(ctx, c, func(store *store.Store) error {
		before, err := store.Schema(ctx)
		if err != nil {
			return err
		}
		if err := store.Migrate(ctx); err != nil {
			return err
		}
		after, err := store.Schema(ctx)
		if err != nil {
			return err
		}
		if before.Current == after.Current {
			_, err = fmt.Fprintf(st.Err, "the schema has version %d already\n", after.Current)
		} else {
			_, err = fmt.Fprintf(st.Err, "the schema went from version %d to %d\n", before.Current, after.Current)
		}
		return err
	})
}

// MigrationStatus prints the versions of the schema on st.Out. It is an error
// when this program does not work on the database as it is.
func MigrationStatus(ctx context.Context, st cli.Streams, c config.Config) error {
	return withOpen(ctx, store.Options{Database: c.Database, Existing: true}, func(store *store.Store) error {
		v, err := store.Schema(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(st.Out, "version %d\nneeded %d\n", v.Current, v.Needed)
		for _, name := range v.Pending {
			fmt.Fprintf(st.Out, "pending %s\n", name)
		}
		return v.Check()
	})
}

// withStore runs do with the configured database, which is created where it is
// a file that is not there.
func withStore(ctx context.Context, c config.Config, do func(*store.Store) error) error {
	return withOpen(ctx, store.Options{Database: c.Database}, do)
}

// withSchema runs do with the configured database, which must be there and have
// a schema that this program works with.
func withSchema(ctx context.Context, c config.Config, do func(*store.Store) error) error {
	return withOpen(ctx, store.Options{Database: c.Database, Existing: true}, func(store *store.Store) error {
		if err := store.CheckSchema(ctx); err != nil {
			return err
		}
		return do(store)
	})
}

func withOpen(ctx context.Context, o store.Options, do func(*store.Store) error) (err error) {
	store, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return do(store)
}
