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
func Backup(ctx context.Context, database, file string) (_ Copy, err error) {
	path, err := sqlitePath(database)
	if err != nil {
		return Copy{}, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Copy{}, fmt.Errorf("there is no database %s", path) // SQLite would make an empty one
	}
	if file, err = filepath.Abs(file); err != nil {
		return Copy{}, err
	}
	// The empty file holds the name. What a crash leaves of it is no backup, and
	// looks like none.
	if err := createNew(file); err != nil {
		return Copy{}, err
	}
	part := file + ".part"
	if err := createNew(part); err != nil {
		return Copy{}, errors.Join(err, os.Remove(file))
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part) // the first error says more
			_ = os.Remove(file)
		}
	}()
	if err := vacuumInto(ctx, path, part); err != nil {
		return Copy{}, err
	}
	c, err := syncAndCheck(ctx, part)
	if err != nil {
		return Copy{}, fmt.Errorf("the copy is not good: %w", err)
	}
	if err := os.Rename(part, file); err != nil {
		return Copy{}, err
	}

	return c, syncFolder(filepath.Dir(file))
}

// createNew makes an empty file for its owner alone.
func createNew(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePermission)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; a backup replaces nothing", path)
	}
	if err != nil {
		return err
	}

	return f.Close()
}

// vacuumInto writes a copy of a database, without free pages, into an empty file.
func vacuumInto(ctx context.Context, path, into string) (err error) {
	db, err := connectSQLite(ctx, path, 1, url.Values{
		"mode":    {"rw"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeoutMS)},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", into); err != nil {
		return fmt.Errorf("copy %s: %w", path, err)
	}

	return nil
}

// syncAndCheck makes a copy durable and reads it through.
func syncAndCheck(ctx context.Context, path string) (c Copy, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return Copy{}, err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return Copy{}, err
	}
	// Nobody else has the file, so it needs no locks and no files beside it.
	db, err := connectSQLite(ctx, path, 1, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return Copy{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c.Bytes = info.Size()
	if err := checkIntegrity(ctx, db); err != nil {
		return Copy{}, err
	}
	c.Schema, err = (&Store{dialect: sqliteDialect(), pools: pools{reader: db, writer: db}}).Schema(ctx)
	if err == nil && c.Schema.Current == 0 {
		err = errors.New("it is a database, but not one of prwarden")
	}

	return c, err
}

// checkIntegrity reads a whole database.
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

// Restore makes a backup the SQLite database. It refuses while a server has
// that, and to replace one unless force says so. The database is the old one or
// the new one, whole, whenever the machine stops. An error is a sentence for
// the operator, and leaves the old one as it was.
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
	if err := mayRestore(file, path, force); err != nil {
		return Copy{}, err
	}
	part := path + ".part"
	defer func() {
		if err != nil {
			_ = os.Remove(part) // the first error says more
		}
	}()
	if err := copyFile(ctx, file, part); err != nil {
		return Copy{}, err
	}
	c, err := syncAndCheck(ctx, part)
	if err != nil {
		return Copy{}, fmt.Errorf("%s is no backup that can be used: %w", file, err)
	}
	if err := foldLog(ctx, path); err != nil {
		return Copy{}, err
	}
	if err := os.Rename(part, path); err != nil {
		return Copy{}, err
	}

	return c, syncFolder(filepath.Dir(path))
}

// mayRestore says what is wrong with a backup's file, or with replacing the
// database at path.
func mayRestore(file, path string, force bool) error {
	from, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case !from.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", file)
	}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return fmt.Errorf("%s has a log beside it, %s-wal: it is a database that is in use or was copied by "+
			"other means, and no backup; make one with `prwarden backup`", file, file)
	}
	to, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case os.SameFile(from, to):
		return fmt.Errorf("%s is the database itself", file)
	case !force:
		return fmt.Errorf("there is a database %s already; --force replaces it", path)
	}

	return nil
}

// copyFile copies a file into one for its owner alone, in place of what an
// earlier attempt may have left there.
func copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePermission)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, contextReader{ctx, in})
	return err
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}

	return r.Reader.Read(p)
}

// foldLog leaves nothing beside a database that is about to be replaced: its
// log would be taken for the new one's. What the log holds goes into the
// database first, so that the old one is whole if the machine stops now; only of
// one that is damaged, which may be why it is replaced, the log goes with it.
func foldLog(ctx context.Context, path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) { // without it the log is nothing
		if err := emptyLog(ctx, path); err != nil && !damaged(err) {
			return fmt.Errorf("the log of %s can't be put into it: %w; "+
				"if the database is not needed any more, move it and what begins with its name away", path, err)
		}
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	return syncFolder(filepath.Dir(path))
}

// emptyLog puts all that the log of a database holds into it.
func emptyLog(ctx context.Context, path string) (err error) {
	db, err := connectSQLite(ctx, path, 1, url.Values{
		"mode": {"rw"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", foldPatience.Milliseconds())},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// That others hold it up is no error to SQLite, but in its answer.
	var busy, pages, folded int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &folded); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("another process uses it")
	}

	return nil
}
