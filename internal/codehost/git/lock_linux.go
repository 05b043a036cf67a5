package git

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes a lock on f, exclusive or shared, if it is free. closeLock ends
// it.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

// closeLock closes a file and ends the lock on it. Closing alone would not: a
// process that is just being started has a copy of the handle until it becomes
// another program.
func closeLock(f *os.File) error {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // fails only on one that is closed
	return f.Close()
}
