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

// Migrate brings the schema to this program's version, unless it has that or a
// later one.
func (s *Store) Migrate(ctx context.Context) (err error) {
	v, err := s.Schema(ctx)
	if err != nil || v.Current >= v.Needed {
		return err
	}
	p, done, err := s.provider()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()

	_, errUp := p.Up(ctx)
	// On SQLite another process may just have done the same.
	if v, err = s.Schema(ctx); err != nil || v.Current >= v.Needed {
		return err
	}

	return s.translate(ctx, "migrate the database", errUp)
}

// Schema reads the versions of the schema.
func (s *Store) Schema(ctx context.Context) (Schema, error) {
	var v Schema
	// Not through goose, which would create its table, and on the connection
	// that writes.
	err := s.pools.reader.GetContext(ctx, &v.Current, "SELECT COALESCE(MAX(version_id), 0) FROM "+goose.DefaultTablename)
	if err != nil && s.dialect.classify(err) != undefined {
		return Schema{}, s.translate(ctx, "read the schema version", err)
	}

	names, err := fs.Glob(s.dialect.migrations(), "*.sql") // in their order
	if err != nil {
		return Schema{}, err
	}
	for _, name := range names {
		n, err := goose.NumericComponent(name)
		if err != nil {
			return Schema{}, err
		}
		v.Needed = max(v.Needed, n)
		if n > v.Current {
			v.Pending = append(v.Pending, name)
		}
	}

	return v, nil
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
