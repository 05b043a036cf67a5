package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Copy is a copy of an SQLite database that was looked at.
type Copy struct {
	Bytes  int64 // its size
	Schema Schema
}

// Backup copies an SQLite database, `sqlite:` and its path, into a new file,
// which only its owner can read. It works while a server uses the database: the
// copy is its state at one moment, and nobody waits for it. When it returns, the
// copy is on the disk and has been read through. An error is a sentence for the
// operator, and leaves no file.
func Backup(ctx context.Context, database, file string) (Copy, error) {
	path, err := sqlitePath(database)
	if err != nil {
		return Copy{}, err
	}
	if err := checkFile(path, false); err != nil {
		return Copy{}, err // SQLite would make an empty one
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return Copy{}, errors.Join(fmt.Errorf("%s exists; a backup replaces nothing", file), err)
	}

	return place(ctx, file, func(part *os.File) error {
		db, err := connectExisting(ctx, path)
		if err != nil {
			return err
		}
		// It takes an empty file, and leaves out free pages.
		if _, err := db.ExecContext(ctx, "VACUUM INTO ?", part.Name()); err != nil {
			return errors.Join(fmt.Errorf("copy %s: %w", path, err), db.Close())
		}

		return db.Close()
	})
}

// Restore makes a backup the SQLite database. It refuses while a server has
// that, and to replace one unless force says so. A backup that is not good
// leaves the old database as it was. An error is a sentence for the operator.
func Restore(ctx context.Context, file, database string, force bool) (_ Copy, err error) {
	path, err := sqlitePath(database)
	if err != nil {
		return Copy{}, err
	}
	release, err := lockFile(ctx, path+".lock")
	if err != nil {
		return Copy{}, fmt.Errorf("database %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, release()) }()

	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return Copy{}, fmt.Errorf("%s has a log beside it, %s-wal: it is a database that is in use or was copied by "+
			"other means, and no backup; make one with `prwarden backup`", file, file)
	}
	if _, err := os.Stat(path); err == nil && !force {
		return Copy{}, fmt.Errorf("there is a database %s already; --force replaces it", path)
	}

	if err := os.Remove(path + ".part"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Copy{}, err // an earlier attempt left it: nobody else has the lock
	}

	return place(ctx, path, func(part *os.File) error {
		from, err := os.Open(file)
		if err != nil {
			return err
		}
		_, err = io.Copy(part, from)

		return errors.Join(err, from.Close())
	})
}

// place writes a database's file beside the place where it belongs, for its
// owner alone, makes it durable, reads it through, and puts it in its place.
func place(ctx context.Context, path string, write func(part *os.File) error) (c Copy, err error) {
	part, err := os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE|os.O_EXCL, filePermission)
	if errors.Is(err, fs.ErrExist) {
		return Copy{}, fmt.Errorf("%s.part exists: another backup writes it, or was cut off; then remove it", path)
	}
	if err != nil {
		return Copy{}, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part.Name()) // the first error says more
		}
	}()
	if err := errors.Join(write(part), part.Sync(), part.Close()); err != nil {
		return Copy{}, err
	}
	if c, err = readThrough(ctx, part.Name()); err != nil {
		return Copy{}, fmt.Errorf("the copy is not good: %w", err)
	}

	if err := closeLog(ctx, path); err != nil {
		return Copy{}, err
	}
	// The log of a damaged database would be taken for the new one's.
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Copy{}, err
		}
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return Copy{}, err
	}
	if err := os.Rename(part.Name(), path); err != nil {
		return Copy{}, err
	}

	return c, syncFolder(filepath.Dir(path))
}

// closeLog moves what is in a database's log into the database, if there is one
// and it is not damaged. SQLite leaves the log only when nobody else has the
// database open.
func closeLog(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := connectExisting(ctx, path)
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
		err = errors.Join(err, db.Close())
	}

	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff { // the primary code
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return nil
		case sqlite3.SQLITE_BUSY:
			return fmt.Errorf("another command uses the database %s; wait until it has ended: %w", path, err)
		}
	}

	return err
}

// connectExisting makes a connection to a database that others may use.
func connectExisting(ctx context.Context, path string) (*sqlx.DB, error) {
	return connectSQLite(ctx, path, 1, url.Values{
		"mode": {"rw"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeoutMS)},
	})
}

// readThrough reads a whole database that nobody else has.
func readThrough(ctx context.Context, path string) (c Copy, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return Copy{}, err
	}
	// It needs no locks and no files beside it.
	db, err := connectSQLite(ctx, path, 1, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return Copy{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := checkIntegrity(ctx, db); err != nil {
		return Copy{}, err
	}

	c.Bytes = info.Size()
	c.Schema, err = (&Store{dialect: sqliteDialect(), pools: pools{reader: db, writer: db}}).Schema(ctx)
	if err == nil && c.Schema.Current == 0 {
		err = errors.New("it is a database, but not one of prwarden")
	}

	return c, err
}

func checkIntegrity(ctx context.Context, db *sqlx.DB) error {
	var found []string
	if err := db.SelectContext(ctx, &found, "PRAGMA integrity_check(3)"); err != nil {
		return fmt.Errorf("it can't be read: %w", err)
	}
	if len(found) != 1 || found[0] != "ok" {
		return fmt.Errorf("it is damaged: %s", strings.Join(found, "; "))
	}

	return nil
}
