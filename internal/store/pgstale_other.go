//go:build !linux

package store

// stale is known on Linux only, which is what servers run on.
func (*pgNetConn) stale() bool { return false }
