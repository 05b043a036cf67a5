package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/pressly/goose/v3/lock"
)

const (
	// DefaultConnections is how many connections a server has to Postgres at
	// most, when nothing else is set.
	DefaultConnections = 20
	// connectionIdle is how long an unused connection is kept.
	connectionIdle = 5 * time.Minute
	// connectionLife is how long any connection is kept, so that servers find
	// their way back to a database that moved.
	connectionLife = time.Hour
)

// openPostgres connects to a Postgres database. It must be there, and the role
// must be one that row-level security holds.
func openPostgres(ctx context.Context, o Options) (pools, error) {
	config, err := configurePostgres(o.Database)
	if err != nil {
		return pools{}, err
	}
	connections := o.Connections
	if connections == 0 {
		connections = DefaultConnections
	}
	db := sql.OpenDB(pgConnector{config: config})
	db.SetMaxOpenConns(connections)
	// Those that are open stay open: making one takes longer than most calls.
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(connectionIdle)
	db.SetConnMaxLifetime(connectionLife)
	if err := checkRole(ctx, db, config); err != nil {
		return pools{}, errors.Join(err, db.Close())
	}
	x := sqlx.NewDb(db, "postgres")
	return pools{reader: x, writer: x}, nil
}

// migratePostgres connects for migrations: their statements may take long, and
// the lock that keeps out other servers' belongs to the session.
func migratePostgres(database string) (*sql.DB, lock.SessionLocker, error) {
	config, err := configurePostgres(database)
	if err != nil {
		return nil, nil, err
	}
	// Every second, for as long as a migration of another server may take.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, uint64(migrationTimeout/time.Second)))
	if err != nil {
		return nil, nil, err
	}
	return sql.OpenDB(pgConnector{config: config, patient: true}), locker, nil
}

// migrationTimeout is how long one server waits for the migrations of another.
const migrationTimeout = time.Hour

// migrationLock is how long a statement of a migration waits for a lock.
const migrationLock = "2s"

// checkRole refuses a role that row-level security doesn't hold.
func checkRole(ctx context.Context, db *sql.DB, config pq.Config) error {
	var role string
	var unbound bool
	err := db.QueryRowContext(ctx, `SELECT rolname, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user`).Scan(&role, &unbound)
	switch {
	case err != nil:
		return fmt.Errorf("database %s on %s can't be opened: %w", config.Database, config.Host, err)
	case unbound:
		return fmt.Errorf("database %s on %s: the role %s is a superuser or has BYPASSRLS, which switches off what keeps organizations apart; "+
			"make one without (CREATE ROLE prwarden LOGIN PASSWORD '…') that owns the database (ALTER DATABASE … OWNER TO prwarden), and use that", config.Database, config.Host, role)
	}
	return nil
}
