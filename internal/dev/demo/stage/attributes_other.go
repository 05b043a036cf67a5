//go:build !linux

package stage

import "syscall"

// serverAttributes are none: the server runs on Linux only.
func serverAttributes() *syscall.SysProcAttr { return nil }
