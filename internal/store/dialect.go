package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/prwarden/prwarden/migrations"
)

// dialect is all that differs between kinds of databases. The queries
// themselves use only what all of them have: RETURNING, ON CONFLICT, row
// values.
type dialect struct {
	schemes    []string      // what Options.Database begins with
	bind       int           // how sqlx writes parameters
	goose      goose.Dialect // how the migrations' versions are kept
	migrations func() fs.FS
	// migrator connects for migrations only, where they need a connection of
	// another kind, and says how they keep others out; nil for the writer.
	migrator func(database string) (*sql.DB, lock.SessionLocker, error)

	// open connects. o.Database still has its scheme.
	open func(ctx context.Context, o Options) (pools, error)
	// classify says what an error of the driver means, by its code.
	classify func(error) class

	// shared says that several servers may use the database. Its clock is theirs,
	// and they tell each other what they write.
	shared bool
	// enter says at the beginning of a transaction for whom it works, and returns
	// the database's time; nil where neither is known.
	enter func(context.Context, *sqlx.Tx, scope) (time.Time, error)
	// arrays says that a parameter may be an array; see insertRows.
	arrays bool
	// claim takes the review whose turn it is; sql.ErrNoRows when there is none.
	claim func(ctx context.Context, t *tx, c claiming) (claimed, error)
	// readTx makes a reading transaction see one state of the database.
	readTx *sql.TxOptions
	// lockRow ends a SELECT of a row that the transaction goes on to change, and
	// keeps others from changing it in between; "" when there is one writer.
	lockRow string
	// tryUpkeep is a query that says whether this transaction is the only one of
	// upkeep until it ends; "" when there is one server.
	tryUpkeep string
	// giveBack is a statement that gives a few free pages back to the file
	// system; "" when the database sees to that.
	giveBack string
}

// sqliteDialect is SQLite through modernc.org/sqlite.
func sqliteDialect() dialect {
	return dialect{
		schemes:    []string{"sqlite:"},
		bind:       sqlx.QUESTION,
		goose:      goose.DialectSQLite3,
		migrations: migrations.SQLite,
		open:       openSQLite,
		classify:   classifySQLite,
		// The driver begins these with a plain BEGIN, which takes the snapshot
		// at the first read and no lock.
		readTx:   &sql.TxOptions{ReadOnly: true},
		claim:    claimSQLite,
		giveBack: fmt.Sprintf("PRAGMA incremental_vacuum(%d)", givePages),
	}
}

// postgresDialect is Postgres through lib/pq.
func postgresDialect() dialect {
	return dialect{
		schemes:    []string{"postgres:", "postgresql:"},
		bind:       sqlx.DOLLAR,
		goose:      goose.DialectPostgres,
		migrations: migrations.Postgres,
		migrator:   migratePostgres,
		open:       openPostgres,
		classify:   classifyPostgres,
		shared:     true,
		enter:      enterPostgres,
		arrays:     true,
		claim:      claimPostgres,
		readTx:     &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		lockRow:    " FOR UPDATE",
		tryUpkeep:  "SELECT pg_try_advisory_xact_lock(7078)",
	}
}

// dialectOf returns the dialect of a database by its scheme.
func dialectOf(database string) (dialect, error) {
	var known []string
	for _, d := range []dialect{sqliteDialect(), postgresDialect()} {
		for _, scheme := range d.schemes {
			if strings.HasPrefix(database, scheme) {
				return d, nil
			}
		}
		known = append(known, "`"+d.schemes[0]+"`")
	}
	// The name may hold a password: say no more of it than its scheme.
	scheme, _, _ := strings.Cut(database, ":")
	if scheme == database {
		scheme = ""
	}

	return dialect{}, fmt.Errorf("the database must begin with %s, not with %q", strings.Join(known, " or "), scheme)
}
