package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/lib/pq"
)

// Password is that of every role that CreateDatabase makes. Only connections by TCP are asked for it.
const Password = "pgtest-password"

// CreateDatabase makes an empty database and a role of the same name that owns it, an ordinary one: no superuser, and
// subject to row-level security.
func (c *Cluster) CreateDatabase(ctx context.Context, name string) error {
	quoted := pq.QuoteIdentifier(name)
	if err := c.Exec(ctx, superuser, "CREATE ROLE "+quoted+" LOGIN PASSWORD "+pq.QuoteLiteral(Password)); err != nil {
		return err
	}
	return c.Exec(ctx, superuser, "CREATE DATABASE "+quoted+" OWNER "+quoted+" TEMPLATE template0")
}

// DropDatabase removes what CreateDatabase made, and whoever is connected.
func (c *Cluster) DropDatabase(ctx context.Context, name string) error {
	quoted := pq.QuoteIdentifier(name)
	return errors.Join(
		c.Exec(ctx, superuser, "DROP DATABASE "+quoted+" WITH (FORCE)"),
		c.Exec(ctx, superuser, "DROP ROLE "+quoted))
}

// DSN names a database, as its owner, by the server's socket.
func (c *Cluster) DSN(database string) string { return c.dsn(url.User(database), "", database) }

// SuperuserDSN names a database as the server's superuser.
func (c *Cluster) SuperuserDSN(database string) string {
	return c.dsn(url.User(superuser), "", database)
}

// TCPDSN names a database, as its owner and with its password, by TCP.
func (c *Cluster) TCPDSN(database string) string {
	return c.dsn(url.UserPassword(database, Password), c.reserved.Addr(), database)
}

// dsn names a database by an address, or without one by the socket.
func (c *Cluster) dsn(role *url.Userinfo, address, database string) string {
	query := url.Values{"sslmode": {"disable"}}
	if address == "" {
		query.Set("host", c.dir)
		query.Set("port", strconv.Itoa(c.reserved.Number()))
	}
	u := url.URL{Scheme: "postgres", User: role, Host: address, Path: "/" + database, RawQuery: query.Encode()}
	return u.String()
}

// Exec executes statements in a database as the superuser.
func (c *Cluster) Exec(ctx context.Context, database, statements string) (err error) {
	db, err := sql.Open("postgres", c.SuperuserDSN(database))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, statements); err != nil {
		return fmt.Errorf("database %s: %w", database, err)
	}
	return nil
}
