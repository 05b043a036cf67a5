// Package store keeps reviews, rules and keys in an SQL database. The queries
// are the same for SQLite and Postgres; what differs is in a dialect.
package store

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// Store is the store on an SQL database. It is safe for concurrent use.
type Store struct {
	dialect   dialect
	database  string // as Options have it; it may hold a password
	pools     pools
	prepared  prepared
	clock     clock
	exclusive bool
	closed    atomic.Bool
	notifier  notifier

	foldFrom int64 // bytes of SQLite's log over which FoldLog empties it
}

var (
	_ review.Store  = (*Store)(nil)
	_ rule.Store    = (*Store)(nil)
	_ auth.KeyStore = (*Store)(nil)
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

	synchronous   string        // of SQLite, for benchmarks; "" is FULL
	busyTimeoutMS int           // of SQLite, for tests; 0 is busyTimeoutMS
	poolWait      time.Duration // for tests; 0 is poolWait
	notifyTimeout time.Duration // for tests; 0 is notifyTimeout
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

	s := &Store{
		dialect: d, database: o.Database, pools: p, clock: clock{fixed: o.Now},
		exclusive: o.Exclusive, foldFrom: logLimit,
	}
	s.pools.wait, s.prepared.db = cmp.Or(o.poolWait, poolWait), p.reader
	s.notifier.send, s.notifier.timeout = s.notify, cmp.Or(o.notifyTimeout, notifyTimeout)
	if err := s.setClock(ctx); err != nil {
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
	s.notifier.flush()

	return s.pools.close()
}

// Ping fails with Unavailable while the database can't be read or written, or
// this program does not work with its schema.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.CheckSchema(ctx); err != nil {
		return err
	}

	const op = "write to the database"
	conn, err := s.pools.connection(ctx, s.pools.writer)
	if err != nil {
		return s.translate(ctx, op, err)
	}
	defer func() { _ = conn.Close() }() // it goes back to its pool

	// One statement commits by itself, so no client can hold the row's lock.
	_, err = conn.ExecContext(ctx, `UPDATE write_check SET checks = checks + 1`)
	if err != nil {
		return s.translate(ctx, op, err)
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

// poolWait is how long a call waits for a connection. The number of requests at
// once is bounded, so a longer wait means that the database hangs.
const poolWait = 3 * time.Second

var errPoolWait = errors.New("no connection became free")

// pools are the connections to a database. Reads and writes may have their
// own, because SQLite has many readers beside one writer.
type pools struct {
	reader, writer *sqlx.DB
	release        func() error  // gives back what open took besides; may be nil
	wait           time.Duration // see poolWait
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

// connection takes a connection of one of the pools, within p.wait.
func (p pools) connection(ctx context.Context, db *sqlx.DB) (*sqlx.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()

	conn, err := db.Connx(waiting)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return nil, unavailableError("wait for a connection", errPoolWait)
	}
	if err != nil {
		return nil, &connectError{err}
	}

	return conn, nil
}
