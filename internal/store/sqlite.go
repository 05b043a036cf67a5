package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/migrations"
)

// How an SQLite database is used.
const (
	busyTimeoutMS  = 5_000    // wait for another process that writes, such as `keys create`
	logLimit       = 64 << 20 // bytes that the write-ahead log keeps after it was emptied
	filePermission = 0o600    // SQLite gives its log and shared memory the same
	minReaders     = 4        // connections that read
)

// sqliteDialect is SQLite through modernc.org/sqlite.
func sqliteDialect() dialect {
	return dialect{
		goose:       goose.DialectSQLite3,
		migrations:  migrations.SQLite,
		hasVersions: "SELECT COUNT(*) > 0 FROM sqlite_master WHERE name = '" + goose.DefaultTablename + "'",
		open:        openSQLite,
		classify:    classifySQLite,
		// The driver begins these with a plain BEGIN, which takes the snapshot
		// at the first read and no lock.
		readTx: &sql.TxOptions{ReadOnly: true},
	}
}

// openSQLite opens, and when needed creates, an SQLite database: one
// connection that writes and a few that read. Writers wait in Go until their
// contexts end, not in SQLite's busy loop.
func openSQLite(ctx context.Context, o Options) (p pools, err error) {
	path, err := sqlitePath(o.Database)
	if err != nil {
		return pools{}, err
	}
	var undo []func() error
	defer func() {
		if err != nil {
			for _, u := range undo {
				_ = u() // the first error says more
			}
		}
	}()
	if o.Exclusive {
		if p.release, err = lockFile(ctx, path+".lock"); err != nil {
			return pools{}, fmt.Errorf("database %s: %w", path, err)
		}
		undo = append(undo, p.release)
	}
	if err := checkFile(path, !o.Existing); err != nil {
		return pools{}, err
	}

	busy := fmt.Sprintf("busy_timeout(%d)", cmp.Or(o.busyTimeoutMS, busyTimeoutMS)) // first, so that the others wait, too
	if p.writer, err = connectSQLite(ctx, path, 1, url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			busy, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
			fmt.Sprintf("journal_size_limit(%d)", logLimit),
		},
	}); err != nil {
		return pools{}, err
	}
	undo = append(undo, p.writer.Close)
	if p.reader, err = connectSQLite(ctx, path, max(minReaders, background.Processors()), url.Values{
		"_pragma": {busy, "query_only(1)"},
	}); err != nil {
		return pools{}, err
	}
	undo = append(undo, p.reader.Close)

	// SQLite syncs the log's content, and its name when it creates it. The
	// database's own name is made durable here.
	return p, syncFolder(filepath.Dir(path))
}

// connectSQLite makes a pool of n connections and tries it.
func connectSQLite(ctx context.Context, path string, n int, params url.Values) (*sqlx.DB, error) {
	// A URI, so that no character in the path means anything.
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: params.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	var version int
	// Reading the schema's version makes SQLite look at the file.
	if err := db.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s can't be opened: %w", path, err), db.Close())
	}

	return sqlx.NewDb(db, "sqlite"), nil
}

// sqlitePath returns the absolute path of the file that the database is in.
func sqlitePath(database string) (string, error) {
	path := strings.TrimPrefix(database, "sqlite:")
	switch {
	case path == "":
		return "", errors.New("the database `sqlite:` has no path; write for example sqlite:prwarden.db")
	case path == ":memory:":
		return "", errors.New("a database in memory loses every review; name a file, for example sqlite:prwarden.db")
	case strings.ContainsRune(path, 0):
		return "", errors.New("the path of the database has a NUL byte")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("database %s: %w", path, err)
	}
	// The lock stands beside the file itself, so that a link to it is no way
	// around the lock. A file that is not there yet is found by its folder; that
	// a folder is missing is found, and said, later.
	if file, err := filepath.EvalSymlinks(abs); err == nil {
		return file, nil
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(folder, filepath.Base(abs)), nil
	}

	return abs, nil
}

// checkFile says what is wrong with a database's file where SQLite's words would
// not. With create it makes the file, readable by its owner only, when there is
// none. What an operator made of an existing file's permissions stays.
func checkFile(path string, create bool) error {
	if create {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, filePermission)
		switch {
		case err == nil:
			return f.Close()
		case errors.Is(err, fs.ErrExist):
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("database %s: the folder %s does not exist; create it first", path, filepath.Dir(path))
		case errors.Is(err, fs.ErrPermission):
			return fmt.Errorf("database %s: this user may not create files in the folder", path)
		default:
			return fmt.Errorf("database %s can't be created: %w", path, err)
		}
	}

	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no database %s", path)
	case err != nil:
		return fmt.Errorf("database %s: %w", path, err)
	case info.IsDir():
		return fmt.Errorf("database %s is a folder; name a file in it", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("database %s is not a regular file", path)
	}
	// SQLite would open a file that it may not write for reading only, and fail
	// with the first review. The file is not opened to find out: closing it
	// would drop the locks that SQLite has on it elsewhere in this process.
	if unix.Access(path, unix.W_OK) != nil {
		return fmt.Errorf("database %s: this user may not write it", path)
	}

	return nil
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("folder %s: %w", path, err)
	}
	if err := d.Sync(); err != nil {
		return errors.Join(fmt.Errorf("folder %s can't be synced: %w", path, err), d.Close())
	}

	return d.Close()
}

// lockWait is how long a lock is waited for: a process that a killed server was
// just starting has a copy of its handle until it becomes another program, and
// the next server may come before that.
const lockWait = 3 * time.Second

// lockFile takes a lock that ends with this process at the latest, or says
// after lockWait that another has it. The file is made when there is none and
// stays: a removed one could be locked twice. It is not the database itself,
// because closing any handle of that drops SQLite's own locks.
func lockFile(ctx context.Context, path string) (release func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()

	lock := flock.New(path, flock.SetPermissions(filePermission))
	locked, err := lock.TryLockContext(ctx, 10*time.Millisecond)
	switch {
	case locked:
		return lock.Unlock, nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.New("another prwarden serves this database; stop it first, or name another database")
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("its folder does not exist; create it first")
	}

	return nil, fmt.Errorf("its lock file can't be locked: %w", err)
}
