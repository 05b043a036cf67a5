package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

// show runs through everything once and leaves nothing behind.
func show(ctx context.Context) (err error) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "prwarden-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := setUp(dir, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.Stop())
		if err == nil {
			fmt.Printf("\nThat took %s. The server is stopped, and its files are gone.\n",
				time.Since(began).Round(100*time.Millisecond))
			fmt.Println("`make run` starts one that stays, with commands to try.")
		}
	}()
	key, err := s.CreateKey("demo")
	if err != nil {
		return err
	}
	fmt.Printf("A prwarden server runs at %s on an SQLite database (ready after %s).\n",
		s.URL, s.Ready.Round(time.Millisecond))
	fmt.Printf("The repository %s has pull request %d, which adds refunds in Python and JavaScript.\n",
		stage.Repo, stage.Small)

	c := client{server: s, key: key}
	heading("The pull request is scanned for the first time: all findings are new")
	if _, err := c.review(ctx, dir, counts{New: 3}); err != nil {
		return err
	}

	heading("The author pushes again: two findings are fixed, one stays, and one is new")
	if err := stage.Push(filepath.Join(dir, "repos")); err != nil {
		return err
	}
	id, err := c.review(ctx, dir, counts{New: 1, Existing: 1, Fixed: 2})
	if err != nil {
		return err
	}

	heading("The same over REST: the finding that is new")
	return c.showFinding(ctx, id)
}

func heading(text string) { fmt.Printf("\n=== %s ===\n\n", text) }

// client reads what a server says.
type client struct {
	server *stage.Server
	key    string
}

// counts are the findings of a review by their state.
type counts struct{ New, Existing, Fixed int }

// review scans the small pull request with the program's own client, and makes
// sure that the findings are what the demo promises.
func (c client) review(ctx context.Context, dir string, want counts) (id string, err error) {
	report := filepath.Join(dir, "report.json")
	fmt.Printf("$ prwarden review %s %d\n", stage.Repo, stage.Small)
	cmd := exec.CommandContext(ctx, c.server.Binary, "review", stage.Repo, fmt.Sprint(stage.Small),
		"--server", c.server.URL, "--output", "table", "--output", "json="+report)
	cmd.Env = append(os.Environ(), keyVariable+"="+c.key)
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
	id, got, err := count(text)
	if err == nil && got != want {
		err = fmt.Errorf("the findings are %+v, not %+v", got, want)
	}
	return id, err
}

// count reads a review as JSON.
func count(text []byte) (id string, found counts, err error) {
	var review struct {
		ID       string `json:"review_id"`
		Findings []struct {
			State string `json:"state"`
		} `json:"findings"`
		Fixed []json.RawMessage `json:"fixed"`
	}
	if err := json.Unmarshal(text, &review); err != nil {
		return "", counts{}, err
	}
	found.Fixed = len(review.Fixed)
	for _, f := range review.Findings {
		if f.State == "new" {
			found.New++
		} else {
			found.Existing++
		}
	}
	return review.ID, found, nil
}

// showFinding reads the new finding of a review, with curl where there is one,
// so that the line that is shown is what really ran.
func (c client) showFinding(ctx context.Context, id string) error {
	url := c.server.URL + "/v1/reviews/" + id + "/findings?state=new"
	line := fmt.Sprintf("curl -sS -H \"Authorization: Bearer $%s\" \\\n  '%s'", keyVariable, url)
	fmt.Println("$ " + line)
	answer, err := c.get(ctx, line, url)
	if err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, answer); err != nil {
		return fmt.Errorf("the answer is not JSON: %w: %s", err, answer)
	}
	fmt.Println(compact.String())
	return nil
}

func (c client) get(ctx context.Context, line, url string) ([]byte, error) {
	if _, err := exec.LookPath("curl"); err == nil {
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
		cmd.Env = append(os.Environ(), keyVariable+"="+c.key, "no_proxy=127.0.0.1")
		cmd.Stderr = os.Stderr
		return cmd.Output()
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+c.key)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}
