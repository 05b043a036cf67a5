// Package store keeps reviews, rules and keys in an SQL database. The queries
// are the same for SQLite and Postgres; what differs is in a dialect.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/stats"
)

// Store is the store on an SQL database. It is safe for concurrent use.
type Store struct {
	dialect  dialect
	database string // as Options have it; it may hold a password
	pools    pools
	prepared prepared
	clock    clock
	closed   atomic.Bool
	notifier *notifier // nil when nobody shares the database

	onPublication atomic.Pointer[func()] // see OnPublication
	onMessage     atomic.Pointer[func()] // see OnMessage

	foldFrom int64 // bytes of SQLite's log over which FoldLog empties it
}

var (
	_ review.Store       = (*Store)(nil)
	_ rule.Store         = (*Store)(nil)
	_ auth.KeyStore      = (*Store)(nil)
	_ organization.Store = (*Store)(nil)
	_ audit.Store        = (*Store)(nil)
	_ stats.Store        = (*Store)(nil)
	_ policy.Store       = (*Store)(nil)
	_ publish.Store      = (*Store)(nil)
	_ connection.Store   = (*Store)(nil)
	_ inbox.Store        = (*Store)(nil)
	_ inbox.PullRequests = (*Store)(nil)
	_ inbox.Sweeps       = (*Store)(nil)
	_ account.Store      = (*Store)(nil)
)

// Options say which database to open and how.
type Options struct {
	// Database names it: `sqlite:` and the path of a file, which is created
	// when there is none; its folder must exist. Or `postgres://…` in the form of
	// libpq; that database must exist.
	Database string
	// Connections is the most that there are to Postgres at once; 0 for
	// DefaultConnections. SQLite's number is its own.
	Connections int
	// Exclusive makes this the only process that serves an SQLite database:
	// Open fails when there is another. Others may still open it without.
	Exclusive bool
	// Existing makes Open fail when the file of an SQLite database is not there,
	// instead of creating it.
	Existing bool
	// Now is the clock, for tests. nil is the real one.
	Now func() time.Time

	// For tests; 0 is the constant of that name.
	busyTimeoutMS           int
	poolWait, answerTimeout time.Duration
}

// dialect is what differs between the kinds of databases. The queries use only
// what both have: RETURNING, ON CONFLICT, row values.
type dialect struct {
	// postgres says that several servers may use the database, that transactions
	// wait for each other's rows, and that organizations are kept apart by
	// row-level security. SQLite has one server and one writer.
	postgres bool

	goose       goose.Dialect // how the migrations' versions are kept
	migrations  func() fs.FS
	hasVersions string // query: whether goose's table is there

	open func(ctx context.Context, o Options) (pools, error)
	// classify says what an error of the driver means, by its code.
	classify func(error) class
	// readTx makes a reading transaction see one state of the database.
	readTx *sql.TxOptions
}

// dialectOf returns the dialect of a database by its scheme.
func dialectOf(database string) (dialect, error) {
	// The name may hold a password: no error says more of it than its scheme.
	scheme, _, found := strings.Cut(database, ":")
	switch {
	case !found:
		scheme = ""
	case scheme == "sqlite":
		return sqliteDialect(), nil
	case scheme == "postgres", scheme == "postgresql":
		return postgresDialect(), nil
	}

	return dialect{}, fmt.Errorf("the database must begin with `sqlite:` or `postgres:`, not with %q", scheme)
}

// Open opens a database. Its schema is not touched: see Migrate. An error is a
// sentence for the operator.
func Open(ctx context.Context, o Options) (*Store, error) {
	d, err := dialectOf(o.Database)
	if err != nil {
		return nil, err
	}
	p, err := d.open(ctx, o)
	if err != nil {
		return nil, err
	}
	if p.wait = o.poolWait; p.wait == 0 {
		p.wait = poolWait
	}

	s := &Store{dialect: d, database: o.Database, pools: p, clock: clock{fixed: o.Now}, foldFrom: logLimit}
	s.prepared.db = p.reader
	if d.postgres {
		s.notifier = newNotifier(p.writer)
		// Each transaction brings the database's time.
		err = s.read(ctx, "read the clock", allOrganizations, func(*tx) error { return nil })
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}

	return s, nil
}

// Close closes the database. Calls after it fail with Unavailable. A second
// Close does nothing.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if s.notifier != nil {
		s.notifier.close()
	}

	err := s.pools.close()
	if s.dialect.postgres {
		return nil // a connection that is broken already can't take its leave, and nothing is lost by that
	}

	return err
}

// Ping fails with Unavailable while the database can't be read or written, or
// this program does not work with its schema.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.CheckSchema(ctx); err != nil {
		return err
	}

	// One statement commits by itself, so no client can hold the row's lock.
	if _, err := s.pools.writer.ExecContext(ctx, `UPDATE write_check SET checks = checks + 1`); err != nil {
		return s.translate(ctx, "write to the database", err)
	}

	return nil
}

// Collectors tell Prometheus of the connections to the database, as go_sql_*
// with the label db_name: `writer`, and `reader` where readers have their own
// connections, as in SQLite.
func (s *Store) Collectors() []prometheus.Collector {
	all := []prometheus.Collector{collectors.NewDBStatsCollector(s.pools.writer.DB, "writer")}
	if s.pools.reader != s.pools.writer {
		all = append(all, collectors.NewDBStatsCollector(s.pools.reader.DB, "reader"))
	}

	return all
}

// pools are the connections to a database. Reads and writes may have their
// own, because SQLite has many readers beside one writer.
type pools struct {
	reader, writer *sqlx.DB
	release        func() error  // gives back what open took besides; may be nil
	wait           time.Duration // see poolWait
}

// poolWait is how long a transaction waits for a connection. The number of
// requests at once is bounded, so a longer wait means that the database hangs.
const poolWait = 3 * time.Second

// begin begins a transaction, within p.wait. end must be called after it.
func (p pools) begin(ctx context.Context, db *sqlx.DB, o *sql.TxOptions) (t *sqlx.Tx, end func(), err error) {
	// A transaction ends with its context, so that can't have the limit.
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(p.wait, cancel)

	t, err = db.BeginTxx(ctx, o)
	if !timer.Stop() && err == nil {
		_ = t.Rollback() // it has ended already
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, nil, &connectError{err}
	}

	return t, cancel, nil
}

func (p pools) close() error {
	var errReader, errRelease error
	if p.reader != p.writer {
		errReader = p.reader.Close()
	}
	// The writer goes last: as SQLite's last connection it may write, to empty
	// the write-ahead log.
	errWriter := p.writer.Close()
	if p.release != nil {
		errRelease = p.release()
	}

	return errors.Join(errReader, errWriter, errRelease)
}
