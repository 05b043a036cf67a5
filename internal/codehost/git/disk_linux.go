package git

import (
	"math"
	"syscall"
)

// freeSpace is what this user may still write to the disk of dir, in bytes,
// quotas aside.
func freeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(min(s.Bavail*uint64(s.Bsize), math.MaxInt64)), nil
}
