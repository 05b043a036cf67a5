//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockWait is how long a lock is waited for: a process that a killed server was
// just starting has a copy of its handle until it becomes another program, and
// the next server may come before that.
const lockWait = 3 * time.Second

// lockFile takes a lock that ends with this process at the latest, or says
// after wait that another has it. The file is made when there is none and
// stays: a removed one could be locked twice. It is not the database itself,
// because closing any handle of that drops SQLite's own locks.
func lockFile(path string, wait time.Duration) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, filePermission)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("its folder does not exist; create it first")
	case err != nil:
		return nil, fmt.Errorf("its lock file can't be opened: %w", err)
	}
	lock := func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
	err = lock()
	for until := time.Now().Add(wait); errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(until); err = lock() {
		<-time.After(10 * time.Millisecond) // a lock has no signal
	}
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(errors.New("another prwarden serves this database; stop it first, or name another database"), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock file %s: %w", path, err), f.Close())
	}
	return func() error {
		// Unlocked and not only closed: a process that is just being started
		// has a copy of the handle until it becomes another program.
		return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
	}, nil
}

// writable reports whether this user may write the file.
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
