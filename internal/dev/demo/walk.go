package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

const keyVariable = "PRWARDEN_API_KEY"

// createLine is the curl line that starts a review.
func createLine(url string) string {
	return fmt.Sprintf(`curl -sS -H "Authorization: Bearer $%s" -H "Content-Type: application/json" \
    -d '{"repo": "%s", "pr_number": %d}' %s/v1/reviews`, keyVariable, stage.Repo, stage.Number, url)
}

// walk scans the sample pull request through the REST API, and then once more
// with the program's own client.
func walk(ctx context.Context, s *stage.Server, token string) error {
	c := caller{token: token, curl: hasCurl()}

	heading("Start a scan")
	body := fmt.Sprintf(`{"repo": %q, "pr_number": %d}`, stage.Repo, stage.Number)
	answer, err := c.call(ctx, createLine(s.URL), http.MethodPost, s.URL+"/v1/reviews", body)
	if err != nil {
		return err
	}
	fmt.Println(indent(answer))
	var created struct {
		ReviewID string `json:"review_id"`
	}
	if err := json.Unmarshal(answer, &created); err != nil || created.ReviewID == "" {
		return fmt.Errorf("the answer has no review_id: %s", answer)
	}
	review := s.URL + "/v1/reviews/" + created.ReviewID

	heading("Watch it")
	answer, err = c.get(ctx, "-N ", review+":watch")
	if err != nil {
		return err
	}
	fmt.Print(string(answer))

	heading("Read the result")
	answer, err = c.get(ctx, "", review)
	if err != nil {
		return err
	}
	fmt.Println(indent(answer))
	if err := check(answer); err != nil {
		return err
	}

	heading("The same with prwarden's own client, as a table")
	fmt.Printf("$ prwarden review %s %d --fail-on none --server %s\n", stage.Repo, stage.Number, s.URL)
	cmd := exec.CommandContext(ctx, s.Binary, "review", stage.Repo, fmt.Sprint(stage.Number), "--fail-on", "none", "--server", s.URL)
	cmd.Env = append(os.Environ(), keyVariable+"="+token)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// check makes sure that what was shown is what a demo promises.
func check(answer []byte) error {
	var review struct {
		Status   string            `json:"status"`
		Findings []json.RawMessage `json:"findings"`
	}
	if err := json.Unmarshal(answer, &review); err != nil {
		return err
	}
	if review.Status != "complete" || len(review.Findings) == 0 {
		return fmt.Errorf("the review is %s with %d findings", review.Status, len(review.Findings))
	}
	return nil
}

// caller makes REST calls with curl where there is one, so that the lines that
// are shown are what really ran.
type caller struct {
	token string
	curl  bool
}

func hasCurl() bool {
	_, err := exec.LookPath("curl")
	return err == nil
}

func (c caller) get(ctx context.Context, options, url string) ([]byte, error) {
	line := fmt.Sprintf(`curl -sS %s-H "Authorization: Bearer $%s" %s`, options, keyVariable, url)
	return c.call(ctx, line, http.MethodGet, url, "")
}

func (c caller) call(ctx context.Context, line, method, url, body string) ([]byte, error) {
	fmt.Println("$ " + line)
	if !c.curl {
		return c.direct(ctx, method, url, body)
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Env = append(os.Environ(), keyVariable+"="+c.token, "no_proxy=127.0.0.1")
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

// direct is what the curl line says, without curl.
func (c caller) direct(ctx context.Context, method, url, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

func heading(text string) { fmt.Printf("\n== %s ==\n\n", text) }

func indent(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(raw), "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
