package world

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Database is what the servers keep everything in.
type Database interface {
	// DSN is the value of the setting `database`.
	DSN() string
	// Addr is the HOST:PORT in DSN; empty when there is no network to it.
	Addr() string
	// Open opens it past everything that prwarden puts before it, with all
	// rights. The caller closes it.
	Open(ctx context.Context) (*sql.DB, error)
	// Watch has the database itself write down every change of a review's state
	// from now on, for Transitions. It does nothing where that can't be.
	Watch(ctx context.Context) error
	// Crash ends it as if the machine lost power: hard even without a signal
	// that could be caught. The data stays.
	Crash(hard bool) error
	// Start runs it again and returns when it takes connections.
	Start(ctx context.Context) error
	Close() error
}

func newDatabase(ctx context.Context, o Options, disk *Disk) (Database, error) {
	switch o.Database {
	case Postgres:
		return newPostgres(ctx)
	case SQLite:
		dir := filepath.Join(o.Dir, "database")
		if disk != nil {
			dir = disk.Dir
		}
		return sqlite{filepath.Join(dir, "prwarden.db")}, os.MkdirAll(dir, 0o700)
	default:
		return nil, fmt.Errorf("unknown kind of database %q", o.Database)
	}
}

// sqlite is a file. It has no process that could fail.
type sqlite struct{ path string }

func (s sqlite) DSN() string { return "sqlite:" + s.path }
func (sqlite) Addr() string  { return "" }

func (s sqlite) Open(context.Context) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+s.path+"?_pragma=busy_timeout(5000)")
}

func (sqlite) Watch(context.Context) error { return nil }
func (sqlite) Crash(bool) error            { return errors.New("SQLite has no process that could crash") }
func (sqlite) Start(context.Context) error { return nil }
func (sqlite) Close() error                { return nil }
