// Command demo shows what prwarden does, with the real program: it starts a server on a fresh database, makes a sample
// repository, and scans a pull request before and after a second push. `demo -stay` leaves the server running to play
// with, until Ctrl-C.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
	"github.com/prwarden/prwarden/internal/dev/program"
)

const keyVariable = "PRWARDEN_API_KEY"

func main() {
	stay := flag.Bool("stay", false, "keep the server running, in .run, until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	run := show
	if *stay {
		run = play
	}
	err := run(ctx)
	stop()

	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// setUp makes the sample repository in dir and installs the program beside this one there.
func setUp(ctx context.Context, dir string) (*program.Installation, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := stage.MakeRepository(ctx, dir); err != nil {
		return nil, err
	}
	return stage.Install(ctx, filepath.Join(filepath.Dir(self), "prwarden"), dir)
}

// play leaves a server running until the context ends.
func play(ctx context.Context) error {
	dir, err := filepath.Abs(".run")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, "repos")); err != nil {
		return err
	}
	i, err := setUp(ctx, dir)
	if err != nil {
		return err
	}
	demo, err1 := i.Key(ctx, "demo")
	github, err2 := i.Key(ctx, "github")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	server, err := i.Serve(ctx)
	if err != nil {
		return err
	}

	fmt.Printf(`prwarden serves REST on http://%[1]s and gRPC on %[2]s.
Its log, database and sample repository are in %[3]s.

# Scan the sample pull request and show what it adds
export %[4]s=%[5]s
bin/prwarden review --server http://%[1]s %[7]s %[8]d

# The same with curl
curl -sS -H "Authorization: Bearer $%[4]s" -H "Content-Type: application/json" \
  -d '{"repo": "%[7]s", "pr_number": %[8]d}' http://%[1]s/v1/reviews
curl -sS -H "Authorization: Bearer $%[4]s" http://%[1]s/v1/reviews
curl -sS -H "Authorization: Bearer $%[4]s" http://%[1]s/v1/rules

# A key for pull requests of public repositories of github.com
export %[4]s=%[6]s

The API is described at http://%[1]s/docs. Ctrl-C stops the server.
`, server.HTTP, server.GRPC, dir, keyVariable, demo, github, stage.Repo, stage.Number)

	<-server.Exited
	if ctx.Err() == nil {
		return fmt.Errorf("the server ended by itself; see %s", filepath.Join(dir, "log"))
	}
	return nil
}

// show runs through everything once and leaves nothing behind.
func show(ctx context.Context) (err error) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "prwarden-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	i, err := setUp(ctx, dir)
	if err != nil {
		return err
	}
	key, err := i.Key(ctx, "demo")
	if err != nil {
		return err
	}
	server, err := i.Serve(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("A prwarden server runs at http://%s on an SQLite database.\n"+
		"The repository %s has pull request %d, which adds refunds in Python and JavaScript.\n",
		server.HTTP, stage.Repo, stage.Small)

	c := program.Client{URL: "http://" + server.HTTP, Token: key}
	if err := scanTwice(ctx, i, c); err != nil {
		return errors.Join(err, server.Stop())
	}
	if err := server.Stop(); err != nil {
		return err
	}
	fmt.Printf("\nThat took %s. The server is stopped, and its files are gone.\n"+
		"`make run` starts one that stays, with commands to try.\n", time.Since(began).Round(100*time.Millisecond))
	return nil
}

// scanTwice scans the small pull request before and after a push.
func scanTwice(ctx context.Context, i *program.Installation, c program.Client) error {
	heading("The pull request is scanned for the first time: all findings are new")
	if _, err := review(ctx, i, c, counts{New: 3}); err != nil {
		return err
	}

	heading("The author pushes again: two findings are fixed, one stays, and one is new")
	if err := stage.Push(ctx, i.Dir); err != nil {
		return err
	}
	id, err := review(ctx, i, c, counts{New: 1, Existing: 1, Fixed: 2})
	if err != nil {
		return err
	}

	heading("The same over REST: the finding that is new")
	path := "/v1/reviews/" + id + "/findings?state=new"
	answer, err := c.Call(ctx, http.MethodGet, path, "")
	if err != nil {
		return err
	}
	fmt.Printf("$ curl -sS -H \"Authorization: Bearer $%s\" \\\n  '%s'\n%s\n", keyVariable, c.URL+path, answer)
	return nil
}

func heading(text string) { fmt.Printf("\n=== %s ===\n\n", text) }

// counts are the findings of a review by their state.
type counts struct{ New, Existing, Fixed int }

// review scans the small pull request with the program's own client, and makes sure that the findings are what the demo
// promises.
func review(ctx context.Context, i *program.Installation, c program.Client, want counts) (id string, err error) {
	report := filepath.Join(i.Dir, "report.json")
	fmt.Printf("$ prwarden review %s %d\n", stage.Repo, stage.Small)
	cmd := exec.CommandContext(ctx, i.Binary, "review", stage.Repo, fmt.Sprint(stage.Small),
		"--server", c.URL, "--output", "table", "--output", "json="+report)
	cmd.Env = append(os.Environ(), keyVariable+"="+c.Token)
	var progress bytes.Buffer
	cmd.Stdout, cmd.Stderr = os.Stdout, &progress
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		return "", fmt.Errorf("prwarden review ended with %d, not with 1 for findings: %w\n%s",
			cmd.ProcessState.ExitCode(), err, progress.String())
	}
	fmt.Println("(exit code 1: in CI this fails the job)")

	text, err := os.ReadFile(report)
	if err != nil {
		return "", err
	}
	var found struct {
		ID       string `json:"review_id"`
		Findings []struct{ State string }
		Fixed    []any
	}
	err = json.Unmarshal(text, &found)
	got := counts{Fixed: len(found.Fixed)}
	for _, f := range found.Findings {
		if f.State == "new" {
			got.New++
		} else {
			got.Existing++
		}
	}
	if err == nil && got != want {
		err = fmt.Errorf("the findings are %+v, not %+v", got, want)
	}
	return found.ID, err
}
