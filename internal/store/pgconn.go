package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"
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
	// cancelGrace is how long a statement may still take when its context ends,
	// before the connection is given up. Before that, the server hears that the
	// client has left, and has time to see it and to end its part: connections
	// that were given up must not add up there.
	cancelGrace = 500 * time.Millisecond
	leaveGrace  = cancelGrace - 3*aliveInterval
)

// beginning is what the beginning of a transaction needs and learns, and what
// its end does besides. It goes with the context, because database/sql has no
// other way to the driver.
type beginning struct {
	scope scope
	now   time.Time // the database's clock, in whole microseconds
	last  []string  // statements that are executed with the commit
}

// beginningKey is the context's key of a *beginning.
type beginningKey struct{}

// pqConn is what a connection of lib/pq can do. It is its own driver.Tx.
type pqConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Tx
	driver.Validator
}

// pgConnector makes connections that differ from lib/pq's in three things. A
// transaction begins, says for whom it works, and reads the clock in one round
// trip. The end of a context ends a transaction or a question also when the server is dead or
// frozen, and takes no second connection to say so. And every answer has to come
// in answerTimeout.
type pgConnector struct {
	config  pq.Config
	patient bool // takes any time for an answer, as migrations need
}

// Connect implements driver.Connector.
func (c pgConnector) Connect(ctx context.Context) (driver.Conn, error) {
	connector, err := pq.NewConnectorConfig(c.config)
	if err != nil {
		return nil, err
	}
	d := &pgDialer{}
	connector.Dialer(d)
	inner, err := connector.Connect(ctx)
	if err != nil {
		return nil, &connectError{err}
	}
	out, ok := inner.(pqConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("lib/pq has changed: %T is not what this program needs", inner), inner.Close())
	}
	if c.patient {
		// But while a statement waits for a lock on a table, everybody else waits
		// behind it.
		if _, err := out.ExecContext(ctx, "SET lock_timeout = '"+migrationLock+"'", nil); err != nil {
			return nil, errors.Join(&connectError{err}, out.Close())
		}
		return out, nil
	}
	d.conn.watch()
	return &pgConn{pqConn: out, net: d.conn}, nil
}

// connectError is why a connection could not be made. lib/pq hides what the
// network said in a type of its own when the connection breaks while it is
// being made, so that it can't be told from a mistake of this program without
// this.
type connectError struct{ error }

// Unwrap returns the cause.
func (e *connectError) Unwrap() error { return e.error }

// Driver implements driver.Connector.
func (c pgConnector) Driver() driver.Driver { return &pq.Driver{} }

// pgConn is a connection to Postgres. Like all of database/sql's it is used by
// one goroutine at a time.
type pgConn struct {
	pqConn
	net  *pgNetConn
	bad  bool
	stop func() // ends the watch of the transaction's context
}

// BeginTx implements driver.ConnBeginTx.
func (c *pgConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, ok := ctx.Value(beginningKey{}).(*beginning)
	if !ok {
		return nil, errors.New("a transaction on Postgres must say for whom it works")
	}
	c.stop = c.net.endWith(ctx)
	if err := c.begin(ctx, o, b); err != nil {
		c.bad = true // whatever state it is in
		c.finish()
		return nil, err
	}
	return &pgTx{conn: c, beginning: b}, nil
}

func (c *pgConn) begin(ctx context.Context, o driver.TxOptions, b *beginning) (err error) {
	if err := b.scope.check(); err != nil {
		return err
	}
	mode := "READ COMMITTED READ WRITE"
	if o.ReadOnly {
		mode = "REPEATABLE READ READ ONLY"
	}
	// The simple protocol takes several statements, and no parameters.
	rows, err := c.pqConn.QueryContext(context.WithoutCancel(ctx), "BEGIN ISOLATION LEVEL "+mode+"; SELECT "+
		b.scope.set()+", "+pgTimeouts+", "+pgClock, nil)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); err != nil {
		return err
	}
	us, ok := values[len(values)-1].(int64)
	if !ok {
		return fmt.Errorf("the clock is a %T", values[len(values)-1])
	}
	b.now = time.UnixMicro(us).UTC()
	return nil
}

// pgClock is the time when the transaction began, in microseconds since 1970.
const pgClock = `(EXTRACT(EPOCH FROM now()) * 1000000)::BIGINT`

// pgTimeouts are expressions that set the server's part: statementTimeout,
// aliveInterval and idleTimeout. A transaction that is one message is never
// idle.
const (
	pgTimeouts        = pgMessageTimeouts + `, set_config('idle_in_transaction_session_timeout', '5s', TRUE)`
	pgMessageTimeouts = `set_config('statement_timeout', '10s', TRUE), set_config('client_connection_check_interval', '100ms', TRUE)`
)

// finish ends what began with a transaction.
func (c *pgConn) finish() {
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
}

// QueryContext implements driver.QueryerContext.
func (c *pgConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.stop != nil { // the transaction's context, or one made from it, is watched
		return c.pqConn.QueryContext(context.WithoutCancel(ctx), query, args)
	}
	if a, ok := ctx.Value(askingKey{}).(*asking); ok {
		return c.ask(a, query)
	}
	return c.pqConn.QueryContext(ctx, query, args)
}

// ExecContext implements driver.ExecerContext.
func (c *pgConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.stop != nil {
		return c.pqConn.ExecContext(context.WithoutCancel(ctx), query, args)
	}
	return c.pqConn.ExecContext(ctx, query, args)
}

// Close implements driver.Conn. A goodbye that can't be said any more, on a
// connection that is broken already, is no fault.
func (c *pgConn) Close() error {
	_ = c.pqConn.Close()
	return nil
}

// IsValid implements driver.Validator.
func (c *pgConn) IsValid() bool { return !c.bad && !c.net.hasLeft() && c.pqConn.IsValid() }

// ResetSession implements driver.SessionResetter.
func (c *pgConn) ResetSession(ctx context.Context) error {
	if c.bad || c.net.stale() {
		return driver.ErrBadConn
	}
	return c.pqConn.ResetSession(ctx)
}

// pgTx is a transaction that is open.
type pgTx struct {
	conn      *pgConn
	beginning *beginning
}

// Commit implements driver.Tx. An error may mean that the answer was lost, and
// the transaction was committed all the same.
func (t *pgTx) Commit() error {
	defer t.conn.finish()
	if len(t.beginning.last) == 0 {
		return t.conn.pqConn.Commit()
	}
	// COMMIT of a transaction in which a statement has failed rolls it back and
	// says so only in its tag, which is out of reach here. A SELECT fails then.
	text := "SELECT 1; " + strings.Join(append(t.beginning.last, "COMMIT"), "; ")
	_, err := t.conn.pqConn.ExecContext(context.Background(), text, nil)
	if err == nil {
		return nil
	}
	// Refused by the server, the transaction is still open, and the connection
	// as good as before. Else nobody knows.
	var refused *pq.Error
	if !errors.As(err, &refused) || t.conn.pqConn.Rollback() != nil {
		t.conn.bad = true
	}
	return err
}

// Rollback implements driver.Tx.
func (t *pgTx) Rollback() error {
	defer t.conn.finish()
	err := t.conn.pqConn.Rollback()
	if err != nil {
		t.conn.bad = true
	}
	return err
}

// pgDialer is lib/pq's dialer for one connection, and remembers it.
type pgDialer struct{ conn *pgNetConn }

// DialContext implements pq.DialerContext.
func (d *pgDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.conn = &pgNetConn{Conn: c}
	return d.conn, nil
}

// Dial implements pq.Dialer.
func (d *pgDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout implements pq.Dialer.
func (d *pgDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// pgNetConn is a network connection on which every answer has its time.
type pgNetConn struct {
	net.Conn
	mu      sync.Mutex
	watched bool
	ending  bool // a context has ended: deadlines are not moved any more
	left    bool // the server was told that nothing more will come
}

// watch begins to watch, after the connection is made.
func (c *pgNetConn) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched = true
}

// Write sends a request, whose answer has its time from now on.
func (c *pgNetConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	if c.watched && !c.ending {
		if err := c.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
			c.mu.Unlock()
			return 0, err
		}
	}
	c.mu.Unlock()
	return c.Conn.Write(b)
}

// endWith gives what happens on the connection only cancelGrace when ctx ends,
// and tells the server after leaveGrace. stop ends that; it returns when nothing
// of it will happen any more.
func (c *pgNetConn) endWith(ctx context.Context) (stop func()) {
	ended := make(chan struct{})
	stopped := false // under mu
	leave := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && !stopped {
			c.left = true
			_ = half.CloseWrite() // fails only on a closed connection
		}
	}
	cancel := context.AfterFunc(ctx, func() {
		defer close(ended)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ending = true
		_ = c.SetDeadline(time.Now().Add(cancelGrace)) // likewise
		time.AfterFunc(leaveGrace, leave)
	})
	return func() {
		if cancel() {
			return
		}
		<-ended
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ending = false // the next Write sets another deadline
		stopped = true
	}
}

// hasLeft reports whether the server was told that nothing more will come.
func (c *pgNetConn) hasLeft() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// configurePostgres reads the address of a database. It may hold a password, so
// an error repeats nothing of it.
func configurePostgres(database string) (pq.Config, error) {
	config, err := pq.NewConfig(database)
	if err != nil {
		return pq.Config{}, errors.New("the database's address can't be read; write postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full, and in a password %40 for @, %2F for /, %3A for : and %25 for %")
	}
	// A query with parameters takes one round trip, and leaves nothing on the
	// connection that a pooler would have to know of.
	config.BinaryParameters = true
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	if config.ApplicationName == "" && config.FallbackApplicationName == "" {
		config.FallbackApplicationName = "prwarden"
	}
	return config, nil
}

// connectTimeout is how long making a connection may take, where
// connect_timeout does not say.
const connectTimeout = 5 * time.Second
