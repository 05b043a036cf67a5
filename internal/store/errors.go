package store

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
)

// retryAfter is when a caller may try again while the database is away.
const retryAfter = 2 * time.Second

// class is what an error of a driver means.
type class int

const (
	unexpected  class = iota
	unavailable       // the database is away, locked or full: may pass
	conflict          // two transactions were in each other's way: passes when tried again
	duplicate         // a primary key or unique value is taken
)

// connectError is why there is no connection, or no transaction on it. What the
// drivers say of a connection that breaks while it is made has many types.
type connectError struct{ error }

// Unwrap returns the cause.
func (e *connectError) Unwrap() error { return e.error }

// translate makes an error of a transaction one that a caller understands.
func (s *Store) translate(ctx context.Context, op string, err error) error {
	var known *errs.Error
	var connect *connectError
	away := errors.As(err, &connect) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, context.DeadlineExceeded)
	switch {
	case errors.As(err, &known), errors.Is(err, review.ErrLeaseLost), errors.Is(err, publish.ErrLeaseLost):
		return err
	case ctx.Err() != nil:
		// Whatever the driver made of it. context.Cause is not used: callers
		// look for the context's own errors.
		return ctx.Err()
	case s.closed.Load():
		err, away = errors.Join(errors.New("the store is closed"), err), true
	}
	if class := s.dialect.classify(err); !away && class != unavailable && class != conflict {
		return fmt.Errorf("%s: %w", op, err)
	}

	return &errs.Error{
		Kind:       errs.Unavailable,
		Reason:     errs.ReasonUnavailable,
		Message:    "The database can't be used at the moment. Try again.",
		RetryAfter: retryAfter,
		Err:        fmt.Errorf("%s: %w", op, err),
	}
}

// Unreachable returns what the network, or Postgres, says when a server's start
// failed because the database can't be reached: nobody answers, or Postgres
// starts, stops, or has too many connections. It returns nil for any other
// error, which does not pass by itself.
func Unreachable(err error) error {
	var e *pq.Error
	var connect *connectError
	var network *net.OpError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &e):
		switch e.Code.Class() {
		case "08", "53", "57":
			return e
		}
	case errors.As(err, &untrusted), errors.Is(err, pq.ErrSSLNotSupported):
	case errors.As(err, &network):
		return network
	case errors.As(err, &connect):
		return connect
	}

	return nil
}

// classifySQLite knows SQLite's result codes.
// Source: https://sqlite.org/rescode.html
func classifySQLite(err error) class {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return unexpected
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return duplicate
	}
	switch e.Code() & 0xff { // the primary code
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, // another process holds it
		sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, // no space, disk, memory
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, // the file is away
		sqlite3.SQLITE_INTERRUPT: // the end of another call's context, a little late
		return unavailable
	}

	return unexpected
}

// classifyPostgres knows SQLSTATE codes, and errors of the network.
// Source: https://www.postgresql.org/docs/15/errcodes-appendix.html
func classifyPostgres(err error) class {
	var e *pq.Error
	if !errors.As(err, &e) {
		var network net.Error
		if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
			errors.Is(err, net.ErrClosed) {
			return unavailable
		}

		return unexpected
	}

	switch e.Code {
	case pqerror.UniqueViolation:
		return duplicate
	case pqerror.TRSerializationFailure, pqerror.TRDeadlockDetected:
		return conflict
	case pqerror.ReadOnlySQLTransaction, // a standby, before it is told to take over
		pqerror.IdleInTransactionSessionTimeout,
		pqerror.InvalidPassword, pqerror.InvalidCatalogName: // while the operator changes something
		return unavailable
	}
	switch e.Code.Class() {
	case "08", // connection
		"53", // no space, memory or connections
		"57", // shutdown, restart, statement_timeout
		"58": // disk
		return unavailable
	}

	return unexpected
}
