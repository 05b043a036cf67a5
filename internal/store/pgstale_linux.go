package store

import (
	"errors"
	"syscall"
	"time"
)

// stale reports whether something came on a connection that nobody uses: its
// end, or the server's last word before it. A server that was restarted has
// ended all that wait in the pool, and without a look each would cost a caller
// an error.
func (c *pgNetConn) stale() bool {
	conn, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := conn.SyscallConn()
	// The time for the last answer may be over, which would hide what is there.
	if err != nil || c.SetReadDeadline(time.Time{}) != nil {
		return true
	}
	quiet := false
	err = raw.Read(func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err != nil || !quiet
}
