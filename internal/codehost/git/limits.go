package git

import "time"

// Limits bound what one scan, and the cache, may take.
type Limits struct {
	Memory       int64         // address space of a git process, in bytes
	FileSize     int64         // largest file that git may write, in bytes; bounds a fetched pack
	CPU          time.Duration // processor time of a git process, in whole seconds
	LowSpeed     time.Duration // a transfer under 1,000 bytes/s for so long ends; whole seconds
	ChangedFiles int           // changed files in a pull request
	Trees        int           // directories that differ between two commits, on both sides together
	TreeBytes    int64         // all directory objects read to compare two commits, in bytes
	Depth        int           // nesting of directories
	TreeSize     int64         // of one directory object, in bytes
	PathSize     int           // of one path, in bytes
	PathBytes    int           // all changed paths together, in bytes
	OldFileSize  int64         // a file that was larger counts as new: its lines are not compared
	Packs        int           // packs in a cache entry before they are combined
	CacheSize    int64         // all cache entries together, in bytes; 0 is no limit
	Room         int64         // less free space than this on the cache's disk, in bytes, is a full disk when git fails
}

// DefaultLimits suit the largest of the public repositories that were tried
// (kafka, kubernetes/ingress-nginx, bitnami/charts).
func DefaultLimits() Limits {
	return Limits{
		Memory:       2 << 30,
		FileSize:     8 << 30,
		CPU:          5 * time.Minute,
		LowSpeed:     20 * time.Second,
		ChangedFiles: 100_000,
		Trees:        200_000,
		TreeBytes:    256 << 20,
		Depth:        256,
		TreeSize:     32 << 20,
		PathSize:     4096,
		PathBytes:    64 << 20,
		OldFileSize:  128 << 20,
		Packs:        40,
		CacheSize:    20 << 30,
		Room:         16 << 20,
	}
}
