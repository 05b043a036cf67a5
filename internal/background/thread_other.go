//go:build !linux

package background

// Only Linux has priorities of threads, and runs scans with git.

func threadID() int { return 0 }

func lowerThread(int) {}

// LowerGroup does nothing here.
func LowerGroup(int) {}
