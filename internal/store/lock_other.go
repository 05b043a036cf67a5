//go:build !unix

package store

import (
	"errors"
	"time"
)

const lockWait = 0 // there is no lock to wait for

// lockFile fails: the server is for Linux, and other systems have the client
// commands only.
func lockFile(string, time.Duration) (release func() error, err error) {
	return nil, errors.New("it can't be locked on this system; run the server on Linux")
}

// writable does not know and lets SQLite find out.
func writable(string) bool { return true }
