// Command scancheck compares what `prwarden scan --base` finds in a repository
// with what a server finds in the same commits.
//
//	scancheck [-most 50] [-rules FILE] REPOSITORY...
//
// A REPOSITORY is a local one, bare or not. Of each it takes the last merges:
// what the second parent brings to the first is what a pull request would have
// been. It starts a server with the program beside it, has that review the same
// commits, and compares the answers byte by byte. -rules names a rules file whose
// rules both apply beside the default ruleset: the default rules are quiet on
// good code.
//
// It prints one line for each repository, and every difference; it exits with
// 1 when there is any.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
	"github.com/prwarden/prwarden/internal/dev/difftest"
	"github.com/prwarden/prwarden/internal/rule"
)

func main() {
	most := flag.Int("most", 50, "how many of the last merges of a repository")
	rules := flag.String("rules", "", "a rules file with rules to apply beside the default ruleset")
	program := flag.String("prwarden", "", "the program; the one beside this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	runtime.LockOSThread() // the server is told to end with the thread that started it
	ok, err := check(ctx, options{most: *most, rules: *rules, program: *program, repositories: flag.Args()})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scancheck:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

type options struct {
	most         int
	rules        string
	program      string
	repositories []string
}

// totals are what is counted over merges.
type totals struct {
	merges, findings, suppressed, skipped, stopped, alike, differ int
	local                                                         time.Duration
}

func (t *totals) add(o totals) {
	t.merges += o.merges
	t.findings += o.findings
	t.suppressed += o.suppressed
	t.skipped += o.skipped
	t.stopped += o.stopped
	t.alike += o.alike
	t.differ += o.differ
	t.local += o.local
}

func (t totals) String() string {
	return fmt.Sprintf("merges %d, findings %d, suppressed %d, skipped %d, rules out of time %d, could not be scanned by either for the same reason %d, differ %d; local scans took %s",
		t.merges, t.findings, t.suppressed, t.skipped, t.stopped, t.alike, t.differ, t.local.Round(time.Millisecond))
}

func check(ctx context.Context, o options) (ok bool, err error) {
	if o.program == "" {
		self, err := os.Executable()
		if err != nil {
			return false, err
		}
		o.program = filepath.Join(filepath.Dir(self), "prwarden")
	}
	dir, err := os.MkdirTemp("", "scancheck-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := stage.Start(o.program, dir, "127.0.0.1:0")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	c := &checker{options: o, dir: dir, server: server}
	if err := c.createRules(ctx); err != nil {
		return false, err
	}
	var all totals
	for i, path := range o.repositories {
		t, err := c.repository(ctx, path, fmt.Sprintf("acme/r%d", i))
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		fmt.Printf("%s: %s\n", path, t)
		all.add(t)
	}
	fmt.Printf("all: %s\n", all)
	return all.differ == 0, nil
}

// checker compares the answers of one server.
type checker struct {
	options
	dir    string
	server *stage.Server
	key    string
	used   int // requests with the key
}

// requestsOfAKey is how many requests are made with a key: a minute of its rate.
const requestsOfAKey = 50

// spend makes sure that the key has n requests left.
func (c *checker) spend(n int) (err error) {
	if c.used += n; c.key == "" || c.used > requestsOfAKey {
		c.used = n
		c.key, err = c.server.CreateKey("demo")
	}
	return err
}

// createRules makes the rules of the rules file those of the organization.
func (c *checker) createRules(ctx context.Context) error {
	if c.rules == "" {
		return nil
	}
	data, err := os.ReadFile(c.rules)
	if err != nil {
		return err
	}
	file, err := rule.ParseLocalFile(ctx, data)
	if err != nil {
		return fmt.Errorf("%s: %w", c.rules, err)
	}
	if len(file.Disable)+len(file.Exclude)+len(file.Overrides) > 0 {
		return fmt.Errorf("%s: has more than rules, which a server can't be given", c.rules)
	}
	for _, r := range file.Rules {
		if err := c.spend(1); err != nil {
			return err
		}
		body, err := json.Marshal(map[string]any{
			"id": r.ID, "type": "regex", "pattern": r.Pattern, "message": r.Message, "severity": r.Severity.String(), "multiline": r.Multiline,
			"paths": map[string]any{"include": append([]string{}, r.Paths.Include...), "exclude": append([]string{}, r.Paths.Exclude...)},
		})
		if err != nil {
			return err
		}
		if err := c.post(ctx, body); err != nil {
			return fmt.Errorf("rule %s: %w", r.ID, err)
		}
	}
	return nil
}

func (c *checker) post(ctx context.Context, body []byte) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server.URL+"/v1/rules", bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+c.key)
	q.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return err
}

// repository compares the last merges of one repository, which the server knows
// as name.
func (c *checker) repository(ctx context.Context, path, name string) (t totals, err error) {
	git, err := gitDir(ctx, path)
	if err != nil {
		return t, err
	}
	link := filepath.Join(c.dir, "repos", filepath.FromSlash(name)+".git")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return t, err
	}
	if err := os.Symlink(git, link); err != nil {
		return t, err
	}
	merges, err := lastMerges(ctx, git, c.most)
	if err != nil {
		return t, err
	}
	for _, m := range merges {
		one, problems, err := c.merge(ctx, git, name, m)
		if err != nil {
			return t, fmt.Errorf("merge %s: %w", m.merge, err)
		}
		for _, problem := range problems {
			fmt.Printf("%s: merge %s: %s\n", path, m.merge, problem)
		}
		t.add(one)
	}
	return t, nil
}

// merge compares the answers about one merge.
func (c *checker) merge(ctx context.Context, git, name string, m merge) (t totals, problems []string, err error) {
	args := []string{"scan", "--base", m.base, "--head", m.head, "--output", "json", "--fail-on", "none"}
	if c.rules != "" {
		rules, err := filepath.Abs(c.rules)
		if err != nil {
			return t, nil, err
		}
		args = append(args, "--rules", rules)
	}
	began := time.Now()
	local, localErr := c.run(ctx, git, args...)
	t = totals{merges: 1, local: time.Since(began)}
	if err := c.spend(5); err != nil {
		return t, nil, err
	}
	remote, remoteErr := c.run(ctx, c.dir, "review", name, "1", "--head-sha", m.head, "--base-sha", m.base,
		"--output", "json", "--fail-on", "none", "--server", c.server.URL)
	switch {
	case localErr != nil && remoteErr != nil && strings.Contains(localErr.Error(), "no commit in common") && strings.Contains(remoteErr.Error(), "no_merge_base"):
		t.alike = 1
		return t, nil, nil
	case localErr != nil || remoteErr != nil:
		t.differ = 1
		return t, []string{fmt.Sprintf("locally: %v; by the server: %v", localErr, remoteErr)}, nil
	}
	t.findings, t.suppressed, t.skipped = len(local.Findings), len(local.Suppressed), len(local.Skipped)
	problems, stopped, err := difftest.CompareAnswers(local, remote)
	t.stopped = len(stopped)
	if len(problems) > 0 {
		t.differ = 1
	}
	return t, problems, err
}

// run runs the program and reads its answer.
func (c *checker) run(ctx context.Context, dir string, args ...string) (a difftest.Answer, err error) {
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PRWARDEN_API_KEY="+c.key)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		return a, fmt.Errorf("prwarden %s: %w: %s", args[0], err, strings.TrimSpace(errOut.String()))
	}
	return a, json.Unmarshal(out, &a)
}

// merge is a merge and its two parents.
type merge struct{ merge, base, head string }

func lastMerges(ctx context.Context, git string, most int) (list []merge, err error) {
	out, err := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "--git-dir", git, "rev-list", "--min-parents=2", "--max-parents=2",
		"--parents", fmt.Sprintf("--max-count=%d", most), "HEAD").Output()
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 {
			list = append(list, merge{f[0], f[1], f[2]})
		}
	}
	return list, err
}

// gitDir is where a repository has its objects.
func gitDir(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "-C", path, "rev-parse", "--path-format=absolute", "--git-common-dir").Output()
	return strings.TrimSpace(string(out)), err
}
