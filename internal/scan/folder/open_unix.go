//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package folder

import (
	"io"
	"os"
	"syscall"

	"github.com/prwarden/prwarden/internal/scan"
)

// openDirectory opens what was a directory a moment ago. os.Open would try to
// wait for it with others, by three more calls of the system.
func openDirectory(path string) (*os.File, error) {
	fd, err := retried(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// readRegular reads what was a regular file a moment ago. It calls the system
// directly: os.File adds three calls and an allocation for each file, which is
// as much again where files are small.
//
// Nothing but a regular file is ever waited for or followed, also when it was
// exchanged meanwhile.
func readRegular(path string, buf []byte) (content []byte, size int64, err error) {
	fd, err := retried(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	})
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = syscall.Close(fd) }() // it was only read
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, 0, err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, 0, errSpecial
	}
	if st.Size > scan.MaxFileSize {
		return nil, st.Size, nil
	}
	return readAll(buf, st.Size, func(rest []byte) (int, error) {
		n, err := retried(func() (int, error) { return syscall.Read(fd, rest) })
		if err == nil && n == 0 {
			err = io.EOF
		}
		return n, err
	})
}

// retried calls the system again when a signal broke the call off.
func retried(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR { //nolint:errorlint // a bare number from package syscall
			return max(n, 0), err
		}
	}
}
