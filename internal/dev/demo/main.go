// Command demo shows what prwarden does, with the real program: it starts a
// server on a fresh database, makes a sample repository with a pull request
// that has mistakes, scans it through the REST API with curl, and shows what
// comes out. `demo -stay` leaves the server running to play with, until
// Ctrl-C.
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
	"time"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

func main() {
	stay := flag.Bool("stay", false, "keep the server running, in .run, until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The server is told to end with the thread that started it.
	runtime.LockOSThread()
	var err error
	if *stay {
		err = play(ctx)
	} else {
		err = demo(ctx)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// program is the path of prwarden, beside this program.
func program() (string, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return "", fmt.Errorf("git is not installed: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), "prwarden")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("prwarden must be beside this program; `make build` makes both: %w", err)
	}
	return path, nil
}

// demo runs through everything once and leaves nothing behind.
func demo(ctx context.Context) (err error) {
	began := time.Now()
	binary, err := program()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "prwarden-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if removeErr := os.RemoveAll(dir); err == nil {
			err = removeErr
		}
	}()

	heading("A repository with a pull request")
	if err := stage.MakeRepository(filepath.Join(dir, "repos")); err != nil {
		return err
	}
	fmt.Printf("%s has pull request %d: a change in Python, JavaScript, Go, shell, a Dockerfile and a workflow.\n", stage.Repo, stage.Number)

	heading("A server on SQLite")
	s, err := stage.Start(binary, dir, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() {
		if stopErr := s.Stop(); err == nil && stopErr != nil {
			err = fmt.Errorf("the server did not end well: %w", stopErr)
		}
		if err == nil {
			fmt.Printf("\nThe server is stopped and its files are gone. That took %s.\n", time.Since(began).Round(100*time.Millisecond))
		}
	}()
	fmt.Printf("REST on %s, gRPC on %s, ready after %s.\n", s.URL, s.GRPC, s.Ready.Round(time.Millisecond))
	token, err := s.CreateKey("demo")
	if err != nil {
		return err
	}
	fmt.Printf("\n$ export PRWARDEN_API_KEY=$(prwarden keys create --org demo --name demo --database %s)\n", s.Database())
	return walk(ctx, s, token)
}

// play leaves a server running until the context ends.
func play(ctx context.Context) (err error) {
	binary, err := program()
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(".run")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := stage.MakeRepository(filepath.Join(dir, "repos")); err != nil {
		return err
	}
	s, err := stage.Start(binary, dir, freeAddr("127.0.0.1:8080"))
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
export PRWARDEN_API_KEY=%[4]s
bin/prwarden review --server %[1]s %[5]s %[6]d

# The same with curl
%[7]s
curl -sS -H "Authorization: Bearer $PRWARDEN_API_KEY" %[1]s/v1/reviews
curl -sS -H "Authorization: Bearer $PRWARDEN_API_KEY" %[1]s/v1/rules

# A key for pull requests of public repositories of github.com
export PRWARDEN_API_KEY=%[8]s

The OpenAPI document is at %[1]s/openapi.json. Ctrl-C stops the server.
`, s.URL, s.GRPC, dir, demoToken, stage.Repo, stage.Number, createLine(s.URL), githubToken)
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
