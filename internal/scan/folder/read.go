package folder

import (
	"errors"
	"io"
	"os"

	"github.com/prwarden/prwarden/internal/scan"
)

// errSpecial says that a file is none that can be read to its end.
var errSpecial = errors.New("not a regular file")

// bufferSize is room for a file that is not too large, and for a byte that
// tells that it is.
const bufferSize = scan.MaxFileSize + 1

// read reads a file as a review would see it: a symbolic link is a file that
// holds its target. The content is in buf, which has bufferSize. It is nil when
// the file is over scan.MaxFileSize; size is what is known of its size then.
func (it item) read(buf []byte) (content []byte, size int64, err error) {
	if it.kind == regular {
		return readRegular(it.path, buf)
	}
	target, err := os.Readlink(it.path)
	if err != nil {
		return nil, 0, err
	}
	n := copy(buf, target) // no system has longer ones
	return buf[:n], int64(n), nil
}

// readAll reads a file of a size to its end, or until buf is full. A file that
// says that it has no size is one that the system makes up as it is read; it is
// read until nothing comes. Another one may grow or shrink meanwhile: then what
// counts is what was there.
func readAll(buf []byte, size int64, read func(rest []byte) (int, error)) (content []byte, got int64, err error) {
	n := 0
	for n < len(buf) {
		more, err := read(buf[n:])
		n += more
		if errors.Is(err, io.EOF) || err == nil && size > 0 && int64(n) == size {
			return buf[:n], int64(n), nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return nil, int64(n), nil
}
