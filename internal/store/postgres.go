package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/pressly/goose/v3"

	"github.com/prwarden/prwarden/migrations"
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
	// connectTimeout is how long making a connection may take, where
	// connect_timeout does not say.
	connectTimeout = 5 * time.Second
)

// How long things may take on a connection to Postgres. Every transaction asks
// the server for its part, because a connection pooler may give each one
// another session.
const (
	// statementTimeout is the server's, for one statement; no statement of ours
	// comes near it.
	statementTimeout = 10 * time.Second
	// idleTimeout is the server's, for a transaction whose client says nothing:
	// a server that is frozen, or cut off, holds its locks no longer. It is well
	// below a lease.
	idleTimeout = 5 * time.Second
	// aliveInterval is how often a statement that goes on looks whether its
	// client is there.
	aliveInterval = 100 * time.Millisecond
	// answerTimeout is ours, for an answer of a server that may be dead. It is
	// longer than statementTimeout, so that a living one answers first.
	answerTimeout = statementTimeout + 2*time.Second
)

// postgresDialect is Postgres through lib/pq.
func postgresDialect() dialect {
	return dialect{
		postgres:    true,
		goose:       goose.DialectPostgres,
		migrations:  migrations.Postgres,
		hasVersions: "SELECT to_regclass('" + goose.DefaultTablename + "') IS NOT NULL",
		open:        openPostgres,
		classify:    classifyPostgres,
		readTx:      &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
	}
}

// openPostgres connects to a Postgres database. It must be there, and the role
// must be one that row-level security holds.
func openPostgres(ctx context.Context, o Options) (pools, error) {
	db, config, err := connectPostgres(o.Database, cmp.Or(o.answerTimeout, answerTimeout), nil)
	if err != nil {
		return pools{}, err
	}
	connections := cmp.Or(o.Connections, DefaultConnections)
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

// connectPostgres makes a pool of connections, with a limit for each answer (0
// for none) and settings of their sessions.
func connectPostgres(database string, limit time.Duration, settings map[string]string) (*sql.DB, pq.Config, error) {
	config, err := pq.NewConfig(database)
	if err != nil { // it may repeat a password
		return nil, config, errors.New("the database's address can't be read; " +
			"write postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full, " +
			"and in a password %40 for @, %2F for /, %3A for : and %25 for %")
	}
	// A query with parameters takes one round trip, and leaves nothing on the
	// connection that a pooler would have to know of.
	config.BinaryParameters = true
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
	config.FallbackApplicationName = cmp.Or(config.FallbackApplicationName, "prwarden")
	config = config.Clone()
	maps.Copy(config.Runtime, settings)
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, config, err
	}
	connector.Dialer(dialer{limit: limit})

	return sql.OpenDB(connector), config, nil
}

// checkRole refuses a role that row-level security doesn't hold.
func checkRole(ctx context.Context, db *sql.DB, config pq.Config) error {
	var role string
	var unbound bool
	err := db.QueryRowContext(ctx, `SELECT rolname, rolsuper OR rolbypassrls FROM pg_roles
		WHERE rolname = current_user`).Scan(&role, &unbound)
	switch {
	case err != nil:
		return fmt.Errorf("database %s on %s can't be opened: %w", config.Database, config.Host, &connectError{err})
	case unbound:
		return fmt.Errorf("database %s on %s: the role %s is a superuser or has BYPASSRLS, "+
			"which switches off what keeps organizations apart; "+
			"make one without (CREATE ROLE prwarden LOGIN PASSWORD '…') that owns the database "+
			"(ALTER DATABASE … OWNER TO prwarden), and use that", config.Database, config.Host, role)
	}

	return nil
}

// pgClock is when the transaction began, in microseconds since 1970.
const pgClock = `(EXTRACT(EPOCH FROM now()) * 1000000)::BIGINT`

// enterPostgres says for whom a transaction works and how long it may take, and
// returns when it began.
func enterPostgres(ctx context.Context, t *sqlx.Tx, scope scope) (time.Time, error) {
	const query = `SELECT ` + pgClock + ` FROM (SELECT set_config('prwarden.organization', $1, TRUE),
		set_config('statement_timeout', $2, TRUE), set_config('idle_in_transaction_session_timeout', $3, TRUE),
		set_config('client_connection_check_interval', $4, TRUE)) AS settings`

	var now timestamp
	err := t.GetContext(ctx, &now, query, string(scope), statementTimeout.String(), idleTimeout.String(),
		aliveInterval.String())

	return now.Time, err
}

// dialer makes connections on which a dead server is noticed.
type dialer struct {
	limit time.Duration // for each answer; 0 for none
}

// DialContext implements pq.DialerContext.
func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}).DialContext(ctx, network, address)
	if err != nil || d.limit == 0 {
		return conn, err
	}

	return &limitedConn{Conn: conn, limit: d.limit}, nil
}

// Dial implements pq.Dialer.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialTimeout(network, address, connectTimeout)
}

// DialTimeout implements pq.Dialer.
func (d dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()

	return d.DialContext(ctx, network, address)
}

// limitedConn is a network connection on which every answer has its time.
type limitedConn struct {
	net.Conn
	limit     time.Duration
	connected bool
}

// SetDeadline implements net.Conn. lib/pq sets one while it makes the
// connection, and takes it back when that is done.
func (c *limitedConn) SetDeadline(t time.Time) error {
	c.connected = t.IsZero()

	return c.Conn.SetDeadline(t)
}

// Write sends a request, whose answer has its time from now on.
func (c *limitedConn) Write(b []byte) (int, error) {
	if c.connected {
		if err := c.Conn.SetDeadline(time.Now().Add(c.limit)); err != nil {
			return 0, err
		}
	}

	return c.Conn.Write(b)
}
