// Package store keeps reviews, rules and keys in an SQL database. The
// queries are the same for every kind of database; what differs is in a
// dialect.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// Store is the store on an SQL database. It is safe for concurrent use.
type Store struct {
	dialect   dialect
	database  string // as Options have it; it may hold a password
	pools     pools
	compiled  compiledQueries // of SQLite's reader
	clock     clock
	exclusive bool
	closed    atomic.Bool
	teller    teller

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
	tellTimeout   time.Duration // for tests; 0 is tellTimeout
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
		dialect: d, database: o.Database, pools: p, clock: clock{fixed: o.Now}, exclusive: o.Exclusive,
		foldFrom: logLimit,
	}
	s.pools.wait = cmp.Or(o.poolWait, poolWait)
	s.teller.send, s.teller.timeout = s.notify, cmp.Or(o.tellTimeout, tellTimeout)
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
	s.teller.flush()
	return s.pools.close()
}

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

// write does fn in one transaction that may write, as far as the scope goes. It
// is committed, durably, when fn returns nil, and leaves nothing behind
// otherwise. op names it in unexpected errors. fn may be called again, when the
// transaction and another one were in each other's way.
func (s *Store) write(ctx context.Context, op string, scope scope, fn func(*tx) error) error {
	return s.transaction(ctx, op, scope, s.pools.writer, nil, fn)
}

// read does fn in one transaction that sees one state of the database, as far
// as the scope goes.
func (s *Store) read(ctx context.Context, op string, scope scope, fn func(*tx) error) error {
	return s.transaction(ctx, op, scope, s.pools.reader, s.dialect.readTx, fn)
}

// How often a transaction is tried that is in the way of another and that in
// its way, and how long it leaves the other one alone, at most, in between:
// that one has to wake up first.
const (
	tries    = 5
	tryPause = 50 * time.Millisecond
)

func (s *Store) transaction(ctx context.Context, op string, scope scope, db *sqlx.DB, o *sql.TxOptions, fn func(*tx) error) error {
	for try := 1; ; try++ {
		err := s.try(ctx, scope, db, o, fn)
		if err == nil {
			return nil
		}
		if try == tries || s.dialect.classify(err) != conflict {
			return s.translate(ctx, op, err)
		}
		// The database has undone it.
		select {
		case <-ctx.Done():
		case <-time.After(tryPause/2 + rand.N(tryPause/2)):
		}
	}
}

func (s *Store) try(ctx context.Context, scope scope, db *sqlx.DB, o *sql.TxOptions, fn func(*tx) error) error {
	b := &beginning{scope: scope}
	inner, end, err := s.pools.begin(context.WithValue(ctx, beginningKey{}, b), db, o)
	if err != nil {
		return err
	}
	defer end()
	// After a commit this does nothing. Its own error adds nothing to the one
	// that led here.
	defer func() { _ = inner.Rollback() }()
	t := &tx{Tx: inner, dialect: &s.dialect, now: s.begun(b), beginning: b}
	if err := fn(t); err != nil {
		return err
	}
	if err := inner.Commit(); err != nil {
		return err
	}
	s.tell(t.events...)
	return nil
}

// tell tells other servers, where there may be some, what is committed.
func (s *Store) tell(events ...event) {
	if s.dialect.atOnce {
		s.teller.tell(events...)
	}
}

// begun is when a transaction happens: its begin on the database's clock.
func (s *Store) begun(b *beginning) time.Time {
	if s.dialect.clock {
		s.clock.saw(b.now)
		if s.clock.fixed == nil {
			return b.now
		}
	}
	return s.clock.now()
}

// tx is a transaction. Its queries are written with `?`.
type tx struct {
	*sqlx.Tx
	dialect *dialect
	now     time.Time // when it happens

	beginning *beginning
	events    []event // what other servers are told when it is committed
}

// waits tells other servers, after the commit, that a review waits to be claimed.
func (t *tx) waits() { t.tell(waitsEvent, "") }

// changed tells other servers, after the commit, that a review's state changed.
func (t *tx) changed(id string) { t.tell(changedEvent, id) }

// canceled tells other servers, after the commit, that a review was canceled.
func (t *tx) canceled(id string) { t.tell(canceledEvent, id) }

// freed tells other servers, after the commit, that a scan of the organization
// ended, if that lets another one begin.
func (t *tx) freed(org string) { t.tell(freedEvent, org) }

func (t *tx) tell(kind, of string) { t.events = append(t.events, event{kind, of}) }

// get reads one row into dest; sql.ErrNoRows when there is none.
func (t *tx) get(ctx context.Context, dest any, query string, args ...any) error {
	return t.GetContext(ctx, dest, t.rebind(query), args...)
}

// list reads all rows into dest, a pointer to a slice.
func (t *tx) list(ctx context.Context, dest any, query string, args ...any) error {
	return t.SelectContext(ctx, dest, t.rebind(query), args...)
}

// exec executes a statement and returns how many rows it changed.
func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := t.ExecContext(ctx, t.rebind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (t *tx) rebind(query string) string { return sqlx.Rebind(t.dialect.bind, query) }

// truncate makes t a time as the store keeps and returns it: UTC, in whole
// microseconds.
func truncate(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
