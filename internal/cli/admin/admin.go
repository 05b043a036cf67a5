// Package admin is what the operator's subcommands do: serving, scanning,
// migrating, and managing keys and organizations.
package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/store"
)

// withDatabase runs do with a database, whatever its schema.
func withDatabase(ctx context.Context, o store.Options, do func(*store.Store) error) (err error) {
	store, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return do(store)
}

// withStore runs do with the configured database, which has the schema of this
// program and the organizations that the configuration file declares. The
// context that do gets says who runs the command. create
// makes an SQLite database that is not there, so that a key can be made before
// the first server ran. Postgres is shared: its schema is for `migrate`.
func withStore(
	ctx context.Context, st cli.Streams, c config.Config, create bool, do func(context.Context, *store.Store) error,
) error {
	create = create && !c.Shared()
	return withDatabase(ctx, store.Options{Database: c.Database, Existing: !create}, func(store *store.Store) error {
		if create {
			if err := createSchema(ctx, st, c, store); err != nil {
				return err
			}
		}
		if err := store.CheckSchema(ctx); err != nil {
			return err
		}

		log := slog.New(slog.NewTextHandler(st.Err, nil))
		if err := organization.Apply(ctx, store, c.Organizations, log); err != nil {
			return err
		}
		return do(audit.NewContext(ctx, operator()), store)
	})
}

// operator is who runs a command, as far as the machine knows.
func operator() audit.Actor {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}

	return audit.Actor{Kind: audit.CLI, ID: name + "@" + host}
}

// createSchema gives a database that is new its schema. It says so, because a
// path may be mistyped.
func createSchema(ctx context.Context, st cli.Streams, c config.Config, store *store.Store) error {
	v, err := store.Schema(ctx)
	if err != nil || v.Current > 0 {
		return err
	}
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(st.Err, "made the database %s\n", terminal.Safe(c.Database))
	return err
}

// Migrate brings the schema of the configured database to the version that
// this program needs.
func Migrate(ctx context.Context, st cli.Streams, c config.Config) error {
	return withDatabase(ctx, store.Options{Database: c.Database}, func(store *store.Store) error {
		before, err := store.Schema(ctx)
		if err != nil {
			return err
		}
		if err := store.Migrate(ctx); err != nil {
			return err
		}
		_, err = fmt.Fprintf(st.Err, "the schema went from version %d to %d\n", before.Current, before.Needed)
		return err
	})
}

// MigrationStatus prints the versions of the schema on st.Out. It is an error
// when this program does not work on the database as it is.
func MigrationStatus(ctx context.Context, st cli.Streams, c config.Config) error {
	return withDatabase(ctx, store.Options{Database: c.Database, Existing: true}, func(store *store.Store) error {
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

// Backup copies the configured SQLite database into a new file.
func Backup(ctx context.Context, st cli.Streams, c config.Config, file string) error {
	if c.Shared() {
		return cli.Usagef("backup is for SQLite; for Postgres use pg_dump as docs/operations/back-up.md shows")
	}
	copied, err := store.Backup(ctx, c.Database, file)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(st.Err, "%s has %d bytes, schema version %d, and was read through\n",
		file, copied.Bytes, copied.Schema.Current)
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
	_, err = fmt.Fprintf(st.Err, "restored %d bytes, schema version %d\n"+
		"keys that were revoked since the backup work again; revoke them again\n", copied.Bytes, copied.Schema.Current)
	return err
}

// Serve runs a server until ctx ends.
func Serve(ctx context.Context, st cli.Streams, c config.Config) error {
	log := newLog(st, c)
	return logged(st, log, app.Serve(ctx, c, st.Lookup, log))
}

// Scanner runs a scanner until ctx ends.
func Scanner(ctx context.Context, st cli.Streams, c config.Config) error {
	log := newLog(st, c)
	return logged(st, log, app.Scan(ctx, c, st.Lookup, log))
}

// logged writes why a process ends into its log, so that every line there is
// JSON. A person at a terminal is told in plain words besides.
func logged(st cli.Streams, log *slog.Logger, err error) error {
	if err == nil {
		return nil
	}
	log.Error("ended", "error", err)
	if terminal.Is(st.Err) {
		return err
	}
	return cli.ErrSilent
}

// newLog writes JSON lines to st.Err.
func newLog(st cli.Streams, c config.Config) *slog.Logger {
	return slog.New(slog.NewJSONHandler(st.Err, &slog.HandlerOptions{Level: c.LogLevel, ReplaceAttr: withUnit}))
}

// withUnit gives the name of a duration its unit, so that whoever reads the log
// need not guess what a number counts.
func withUnit(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000)
}
