package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
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

	// clock says that the database has a clock, which several processes share:
	// the beginning of a transaction reads it.
	clock bool
	// atOnce says that several statements may go to the database in one message,
	// which saves the ways there and back; see ask, last and Claim.
	atOnce bool
	// ofReview is the condition of the queries of findings and skips, whose first
	// parameters are an organization and its review. Planning a second look at
	// reviews would be a third of what reading a review costs Postgres.
	ofReview string
	// readTx makes a reading transaction see one state of the database.
	readTx *sql.TxOptions
	// lockRow ends a SELECT of a row that the transaction goes on to change, and
	// keeps others from changing it in between; "" when there is one writer.
	lockRow string
	// amongNumbers ends the condition that a number is one of a list; numbers
	// makes its parameter of the list.
	amongNumbers string
	numbers      func([]int) any
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
		ofReview:   ` WHERE review_id = (SELECT id FROM reviews WHERE organization = ? AND id = ?)`,
		// The driver begins these with a plain BEGIN, which takes the snapshot
		// at the first read and no lock.
		readTx:       &sql.TxOptions{ReadOnly: true},
		amongNumbers: " IN (SELECT value FROM json_each(?))",
		numbers:      func(list []int) any { return numbers(list) },
		giveBack:     fmt.Sprintf("PRAGMA incremental_vacuum(%d)", givePages),
	}
}

// postgresDialect is Postgres through lib/pq.
func postgresDialect() dialect {
	return dialect{
		schemes:      []string{"postgres:", "postgresql:"},
		bind:         sqlx.DOLLAR,
		goose:        goose.DialectPostgres,
		migrations:   migrations.Postgres,
		migrator:     migratePostgres,
		open:         openPostgres,
		classify:     classifyPostgres,
		clock:        true,
		atOnce:       true,
		ofReview:     ` WHERE organization = ? AND review_id = ?`,
		readTx:       &sql.TxOptions{ReadOnly: true}, // and repeatable; see pgConn
		lockRow:      " FOR UPDATE",
		amongNumbers: " = ANY (?)",
		numbers:      func(list []int) any { return pq.Array(list) },
		tryUpkeep:    "SELECT pg_try_advisory_xact_lock(7078)",
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
