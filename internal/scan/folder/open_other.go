//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package folder

import (
	"os"

	"github.com/prwarden/prwarden/internal/scan"
)

// openDirectory opens what was a directory a moment ago.
func openDirectory(path string) (*os.File, error) { return os.Open(path) }

// readRegular reads what was a regular file a moment ago.
func readRegular(path string, buf []byte) (content []byte, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errSpecial
	}
	if info.Size() > scan.MaxFileSize {
		return nil, info.Size(), nil
	}
	return readAll(buf, info.Size(), f.Read)
}
