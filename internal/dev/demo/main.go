// Command demo shows what prwarden does, with the real program: it starts a
// server on a fresh database, makes a sample repository, and scans a pull request
// before and after a second push. `demo -stay` leaves the server running to play
// with, until Ctrl-C.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

const keyVariable = "PRWARDEN_API_KEY"

func main() {
	stay := flag.Bool("stay", false, "keep the server running, in .run, until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	runtime.LockOSThread() // the server is told to end with the thread that started it
	var err error
	if *stay {
		err = play(ctx)
	} else {
		err = show(ctx)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// setUp makes the sample repository in dir and starts the program beside this
// one as a server.
func setUp(dir, address string) (*stage.Server, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("git is not installed: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(filepath.Dir(self), "prwarden")
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("prwarden must be beside this program; `make build` makes both: %w", err)
	}
	if err := stage.MakeRepository(filepath.Join(dir, "repos")); err != nil {
		return nil, err
	}
	return stage.Start(program, dir, address)
}

// play leaves a server running until the context ends.
func play(ctx context.Context) (err error) {
	dir, err := filepath.Abs(".run")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	s, err := setUp(dir, freeAddr("127.0.0.1:8080"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	demoToken, err := s.CreateKey("demo")
	if err != nil {
		return err
	}
	githubToken, err := s.CreateKey("github")
	if err != nil {
		return err
	}

	fmt.Printf(`prwarden serves REST on %[1]s and gRPC on %[2]s.
Its log, database and sample repository are in %[3]s.

# Scan the sample pull request and show what it adds
export %[4]s=%[5]s
bin/prwarden review --server %[1]s %[7]s %[8]d

# The same with curl
curl -sS -H "Authorization: Bearer $%[4]s" -H "Content-Type: application/json" \
  -d '{"repo": "%[7]s", "pr_number": %[8]d}' %[1]s/v1/reviews
curl -sS -H "Authorization: Bearer $%[4]s" %[1]s/v1/reviews
curl -sS -H "Authorization: Bearer $%[4]s" %[1]s/v1/rules

# A key for pull requests of public repositories of github.com
export %[4]s=%[6]s

The API is described at %[1]s/docs. Ctrl-C stops the server.
`, s.URL, s.GRPC, dir, keyVariable, demoToken, githubToken, stage.Repo, stage.Number)

	select {
	case <-ctx.Done():
		fmt.Println("\nStopping.")
		return nil
	case <-s.Exited:
		return fmt.Errorf("the server ended by itself; see %s", filepath.Join(dir, "server.log"))
	}
}

// freeAddr is preferred when nobody listens there, else any free port of the
// same host.
func freeAddr(preferred string) string {
	l, err := net.Listen("tcp", preferred)
	if err != nil {
		return "127.0.0.1:0"
	}
	_ = l.Close()
	return preferred
}
