// Package cli is what the subcommands do, once their command lines are
// parsed. cmd/prwarden has the command lines.
package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// Streams are what a command reads and writes beside its arguments.
type Streams struct {
	Out io.Writer // results
	Err io.Writer // progress, logs and errors
	Env []string  // as os.Environ gives it
}

// Lookup returns a variable of the environment, "" when it is not set.
func (s Streams) Lookup(name string) string {
	for _, pair := range s.Env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// note writes a line of Safe parts to stderr, in which CI services look for
// commands, too.
func (s Streams) note(format string, args ...any) {
	fmt.Fprintln(s.Err, terminal.GuardLine(fmt.Sprintf(format, args...)))
}

// Exit codes of the program.
const (
	ExitOK     = 0
	ExitFound  = 1 // all went through, and what was looked at did not pass
	ExitUsage  = 2 // the command line or the configuration is wrong
	ExitFailed = 3 // the service or the review failed
)

// UsageError is a mistake in the command line or the configuration.
type UsageError struct{ Err error }

// Error is that of the cause.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error {
	return &UsageError{Err: fmt.Errorf(format, args...)}
}

// ErrSilent is a failure about which everything has been said.
var ErrSilent = errors.New("failed")

// ErrFound says that what was looked at did not pass, about which everything
// has been said: it has findings that reach the threshold, mistakes, or failed
// tests.
var ErrFound = fmt.Errorf("did not pass: %w", ErrSilent)

// ExitCode is the exit code for what a command returned.
func ExitCode(err error) int {
	var usage *UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		return ExitUsage
	case errors.Is(err, ErrFound):
		return ExitFound
	}
	return ExitFailed
}

// Version prints the version.
func Version(st Streams) error {
	b := build.Read()
	commit := b.Commit
	if b.Modified {
		commit += " (with changes)"
	}
	_, err := fmt.Fprintf(st.Out, "prwarden %s\ncommit:  %s\ngo:      %s %s/%s\n",
		b.Version, commit, b.Go, runtime.GOOS, runtime.GOARCH)
	return err
}
