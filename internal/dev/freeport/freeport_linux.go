package freeport

import (
	"errors"
	"syscall"
)

// reserve binds a socket and does not listen on it. Linux chooses no port that is
// bound, and lets others who name it bind it, too, as long as every one has
// SO_REUSEADDR, as Go's listeners and Postgres have, and one listens at most.
func reserve() (number int, release func() error, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, err
	}
	release = func() error { return syscall.Close(fd) }
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, nil, errors.Join(err, release())
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, nil, errors.Join(err, release())
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, nil, errors.Join(err, release())
	}
	return bound.(*syscall.SockaddrInet4).Port, release, nil
}
