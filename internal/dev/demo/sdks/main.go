// Command sdks tests the SDKs as their users have them: it installs each from gen/ into an empty place, builds its
// examples, and runs them against a real server with the sample pull request, over TLS and through a proxy that refuses
// the first attempts of every call. What each example prints has to be what docs/sdks.md shows.
//
// Usage: sdks [-only NAME]. Run from the root of the repository, with bin/prwarden built.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

func main() {
	only := flag.String("only", "", "test only this SDK: go, python, typescript or java")
	flag.Parse()
	languages := []string{"go", "python", "typescript", "java"}
	if *only != "" {
		languages = []string{*only}
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, languages)
	stop()

	if err != nil {
		fmt.Fprintln(os.Stderr, "sdks:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, languages []string) (err error) {
	document, err := os.ReadFile("docs/sdks.md")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "prwarden-sdks-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	group, ctx := errgroup.WithContext(ctx)
	for _, language := range languages { // they wait for downloads more than for a processor
		group.Go(func() error { return test(ctx, language, filepath.Join(dir, language), string(document)) })
	}
	return group.Wait()
}

// test installs the SDK of a language into dir and runs its examples.
func test(ctx context.Context, language, dir, document string) error {
	began := time.Now()
	install := exec.CommandContext(ctx, "internal/dev/demo/sdks/install.sh", language, dir)
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("installing %s: %w\n%s", language, err, out)
	}
	installed := time.Now()
	examples, err := filepath.Glob(filepath.Join(dir, "examples", "*"))
	if err != nil || len(examples) == 0 {
		return errors.Join(err, fmt.Errorf("there is no SDK %q", language))
	}

	for _, example := range examples {
		name := filepath.Base(example)
		output, err := try(ctx, example, filepath.Join(dir, "server-"+name), strings.HasSuffix(name, "-rest"))
		if err == nil && !shows(document, output) {
			err = fmt.Errorf("docs/sdks.md does not show what it prints:\n%s", output)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}

	fmt.Printf("%-10s installed in %.1f s, %d examples ran well in %.1f s\n", language,
		installed.Sub(began).Seconds(), len(examples), time.Since(installed).Seconds())
	return nil
}

// What examples say when they are refused.
const (
	mistake = "failed: INVALID_ARGUMENT: pr_number: must be at least 1; it is 0\n" +
		"  pr_number: must be at least 1; it is 0\n"
	late   = "failed: RATE_LIMITED: The key made more requests than it may.\n  try again in 3600 s\n"
	outage = "failed: UNAVAILABLE: The database can't be reached; try again.\n  try again in 0 s\n"
)

// try runs an example on a server of its own, so that all see the same: as it is meant, and then refused in every way
// that makes a difference. It returns what the first run printed.
func try(ctx context.Context, example, dir string, rest bool) (output string, err error) {
	if err := stage.MakeRepository(ctx, dir); err != nil {
		return "", err
	}
	i, err := stage.Install(ctx, "bin/prwarden", dir)
	if err != nil {
		return "", err
	}
	key, err := i.Key(ctx, "demo")
	if err != nil {
		return "", err
	}
	server, err := i.Serve(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()

	target := server.GRPC
	if rest {
		target = server.HTTP
	}
	authority := filepath.Join(dir, "authority.pem")
	p, err := newProxy(target, rest, authority)
	if err != nil {
		return "", err
	}
	defer p.Close()
	env := append(os.Environ(), "PRWARDEN_SERVER="+p.URL, "PRWARDEN_API_KEY="+key,
		"PRWARDEN_CA_FILE="+authority, "NODE_EXTRA_CA_CERTS="+authority)

	output, _, err = runExample(ctx, example, env, stage.Number, 1)
	if err != nil {
		return "", err
	}
	if err := p.check(); err != nil {
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
		_, says, err := runExample(ctx, example, env, refusal.number, 3)
		if err != nil {
			return "", err
		}
		if says != refusal.says || p.attempts[refusal.call] != refusal.attempts {
			return "", fmt.Errorf("refused, it says %q after %d attempts of %s, not %q after %d",
				says, p.attempts[refusal.call], refusal.call, refusal.says, refusal.attempts)
		}
	}

	return output, nil
}

// runExample runs an example once, which has to end with an exit code.
func runExample(ctx context.Context, path string, env []string, number, code int) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var out, trouble bytes.Buffer
	cmd := exec.CommandContext(ctx, path, stage.Repo, fmt.Sprint(number))
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &trouble
	err = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		return "", "", fmt.Errorf("pull request %d: it ended with %d, not %d: %w\n%s%s",
			number, got, code, err, out.String(), trouble.String())
	}
	return out.String(), trouble.String(), nil
}

// differs is what differs from run to run: the identifier, and which states on the way a watch happened to see.
var differs = regexp.MustCompile(`rev_[0-9a-z]+|rev_…|watch: (queued|in_progress).*\n`)

// shows tells whether a document shows an output.
func shows(document, output string) bool {
	return strings.Contains(differs.ReplaceAllString(document, ""),
		"```text\n"+differs.ReplaceAllString(output, "")+"```\n")
}
