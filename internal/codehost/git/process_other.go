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

func held(argv []string) []string { return argv }

func confine(int, *command, Limits) error { return nil }

func isolate(*exec.Cmd) {}

func begin(cmd *exec.Cmd) error { return cmd.Start() }

func endGroup(*os.Process) {}

func killedBy(*os.ProcessState) syscall.Signal { return 0 }

func limitSignal(syscall.Signal) bool { return false }

func freeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
