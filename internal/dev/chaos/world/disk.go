package world

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Disk is a small file system of its own, which can be filled.
type Disk struct {
	Dir string
}

// ballast is the file that fills a disk.
const ballast = "ballast"

// errNoDisk says that this user may not mount file systems.
var errNoDisk = errors.New("mounting a small disk is not permitted")

// newDisk mounts a file system of size bytes in memory at dir, which it
// creates.
func newDisk(dir string, size int64) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	err := unix.Mount("prwarden-chaos", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%d,mode=0700", size))
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return nil, errNoDisk
	}
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", dir, err)
	}
	return &Disk{Dir: dir}, nil
}

// Fill takes all room that is left, and again what became free since.
func (d *Disk) Fill() error {
	file, err := os.OpenFile(filepath.Join(d.Dir, ballast), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	chunk := make([]byte, 1<<20)
	for size := len(chunk); size > 0; {
		_, err = file.Write(chunk[:size])
		switch {
		case errors.Is(err, syscall.ENOSPC):
			size /= 2 // a smaller piece may still fit
		case err != nil:
			return errors.Join(err, file.Close())
		}
	}
	return file.Close()
}

// Free gives back what Fill took.
func (d *Disk) Free() error {
	err := os.Remove(filepath.Join(d.Dir, ballast))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Close unmounts the disk; what was on it is gone.
func (d *Disk) Close() error { return unix.Unmount(d.Dir, unix.MNT_DETACH) }
