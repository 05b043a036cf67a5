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
	"regexp"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

// What examples say when they are refused.
const (
	mistake = "failed: INVALID_ARGUMENT: pr_number: must be at least 1; it is 0\n" +
		"  pr_number: must be at least 1; it is 0\n"
	late   = "failed: RATE_LIMITED: The key made more requests than it may.\n  try again in 3600 s\n"
	outage = "failed: UNAVAILABLE: The database can't be reached; try again.\n  try again in 0 s\n"
)

// try runs an example on a server of its own, so that all see the same: as it
// is meant, and then refused in every way that makes a difference. It returns
// what the first run printed.
func try(ctx context.Context, program, dir string, rest bool) (output string, err error) {
	if err := stage.MakeRepository(filepath.Join(dir, "repos")); err != nil {
		return "", err
	}
	server, err := stage.Start("bin/prwarden", dir, "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	key, err := server.CreateKey("demo")
	if err != nil {
		return "", err
	}
	target := "grpc://" + server.GRPC
	if rest {
		target = server.URL
	}
	authority := filepath.Join(dir, "authority.pem")
	p, err := newProxy(target, authority)
	if err != nil {
		return "", err
	}
	defer p.Close()
	env := append(os.Environ(), "PRWARDEN_SERVER="+p.URL, "PRWARDEN_API_KEY="+key,
		"PRWARDEN_CA_FILE="+authority, "NODE_EXTRA_CA_CERTS="+authority)

	output, _, err = runExample(ctx, program, env, stage.Number, 1)
	if err != nil {
		return "", err
	}
	if err := p.check(); err != nil {
		return "", err
	}
	if err := compareReview(ctx, server.URL, key, output); err != nil {
		return "", fmt.Errorf("%w\nIt printed:\n%s", err, output)
	}
	for _, refusal := range []struct {
		plan     plan
		number   int
		says     string
		call     string
		attempts int
	}{
		{refuseFirst, 0, mistake, "CreateReview", 3},                        // no more attempts than a right request takes
		{refuseForAnHour, stage.Number, late, "CreateRule", 1},              // waiting makes no sense
		{outageOf("CreateReview"), stage.Number, outage, "CreateReview", 4}, // not for ever
		{outageOf("CreateRule"), stage.Number, outage, "CreateRule", 1},     // the rule may be there
	} {
		p.follow(refusal.plan)
		_, says, err := runExample(ctx, program, env, refusal.number, 3)
		if err != nil {
			return "", err
		}
		if says != refusal.says || p.attemptsOf(refusal.call) != refusal.attempts {
			return "", fmt.Errorf("refused, it says %q after %d attempts of %s, not %q after %d",
				says, p.attemptsOf(refusal.call), refusal.call, refusal.says, refusal.attempts)
		}
	}
	return output, nil
}

// runExample runs an example once, which has to end with an exit code.
func runExample(
	ctx context.Context, program string, env []string, number, code int,
) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var out, trouble bytes.Buffer
	cmd := exec.CommandContext(ctx, program, stage.Repo, fmt.Sprint(number))
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &trouble
	err = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		return "", "", fmt.Errorf("pull request %d: it ended with %d, not %d: %w\n%s%s",
			number, got, code, err, out.String(), trouble.String())
	}
	return out.String(), trouble.String(), nil
}

var reviewID = regexp.MustCompile(`rev_[0-9a-z]+`)

// compareReview compares what an example printed with the review as the REST
// API has it.
func compareReview(ctx context.Context, url, key, output string) error {
	id := reviewID.FindString(output)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/reviews/"+id, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("reading review %q: HTTP %d: %s", id, response.StatusCode, body), err)
	}
	want, err := expected(body)
	if err != nil {
		return err
	}
	if got := normal(output); got != want {
		return fmt.Errorf("it did not print what the review says:\n%s", want)
	}
	return nil
}

// expected is what an example prints of a review, normal.
func expected(body []byte) (string, error) {
	type finding struct {
		File     string `json:"file"`
		Line     int    `json:"line"`
		Column   int    `json:"column"`
		Severity string `json:"severity"`
		RuleID   string `json:"rule_id"`
		State    string `json:"state"`
		Message  string `json:"message"`
	}
	var review struct {
		Findings   []finding `json:"findings"`
		Suppressed []finding `json:"suppressed"`
		Fixed      []finding `json:"fixed"`
		Verdict    struct {
			Outcome   string `json:"outcome"`
			Threshold string `json:"threshold"`
		} `json:"verdict"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		return "", err
	}
	if len(review.Findings) < 5 {
		return "", fmt.Errorf("the review has %d findings; the sample has more", len(review.Findings))
	}
	var b strings.Builder
	b.WriteString("rule no-unsafe-loader created\nreview rev_… started\nwatch: complete, 6 files done\n")
	for _, f := range review.Findings {
		fmt.Fprintf(&b, "%s:%d:%d: %s %s (%s)\n    %s\n", f.File, f.Line, f.Column, f.Severity, f.RuleID, f.State, f.Message)
	}
	fmt.Fprintf(&b, "%d findings, %d suppressed, %d fixed: %s at %s\nrule no-unsafe-loader deleted\n",
		len(review.Findings), len(review.Suppressed), len(review.Fixed), review.Verdict.Outcome, review.Verdict.Threshold)
	return b.String(), nil
}

// normal is an output without what differs from run to run: the identifier,
// and which states on the way a watch happened to see.
func normal(output string) string {
	var b strings.Builder
	for line := range strings.Lines(reviewID.ReplaceAllString(output, "rev_…")) {
		if strings.HasPrefix(line, "watch: ") && !strings.HasPrefix(line, "watch: complete") {
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}
