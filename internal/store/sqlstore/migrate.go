package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/prwarden/prwarden/internal/errs"
)

// Migrate brings the schema to this program's version. It fails, changing
// nothing, on a database that a newer program has migrated.
func (s *Store) Migrate(ctx context.Context) (err error) {
	p, done, err := s.provider()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	for {
		before, needed, err := s.SchemaVersion(ctx)
		switch {
		case err != nil:
			return err
		case before > needed:
			return newerSchema(before, needed)
		case before == needed:
			return nil
		}
		if _, err := p.Up(ctx); err != nil {
			// Another process may be doing the same. Whatever it did is done, and
			// this goes on from there.
			if after, _, errAfter := s.SchemaVersion(ctx); errAfter == nil && after > before {
				continue
			}
			return s.translate(ctx, "migrate the database", err)
		}
	}
}

// SchemaVersion returns the version of the database's schema, 0 for none, and
// the one that this program needs.
func (s *Store) SchemaVersion(ctx context.Context) (current, needed int64, err error) {
	if needed, err = s.dialect.newestMigration(); err != nil {
		return 0, 0, err
	}
	// Not through goose, which would create its table, and on the connection
	// that writes.
	err = s.pools.reader.GetContext(ctx, &current, "SELECT COALESCE(MAX(version_id), 0) FROM "+goose.DefaultTablename)
	switch {
	case err == nil:
		return current, needed, nil
	case s.dialect.classify(err) == undefined:
		return 0, needed, nil
	}
	return 0, 0, s.translate(ctx, "read the schema version", err)
}

// CheckSchema fails with Unavailable while the database can't be read or its
// schema is not the one that this program needs.
func (s *Store) CheckSchema(ctx context.Context) error {
	current, needed, err := s.SchemaVersion(ctx)
	switch {
	case err != nil:
		return err
	case current > needed:
		return newerSchema(current, needed)
	case current < needed:
		return errs.New(errs.Unavailable, errs.ReasonUnavailable,
			"The database has schema version %d, and this prwarden needs %d: run `prwarden migrate`.", current, needed)
	}
	return nil
}

func newerSchema(current, needed int64) error {
	return errs.New(errs.Unavailable, errs.ReasonUnavailable,
		"The database has schema version %d, and this prwarden knows only up to %d: run a newer prwarden.", current, needed)
}

// newestMigration is the highest number of this program's migrations.
func (d dialect) newestMigration() (newest int64, err error) {
	names, err := fs.Glob(d.migrations(), "*.sql")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		n, err := goose.NumericComponent(name)
		if err != nil {
			return 0, err
		}
		newest = max(newest, n)
	}
	return newest, nil
}

// provider runs migrations; done frees what it took.
func (s *Store) provider() (_ *goose.Provider, done func() error, err error) {
	// Another package's migrations must not get in here.
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	db, done := s.pools.writer.DB, func() error { return nil }
	if s.dialect.migrator != nil {
		var locker lock.SessionLocker
		if db, locker, err = s.dialect.migrator(s.database); err != nil {
			return nil, nil, err
		}
		done = db.Close
		options = append(options, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(s.dialect.goose, db, s.dialect.migrations(), options...)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read the migrations: %w", err), done())
	}
	return p, done, nil
}
