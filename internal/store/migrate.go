package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/prwarden/prwarden/internal/errs"
)

// Schema says how a database's schema and this program fit.
type Schema struct {
	Current int64 // version of the database, 0 for an empty one
	Needed  int64 // version that this program was made for
	// Pending are the names of the migrations that lead from Current to Needed.
	Pending []string
}

// Check returns nil when this program works on the database: with its own
// version, and with a later one, since migrations only add to the schema.
func (v Schema) Check() error {
	if v.Current >= v.Needed {
		return nil
	}

	return errs.New(errs.Unavailable, errs.ReasonUnavailable,
		"The database has schema version %d, and this prwarden needs %d: run `prwarden migrate`.", v.Current, v.Needed)
}

// migrationTimeout is for how many seconds one server waits for the migrations
// of another.
const migrationTimeout = 3600

// Migrate brings the schema to this program's version, unless it has that or a
// later one.
func (s *Store) Migrate(ctx context.Context) error {
	if v, err := s.Schema(ctx); err != nil || v.Check() == nil {
		return err
	}
	// Another package's migrations must not get in here.
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	db := s.pools.writer.DB
	if s.dialect.postgres {
		// Its statements may take long, but not wait long for a table: everybody
		// else waits behind them.
		own, _, err := connectPostgres(s.database, 0, map[string]string{"lock_timeout": "2s"})
		if err != nil {
			return err
		}
		defer func() { _ = own.Close() }()
		db = own

		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, migrationTimeout))
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(s.dialect.goose, db, s.dialect.migrations(), options...)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}

	if _, err = p.Up(ctx); err == nil || s.CheckSchema(ctx) == nil {
		return nil // on SQLite another process may just have done the same
	}

	return s.translate(ctx, "migrate the database", err)
}

// Schema reads the versions of the schema.
func (s *Store) Schema(ctx context.Context) (v Schema, err error) {
	// Not through goose, which would create its table.
	var exists bool
	err = s.pools.reader.GetContext(ctx, &exists, s.dialect.hasVersions)
	if err == nil && exists {
		err = s.pools.reader.GetContext(ctx, &v.Current,
			"SELECT COALESCE(MAX(version_id), 0) FROM "+goose.DefaultTablename)
	}
	if err != nil {
		return Schema{}, s.translate(ctx, "read the schema version", err)
	}

	names, err := fs.Glob(s.dialect.migrations(), "*.sql") // in their order
	for _, name := range names {
		n, errName := goose.NumericComponent(name)
		err = errors.Join(err, errName)
		v.Needed = n
		if n > v.Current {
			v.Pending = append(v.Pending, name)
		}
	}

	return v, err
}

// CheckSchema fails with Unavailable while the database can't be read or this
// program does not work with its schema.
func (s *Store) CheckSchema(ctx context.Context) error {
	v, err := s.Schema(ctx)
	if err != nil {
		return err
	}

	return v.Check()
}
