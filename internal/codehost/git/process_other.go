//go:build !linux

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// The scanner runs on Linux only; elsewhere New refuses. These let the client
// commands build.

const supported = false

func shellCommand(git string, args []string, _ Limits, _ bool) []string {
	return append([]string{git}, args...)
}

func isolate(*exec.Cmd) {}

func endGroup(*os.Process) {}

func killedBy(*os.ProcessState) syscall.Signal { return 0 }

func limitSignal(syscall.Signal) bool { return false }

func tryLock(*os.File, bool) (bool, error) { return true, nil }

func closeLock(f *os.File) error { return f.Close() }

func freeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
