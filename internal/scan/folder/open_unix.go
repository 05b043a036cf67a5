//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package folder

import "syscall"

// Nothing but a directory or a regular file is ever waited for or followed, also
// when it was exchanged after its directory was read.
const (
	directoryFlags = syscall.O_DIRECTORY | syscall.O_NOFOLLOW
	fileFlags      = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY
)
