package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// disk is a small file system of its own, which can be filled.
type disk struct{ dir string }

// diskSize is over the smallest cache that a scanner may have.
const diskSize = 96 << 20

// newDisk mounts a file system in memory; nil for a user who may not mount anything.
func newDisk(dir string) (*disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	err := unix.Mount("chaos", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%d,mode=0700", diskSize))
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return nil, nil
	}
	return &disk{dir}, err
}

func (d *disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill takes all room that is left.
func (d *disk) fill() error {
	file, err := os.Create(d.ballast())
	if err != nil {
		return err
	}
	for chunk := make([]byte, 1<<20); len(chunk) > 0 && err == nil; {
		if _, err = file.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			chunk, err = chunk[:len(chunk)/2], nil // a smaller piece may still fit
		}
	}
	return errors.Join(err, file.Close())
}

// free gives back what fill took.
func (d *disk) free() error { return os.RemoveAll(d.ballast()) }

// close unmounts the disk; what was on it is gone.
func (d *disk) close() error { return unix.Unmount(d.dir, unix.MNT_DETACH) }
