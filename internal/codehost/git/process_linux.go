package git

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const supported = true

// held is a command that begins when it reads a line: when its limits are set,
// which its children inherit.
func held(argv []string) []string {
	return append([]string{"/bin/sh", "-c", `read -r _ && exec "$@"`, "git"}, argv...)
}

// confine sets the limits of a process that was just started. The limit of time
// is a soft one: over a hard one the kernel kills with a signal that says nothing.
func confine(pid int, c *command, l Limits) error {
	data, cpu := l.Memory, l.CPU
	if c.trees {
		data, cpu = l.TreeMemory, l.TreeCPU
	}

	for _, limit := range []struct {
		resource int
		most     int64
	}{
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_AS, l.Memory}, {unix.RLIMIT_DATA, data}, {unix.RLIMIT_FSIZE, l.FileSize},
		{unix.RLIMIT_CPU, max(1, int64(cpu/time.Second))},
	} {
		var r unix.Rlimit
		err := unix.Prlimit(pid, limit.resource, nil, &r)
		r.Cur = min(uint64(limit.most), r.Max)
		if limit.resource != unix.RLIMIT_CPU {
			r.Max = r.Cur
		}
		if err == nil {
			err = unix.Prlimit(pid, limit.resource, &r, nil)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
			return fmt.Errorf("limit: %w", err)
		}
	}

	return nil
}

// isolate puts cmd in a process group that is killed with it, and has it die with
// this process. git's own children then end when they read from it, write to it,
// or hear too little from the remote.
func isolate(cmd *exec.Cmd) {
	// Pdeathsig fires when the thread that started the child ends; see begin.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// begin starts cmd on a thread that never ends. Others end with a goroutine that has
// locked them, as those of package background do.
func begin(cmd *exec.Cmd) error {
	failed := make(chan error)
	starts() <- func() { failed <- cmd.Start() }

	return <-failed
}

var starts = sync.OnceValue(func() chan<- func() {
	todo := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range todo {
			start()
		}
	}()

	return todo
})

// endGroup kills what is left of a group after its leader was waited for. When
// this process is the container's first, orphans become its children and have
// to be waited for, or they stay as zombies.
func endGroup(leader *os.Process) {
	_ = syscall.Kill(-leader.Pid, syscall.SIGKILL)
	for {
		_, err := syscall.Wait4(-leader.Pid, nil, 0, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return // ECHILD: none of ours is left
		}
	}
}

// killedBy is the signal that ended the process, or 0.
func killedBy(state *os.ProcessState) syscall.Signal {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}

// limitSignal tells whether a signal is how a limit is enforced.
func limitSignal(s syscall.Signal) bool {
	return s == syscall.SIGXCPU || s == syscall.SIGXFSZ
}

// freeSpace is what this user may still write to the disk of dir, in bytes,
// quotas aside.
func freeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(min(s.Bavail*uint64(s.Bsize), math.MaxInt64)), nil
}
