package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// ownMounts is set for the program that runs with mounts of its own.
const ownMounts = "PRWARDEN_CHAOS_OWN_MOUNTS"

// inOwnMounts runs this program once more where its mounts are its own, so that
// they are gone with it however it ends, and returns its exit code. done is
// false in that program, and for a user who may not mount anything anyway.
func inOwnMounts(ctx context.Context, stderr io.Writer) (code int, done bool) {
	if os.Getenv(ownMounts) != "" || os.Geteuid() != 0 {
		return 0, false
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), ownMounts+"=yes")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), true
	case errors.Is(err, syscall.EPERM): // root in name only
		return 0, false
	case err != nil:
		fmt.Fprintln(stderr, "chaos:", err)
		return exitNotDone, true
	}
	return exitGood, true
}
