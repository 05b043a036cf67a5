package stage

import "syscall"

// serverAttributes put the server in its own process group, and make it end
// with this program, whatever becomes of that.
func serverAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
