package git

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// limitScript sets the limits and becomes the command. A shell does it because
// limits set from outside come too late and setting our own would bind this
// process; git needs a shell for file:// remotes anyway. ulimit counts memory
// in KiB and files in blocks of 512 bytes.
const limitScript = `ulimit -c 0; ulimit -v "$1" 2>/dev/null; ulimit -f "$2" 2>/dev/null; ulimit -t "$3" 2>/dev/null; shift 3; `

// guardScript starts a process that lives until this process closes, or
// loses, the other end of descriptor 3, and then kills the group. Pdeathsig
// does so for git, but not for git's own children.
const guardScript = `(read -r _ <&3; kill -9 0) </dev/null >/dev/null 2>&1 & `

// shellCommand is the program that runs `git args` under the limits, in a
// process group of its own. With guard it reads the guard pipe as descriptor 3.
func shellCommand(git string, args []string, l Limits, guard bool) []string {
	script := limitScript
	if guard {
		script += guardScript + `exec "$@" 3<&-`
	} else {
		script += `exec "$@"`
	}
	seconds := max(1, int64(l.CPU/time.Second))
	argv := []string{"/bin/sh", "-c", script, "git-limits",
		strconv.FormatInt(l.Memory/1024, 10), strconv.FormatInt(l.FileSize/512, 10), strconv.FormatInt(seconds, 10), git}
	return append(argv, args...)
}

// isolate puts cmd in a process group that dies with this process.
func isolate(cmd *exec.Cmd) {
	// Pdeathsig fires when the thread that started the child ends. Threads of
	// the Go runtime end only with a goroutine that locked one and returned.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
}

func killGroup(leader *os.Process) error {
	if err := syscall.Kill(-leader.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// endGroup kills what is left of a guarded group after its leader was waited
// for. The guard is still in it, so the number can't be another group's. When
// this process is the container's first, orphans become its children and have
// to be waited for, or they stay as zombies.
func endGroup(leader *os.Process) {
	_ = killGroup(leader)
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

const supported = true
